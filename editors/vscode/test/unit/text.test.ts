// The way that a text of others is shown.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { dollars, escaped, iconless, unlinked, visible } from '../../src/text';

test('what cannot be seen, or turns text round, is shown as what it is', () => {
  assert.equal(visible('user\u202egnp.exe'), 'user\\u202egnp.exe');
  assert.equal(visible('\u001b]0;title\u0007\u009b31m'), '␛]0;title␇\\u009b31m');
  assert.equal(visible('a\u200bb\u{e0041}'), 'a\\u200bb\\u{e0041}');
});

test('letters of every script, joined emoji, tabs and new lines stay', () => {
  const text = 'שלום, 日本語, é,\t👩\u200d🚀\n';
  assert.equal(visible(text), text);
});

test('a message holds no link that runs a command', () => {
  assert.equal(unlinked('[free](command:workbench.action.quit)'), '[free] (command:workbench.action.quit)');
});

test('in Markdown the text of others has no marks and no links', () => {
  assert.equal(escaped('a*b*  [c](d)'), 'a\\*b\\* \\[c\\]\\(d\\)');
  assert.equal(escaped('https://a.example/b'), 'https:/&#8203;/a.example/b');
  assert.equal(escaped('WWW.a.example ///a'), 'WWW&#8203;.a.example /&#8203;/&#8203;/a');
  assert.equal(escaped('openrouter/z-ai/glm-5.2'), 'openrouter/z-ai/glm-5.2');
});

test('a label shows what is run, and no icon instead of it', () => {
  assert.equal(iconless('rm $(cat files) \u202e$$(x)'), 'rm $ (cat files) \\u202e$$ (x)');
});

test('amounts of money are written as the server writes them', () => {
  const table = JSON.parse(readFileSync('../../tests/amounts.json', 'utf8')) as [number, string][];
  assert.ok(table.length > 0);
  assert.deepEqual(table.map(([amount]) => [amount, dollars(amount)]), table);
});
