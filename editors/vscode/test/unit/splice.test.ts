import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splice } from '../../src/server/splice';

test('edits are placed in the text as it was, in whatever order they come', () => {
  assert.equal(splice('abcdef', [{ start: 4, end: 6, text: 'X' }, { start: 0, end: 1, text: '' }, { start: 2, end: 2, text: '--' }]), 'b--cdX');
  assert.equal(splice('ab', []), 'ab');
});

test('insertions at one place keep their order, and stand before what is replaced there', () => {
  assert.equal(splice('ab', [{ start: 1, end: 2, text: 'B' }, { start: 1, end: 1, text: '1' }, { start: 1, end: 1, text: '2' }]), 'a12B');
});

test('edits that overlap are none', () => {
  assert.equal(splice('abcdef', [{ start: 0, end: 3, text: 'x' }, { start: 2, end: 4, text: 'y' }]), undefined);
});
