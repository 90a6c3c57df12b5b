import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Tail } from '../../src/terminal/tail';

function tailOf(...pieces: string[]): string {
  const tail = new Tail();
  pieces.forEach((piece) => tail.feed(piece));
  return tail.text;
}

test('the last lines are kept', () => {
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`);
  const kept = tailOf(lines.map((line) => `${line}\r\n`).join('')).split('\n');
  assert.deepEqual([kept.length, kept[0], kept.at(-1)], [20, 'line 80', 'line 99']);
});

test('a progress bar is one line, as it is now', () => {
  assert.equal(tailOf('10%\r', '50%\r', '100%'), '100%');
  assert.equal(tailOf('downloading\r\x1b[Kdone'), 'done');
  assert.equal(tailOf('long line\rshort'), 'shortline', 'what is not written over stays, as in a terminal');
});

test('colours are left out, also where they are cut in two', () => {
  const text = 'a\x1b[1;31mred\x1b[0m b';
  for (let cut = 1; cut < text.length; cut += 1) assert.equal(tailOf(text.slice(0, cut), text.slice(cut)), 'ared b', `cut at ${cut}`);
});

test('what is taken back is gone', () => {
  assert.equal(tailOf('abc\b\b\x1b[KX'), 'aX');
  assert.equal(tailOf('before\n\x1b[2J\x1b[Hafter'), 'after');
});

test('a prompt that is drawn anew stands once', () => {
  assert.equal(tailOf('Who? \x1b[1G\x1b[0JWho? \x1b[6GAda'), 'Who? Ada');
  assert.equal(tailOf('abc\x1b[2D\x1b[CX'), 'abX');
  assert.equal(tailOf('ab\x1b[100000Gc'), 'ab', 'what is written far away is left out');
});

test('a line without an end does not grow for ever', () => {
  const tail = new Tail();
  for (let count = 0; count < 100; count += 1) tail.feed('x'.repeat(1_000));
  assert.equal(tail.text.length, 400);
});
