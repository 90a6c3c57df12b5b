// The progress of an instruction, and its selections as the text changes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event, Hunk, Proposal, Range } from '../../src/generated/protocol';
import { beginning, doing, follow, isOpen, outcome, remembered, selectedInWords, shifted, type Progress } from '../../src/instruct/state';

const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
const started = { type: 'turnStarted', turnId: 't1', prompt: [], model: 'test/model-1', mode: 'agent' } as unknown as Event;
const ended = (more: object = {}): Event => ({ type: 'turnEnded', turnId: 't1', stopReason: 'end_turn', usage, ...more });
const delta = (text: string, toolCallId = 'c1'): Event => ({ type: 'editDelta', messageId: 'm1', toolCallId, path: 'a.rs', text });
const proposal = (state: Hunk['state']): Event => ({
  type: 'proposalChanged',
  proposal: { proposalId: 'p1', revision: 1, uri: 'file:///a.rs', path: 'a.rs', change: 'modify', hunks: [{ hunkId: 'h1', toolCallIds: [], startLine: 0, oldText: 'a\n', newText: 'b\n', state }] } as unknown as Proposal,
});

function after(...events: Event[]): Progress {
  return events.reduce((now, event, index) => follow(now, { seq: index + 1, at: 0, event }), beginning());
}

function range(from: [number, number], to: [number, number]): Range {
  return { start: { line: from[0], character: from[1] }, end: { line: to[0], character: to[1] } };
}

test('a change that is being made says so, with the lines so far', () => {
  assert.equal(doing(after()), undefined);
  assert.equal(doing(after(started)), 'Azimuth: changing…');
  assert.equal(doing(after(started, delta('@@\n a\n-b\n+c'))), 'Azimuth: changing… 1 line');
  assert.equal(doing(after(started, delta('-b\n+c'), delta(' + d\n'), delta('+e\n+f'), delta('+g\n', 'c2'))), 'Azimuth: changing… 4 lines', 'a piece may end within a line');
  assert.equal(doing(after(started, delta('+c\n'), { type: 'messageDiscarded', messageId: 'm1' })), 'Azimuth: changing…', 'what was discarded does not count');
  assert.equal(doing(after(started, delta('+c\n'), ended())), undefined);
});

test('a change that waits for an answer says so', () => {
  const request = { permissionId: 'q1', title: 'Read?', detail: '', reason: '', options: [] };
  assert.match(doing(after(started, { type: 'permissionAsked', request } as unknown as Event)) ?? '', /asks you/);
});

test('an end without a proposal says the words of the model', () => {
  const says = (messageId: string, text: string): Event => ({ type: 'messageDelta', messageId, text });
  assert.equal(outcome(after(started, says('m1', 'I look.'), says('m2', 'Nothing '), says('m2', 'to do.'), ended())), 'Nothing to do.');
  assert.match(outcome(after(started, ended())) ?? '', /said nothing/);
  assert.equal(outcome(after(started, says('m1', 'Done.'), proposal('pending'), ended())), undefined);
  assert.equal(outcome(after(started, says('m1', 'Done.'), proposal('pending'), ended(), started, says('m2', 'It is good.'), ended())), 'It is good.', 'each turn counts on its own');
});

test('a failure is said, and a cancelled change says nothing', () => {
  assert.equal(outcome(after(started, proposal('pending'), ended({ stopReason: 'error', error: 'The model is overloaded.' }))), 'The model is overloaded.');
  assert.match(outcome(after(started, ended({ stopReason: 'max_turn_requests' }))) ?? '', /max turn requests/);
  assert.equal(outcome(after(started, ended({ stopReason: 'cancelled' }))), undefined);
});

test('a change is open while its turn runs, and while a hunk is not decided', () => {
  assert.equal(isOpen(after(started)), true);
  assert.equal(isOpen(after(started, ended())), false);
  for (const state of ['pending', 'applying', 'conflicted'] as const) assert.equal(isOpen(after(started, proposal(state), ended())), true, state);
  for (const state of ['accepted', 'rejected'] as const) assert.equal(isOpen(after(started, proposal(state), ended())), false, state);
});

test('a selection moves with the text, and holds what is put into it', () => {
  const selected = range([2, 0], [4, 0]);
  const at = (line: number, character = 0): Range => range([line, character], [line, character]);
  assert.deepEqual(shifted(selected, at(0), 'new\n'), range([3, 0], [5, 0]), 'above');
  assert.deepEqual(shifted(selected, at(6), 'new\n'), selected, 'below');
  assert.deepEqual(shifted(selected, range([2, 0], [4, 0]), 'one\n'), range([2, 0], [3, 0]), 'all of it is replaced');
  assert.deepEqual(shifted(selected, range([3, 0], [4, 0]), 'a\nb\nc\n'), range([2, 0], [6, 0]), 'its last line becomes three');
  assert.deepEqual(shifted(selected, range([1, 0], [3, 0]), ''), range([1, 0], [2, 0]), 'its first line is deleted with the one above');
  assert.deepEqual(shifted(at(5, 2), at(5, 2), 'a\nbc'), range([5, 2], [6, 2]), 'what is written at a cursor is the selection');
  assert.deepEqual(shifted(range([1, 4], [1, 8]), at(1, 0), '  '), range([1, 6], [1, 10]), 'in the same line');
});

test('selections are said in words', () => {
  assert.equal(selectedInWords([]), 'the whole file');
  assert.equal(selectedInWords([range([2, 0], [4, 0])]), 'lines 3 to 4');
  assert.equal(selectedInWords([range([2, 3], [2, 9])]), 'line 3');
  assert.equal(selectedInWords([range([7, 2], [7, 2])]), 'line 8, at the cursor');
  assert.equal(selectedInWords([range([1, 0], [2, 0]), range([3, 0], [4, 0])]), '2 selections');
});

test('the history has each instruction once, the newest first', () => {
  assert.deepEqual(remembered(['a', 'b'], 'b'), ['b', 'a']);
  assert.equal(remembered(Array.from({ length: 50 }, (_, index) => `${index}`), 'new').length, 30);
});
