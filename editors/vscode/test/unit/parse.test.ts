// Markdown of a model that means no good.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { marked, type Token, type Tokens } from 'marked';
import { Parser } from '../../src/webview/parse';

function depth(tokens: readonly Token[]): number {
  return tokens.reduce((deepest, token) => {
    const { tokens: inner, items } = token as Tokens.Generic & { items?: Token[] };
    return Math.max(deepest, 1 + depth([...(inner ?? []), ...(items ?? [])]));
  }, 0);
}

for (const [name, text] of Object.entries({
  'quotes in quotes': '>'.repeat(5_000),
  'lists in lists': '1. '.repeat(5_000),
  'lists in quotes': '> - '.repeat(5_000),
  'emphasis without an end': '_a'.repeat(100_000),
  'strong text without an end': '**a'.repeat(60_000),
  'brackets': '['.repeat(200_000),
  'a wide table': `${'|a'.repeat(20_000)}\n${'|-'.repeat(20_000)}\n${'|b'.repeat(20_000)}`,
})) {
  test(`${name} are parsed, and nothing goes very deep`, () => {
    const tokens = new Parser().parse(text);
    assert.ok(tokens.map(({ raw }) => raw).join('').trimEnd() === text.trimEnd(), 'nothing is lost');
    assert.ok(depth(tokens) < 150, `it is ${depth(tokens)} deep`);
  });
}

test('a very long paragraph is plain text', () => {
  const [paragraph] = new Parser().parse('_a'.repeat(100_000)) as [Tokens.Paragraph];
  assert.deepEqual(paragraph.tokens.map(({ type }) => type), ['text']);
});

test('a text that grows comes to what it comes to as a whole', () => {
  const text = '# One **two**\n\nA [link](https://a.b), `code` and\na second _line_.\n\n- [x] done\n- > quoted\n\n| a | b |\n| - | - |\n| *c* | d |\n\n```ts\nlet a;\n```\n';
  const parser = new Parser();
  for (let end = 1; end <= text.length; end += 1) {
    const part = text.slice(0, end);
    assert.deepEqual([...parser.parse(part)], [...marked.lexer(part)], JSON.stringify(part));
  }
});
