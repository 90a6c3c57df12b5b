import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckpointFile, CheckpointPreviewResult } from '../../src/generated/protocol';
import { isSameView, marksAfter, placeholder, titleOf, whyInWords } from '../../src/session/agreement';

test('a file that was changed since is marked by itself, and no two at one click', () => {
  const choices = ['a', 'b', 'c'];
  assert.deepEqual(marksAfter(choices, [], ['sure', 'b']), ['b']);
  assert.deepEqual(marksAfter(choices, ['b'], ['sure', 'b', 'c']), ['b', 'c']);
  assert.deepEqual(marksAfter(choices, ['b'], ['sure', 'a', 'b', 'c']), ['b'], 'the box that marks all');
  assert.deepEqual(marksAfter(choices, ['b', 'c'], ['sure', 'c']), ['c']);
  assert.deepEqual(marksAfter(choices, ['b', 'c'], []), [], 'the box that marks none');
});

test('an undo is as it was shown only while its turns, its hunks and its files stand as they did', () => {
  const file: CheckpointFile = { uri: 'file:///a', path: 'a', change: 'modify', added: 1, removed: 1, state: 'applied', now: 'h' };
  const shown: CheckpointPreviewResult = { turnIds: ['t'], files: [file], pendingHunks: 0 };
  const with_ = (change: Partial<CheckpointFile>): CheckpointPreviewResult => ({ ...shown, files: [{ ...file, ...change }] });
  assert.ok(isSameView(shown, structuredClone(shown)));
  assert.ok(isSameView(shown, with_({ merges: false })), 'which is what its absence says');
  for (const other of [with_({ now: 'i' }), with_({ state: 'changed_since' }), with_({ uri: 'file:///b' }), with_({ merges: true }),
    { ...shown, files: [] }, { ...shown, turnIds: ['u'] }, { ...shown, turnIds: ['t', 'u'] }, { ...shown, pendingHunks: 1 }]) {
    assert.ok(!isSameView(shown, other), JSON.stringify(other));
  }
});

test('an undo that only rejects what is undecided says so', () => {
  const preview: CheckpointPreviewResult = { turnIds: ['t'], files: [], pendingHunks: 2 };
  assert.equal(titleOf('undo', preview, 0, false), 'Azimuth: undo a turn (2 undecided hunks will be rejected)');
  assert.equal(placeholder('undo', 0, 0, preview), 'No file is changed by it. Enter: reject 2 undecided hunks.');
});

test('a file that was changed since says what marking it would do', () => {
  const file: CheckpointFile = { uri: 'file:///a', path: 'a', change: 'modify', added: 1, removed: 1, state: 'changed_since', reason: 'it was changed since', now: 'h' };
  assert.equal(whyInWords(file), 'it was changed since; marking it overwrites what was changed');
  const merging = 'it was changed since; if you confirm it, what was changed stays';
  assert.equal(whyInWords({ ...file, reason: merging, merges: true }), merging);
  assert.equal(whyInWords({ uri: 'file:///a', path: 'a', change: 'modify', added: 1, removed: 1, state: 'applied' }), '');
});
