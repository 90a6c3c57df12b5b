// The part of a program's output that reaches the emulator.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OutputFilter } from '../../src/terminal/filter';

/** Checks what is shown of an output, whole, cut at every place, and letter by letter. */
function always(output: string, wanted: string): void {
  assert.equal(new OutputFilter().feed(output), wanted, JSON.stringify(output));
  for (let cut = 1; cut < output.length; cut += 1) {
    const filter = new OutputFilter();
    assert.equal(filter.feed(output.slice(0, cut)) + filter.feed(output.slice(cut)), wanted, `${JSON.stringify(output)} cut at ${cut}`);
  }
  const filter = new OutputFilter();
  assert.equal(Array.from(output, (letter) => filter.feed(letter)).join(''), wanted, `${JSON.stringify(output)} letter by letter`);
}

test('text and colours pass', () => {
  const text = 'a\x1b[1;31mred\x1b[0m\r\n\x1b[2J\x1b(B\x1b=\0é日本🦀\x1b[?25l\x1b[?1049h\x1b[4 q';
  always(text, text);
});

test('strings are left out', () => {
  always('a\x1b]52;c;aGVsbG8=\x07b', 'ab');
  always('a\x1b]0;title\x1b\\b', 'ab');
  always('a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b', 'alinkb');
  always('a\x1bP+q544e\x1b\\b\x1b_Gx\x1b\\c\x1b^pm\x1b\\d\x1bXsos\x1b\\e', 'abcde');
  always('a\x1b]52;broken\x18b\x1b]52;broken\x1ac', 'abc');
  always('a\x1b]52;c;x\x1b[31mb', 'a\x1b[31mb');
});

test('strings cannot be smuggled', () => {
  always('a\x1b\x1b]52;c;x\x07b', 'ab');
  always('a\x1b\0]52;c;x\x07b', 'ab');
  always('a\x1b[3\x1b]52;c;x\x07b', 'ab');
  always('a\x1b]0;x\x1b]52;c;y\x07b', 'ab');
});

test('questions are left out, in every form', () => {
  for (const question of ['6n', '?6n', '5n', 'c', '>c', '=c', '0c', '?25$p', '>q', '>0q', '18t', '?u', 'x', '6\0n', '?4m']) {
    always(`a\x1b[${question}b`, 'ab');
    always(`a\u009b${question}b`, 'ab');
  }
  for (const asked of ['10;?', '11;?', '4;1;?', '52;c;?']) {
    always(`a\x1b]${asked}\x07b`, 'ab');
    always(`a\u009d${asked}\u009cb`, 'ab');
  }
  always('a\x1bP$qm\x1b\\b\u0090$q q\u009cc', 'abc');
  always('a\x1bZb\u009ac', 'abc');
});

test('a sequence without an end is not kept for ever', () => {
  const filter = new OutputFilter();
  assert.equal(filter.feed(`\x1b[${'1;'.repeat(100_000)}`), '');
  assert.equal(filter.feed('mab'), 'mab');
});
