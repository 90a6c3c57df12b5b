import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hunk, HunkState, Proposal } from '../../src/generated/protocol';
import { hunkAt, neighbour, place, besideOf, size, stands, takenBackInWords } from '../../src/review/layout';

const hunk = (hunkId: string, startLine: number, oldText: string, newText: string, state: HunkState = 'pending'): Hunk =>
  ({ hunkId, toolCallIds: [], startLine, oldText, newText, state });
const proposal = (...hunks: Hunk[]): Proposal =>
  ({ proposalId: 'p', revision: 1, uri: 'file:///a', path: 'a', change: 'modify', hunks });

const text = 'a\nb\nc\nd\ne\n';
const three = proposal(hunk('1', 0, 'a\n', 'A\nA2\n'), hunk('2', 2, '', 'new\n'), hunk('3', 3, 'd\ne\n', ''));

test('the proposed text holds the pending hunks', () => {
  assert.equal(besideOf(text, three), 'A\nA2\nb\nnew\nc\n');
});

test('it holds no hunk that was decided', () => {
  assert.equal(besideOf(text, proposal(hunk('1', 0, 'x\n', 'y\n', 'rejected'), hunk('2', 1, 'b\n', 'B\n'))), 'a\nB\nc\nd\ne\n');
});

test('it keeps the line ends of the document', () => {
  assert.equal(besideOf('a\r\nb\r\n', proposal(hunk('1', 1, 'b\n', 'c\nd\n'))), 'a\r\nc\r\nd\r\n');
});

test('a last line without an end is a line', () => {
  assert.equal(besideOf('a\nb', proposal(hunk('1', 1, 'b', 'c'))), 'a\nc');
  assert.equal(besideOf('', proposal(hunk('1', 0, '', 'new\n'))), 'new\n');
});

test('hunks that do not fit the text give none, and never a wrong one', () => {
  assert.equal(besideOf('a\nX\n', proposal(hunk('1', 1, 'b\n', 'c\n'))), undefined);
  assert.equal(besideOf('a\n', proposal(hunk('1', 7, 'b\n', 'c\n'))), undefined);
});

test('each hunk has its place on both sides', () => {
  assert.deepEqual(place(three).map(({ document, beside }) => [document, beside]), [
    [{ start: 0, end: 1 }, { start: 0, end: 2 }],
    [{ start: 2, end: 2 }, { start: 3, end: 4 }],
    [{ start: 3, end: 5 }, { start: 5, end: 5 }],
  ]);
});

test('a hunk without lines is found at the lines beside it', () => {
  const placed = place(three);
  const at = (side: 'document' | 'beside', line: number): string | undefined => hunkAt(placed, side, line)?.hunk.hunkId;
  assert.equal(at('document', 1), '2');
  assert.equal(at('document', 2), '2');
  assert.equal(at('document', 4), '3');
  assert.equal(at('beside', 2), undefined);
  assert.equal(at('beside', 4), '3');
});

test('next and previous go round', () => {
  const placed = place(three);
  const go = (line: number, direction: 'next' | 'previous'): string | undefined => neighbour(placed, 'beside', line, direction)?.hunk.hunkId;
  assert.deepEqual([go(0, 'next'), go(3, 'next'), go(5, 'next')], ['2', '3', '1']);
  assert.deepEqual([go(5, 'previous'), go(1, 'previous'), go(3, 'previous')], ['2', '3', '1']);
  assert.equal(neighbour([], 'beside', 0, 'next'), undefined);
});

test('a size counts lines', () => {
  assert.equal(size(hunk('1', 0, 'a\nb', 'c\n')), '+1 −2');
});

const landed: Proposal = { ...proposal(hunk('1', 0, 'a\n', 'A\nA2\n'), hunk('2', 3, '', 'new\n'), hunk('3', 5, 'd\ne\n', '')), landed: true };

test('of what has landed, the text beside the document is the one before', () => {
  assert.equal(besideOf('A\nA2\nb\nnew\nc\n', landed), 'a\nb\nc\nd\ne\n');
  assert.equal(besideOf('A\r\nA2\r\nb\r\nnew\r\nc\r\n', landed), 'a\r\nb\r\nc\r\nd\r\ne\r\n');
  assert.equal(besideOf('', { ...proposal(hunk('1', 0, 'gone\n', '')), change: 'delete', landed: true }), 'gone\n');
  assert.equal(besideOf('b\nnew\nc\n', landed), undefined, 'the two are out of step');
});

test('its hunks are found at their new lines', () => {
  assert.deepEqual(place(landed).map(({ document, beside }) => [document, beside]), [
    [{ start: 0, end: 2 }, { start: 0, end: 1 }],
    [{ start: 3, end: 4 }, { start: 2, end: 2 }],
    [{ start: 5, end: 5 }, { start: 3, end: 5 }],
  ]);
  assert.deepEqual([1, 3, 4, 5].map((line) => hunkAt(place(landed), 'document', line)?.hunk.hunkId), ['1', '2', '3', '3']);
});

test('a hunk stands in a text only where the text has it, on either side', () => {
  const [first, insertion, last] = place(three);
  assert.ok(first && insertion && last);
  assert.ok(place(three).every((placed) => stands(text, three, placed, 'document')));
  assert.ok(stands(text.replaceAll('\n', '\r\n'), three, last, 'document'));
  assert.ok(place(three).every((placed) => stands('A\nA2\nb\nnew\nc\n', three, placed, 'beside')));
  assert.ok(!stands(`typed\n${text}`, three, first, 'document'), 'a line was typed above');
  assert.ok(!stands('a\nb\nc\nd\n', three, last, 'document'));
  assert.ok(!stands('a\n', three, insertion, 'document'), 'its place is beyond the end');
  assert.ok(place(landed).every((placed) => stands('A\nA2\nb\nnew\nc\n', landed, placed, 'document')));
});

test('what taking back would do to files is said in numbers', () => {
  const of = (change: Proposal['change']): Proposal => ({ ...landed, change });
  assert.equal(takenBackInWords([of('create'), of('modify'), of('delete')]), 'It writes 2 files and deletes 1 file.');
  assert.equal(takenBackInWords([of('create'), of('create')]), 'It deletes 2 files.');
});
