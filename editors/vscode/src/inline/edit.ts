// A suggested edit: the hunk that counts for a cursor, what is left of it, and its words. Pure.

import type { InlineEdit, InlineHunk, Position } from '../generated/protocol';

/** The most characters of a text that are said of a hunk. */
const SAID = 300;

/** The lines that a hunk is at, from 0, both included. Lines that are put between two others are at both. */
export function linesOf({ range: { start, end }, text }: InlineHunk): { first: number; last: number } {
  const isEmpty = start.line === end.line && start.character === end.character;
  if (isEmpty && start.character === 0 && text.endsWith('\n')) return { first: Math.max(0, start.line - 1), last: start.line };
  return { first: start.line, last: end.character === 0 && end.line > start.line ? end.line - 1 : end.line };
}

/** The hunk at a line. If two are there, the one that changes the line comes before the one that lies next to it. */
export function hunkAt(edit: InlineEdit, line: number): InlineHunk | undefined {
  const there = edit.hunks.filter((hunk) => isAt(hunk, line));
  return there.find(({ range }) => range.start.line === line) ?? there[0];
}

/** The hunk that Tab is for: at the cursor, else the nearest one; seen from another document, the one that the server names. */
export function currentOf(edit: InlineEdit, line: number | undefined): InlineHunk | undefined {
  if (line === undefined) return hunkAt(edit, edit.target.line) ?? edit.hunks[0];
  const distance = (hunk: InlineHunk): number => {
    const { first, last } = linesOf(hunk);
    return line < first ? first - line : Math.max(0, line - last);
  };
  return hunkAt(edit, line) ?? edit.hunks.toSorted((a, b) => distance(a) - distance(b))[0];
}

/** The hunk after a line, or before it, going round at the end. */
export function nextFrom(edit: InlineEdit, line: number | undefined): InlineHunk | undefined {
  if (line === undefined) return currentOf(edit, line);
  const here = hunkAt(edit, line);
  if (here !== undefined) return edit.hunks[edit.hunks.indexOf(here) + 1] ?? edit.hunks[0];
  return edit.hunks.find((hunk) => linesOf(hunk).first > line) ?? edit.hunks[0];
}

/** The rest of an edit without one of its hunks; undefined if nothing is. */
export function without(edit: InlineEdit, hunkId: string): InlineEdit | undefined {
  const hunks = edit.hunks.filter(({ id }) => id !== hunkId);
  return hunks.length === 0 ? undefined : { ...edit, hunks };
}

/** The position to go to for a hunk. */
export function positionOf(edit: InlineEdit, hunk: InlineHunk): Position {
  return isAt(hunk, edit.target.line) && hunkAt(edit, edit.target.line) === hunk ? edit.target : hunk.range.start;
}

/** True if a line is at a hunk or between two of them. */
export function isWithin(edit: InlineEdit, line: number): boolean {
  const lines = edit.hunks.map(linesOf);
  return line >= Math.min(...lines.map(({ first }) => first)) && line <= Math.max(...lines.map(({ last }) => last));
}

/** True if a hunk has several lines, before or after. */
export function isLong({ range, text }: InlineHunk): boolean {
  const whole = text.endsWith('\n') ? text.slice(0, -1) : text;
  const { first, last } = linesOf({ id: '', range, text: '' });
  return last > first || whole.includes('\n');
}

/** The number of a hunk in its edit, such as `1 of 3`. */
export function numberOf(edit: InlineEdit, hunk: InlineHunk): string {
  return `${edit.hunks.indexOf(hunk) + 1} of ${edit.hunks.length}`;
}

/** A hunk as a sentence. `old` is the text that it replaces. */
export function inWords(hunk: InlineHunk, old: string): string {
  const { first, last } = linesOf(hunk);
  const isLines = isLong(hunk) || old.endsWith('\n') || hunk.text.endsWith('\n');
  const [before, after] = [quoted(old), quoted(hunk.text)];
  if (old === '') return isLines ? `Inserts before line ${hunk.range.start.line + 1}: ${after}` : `Inserts ${after} in line ${first + 1}`;
  const where = first === last ? `line ${first + 1}` : `lines ${first + 1} to ${last + 1}`;
  if (hunk.text === '') return isLines ? `Removes ${where}: ${before}` : `Removes ${before} in ${where}`;
  return isLines ? `Replaces ${where}, ${before}, with ${after}` : `Replaces ${before} with ${after} in ${where}`;
}

/** A hunk as a unified diff, without its header. */
export function asDiff(hunk: InlineHunk, old: string): string {
  const marked = (text: string, mark: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n').map((line) => `${mark}${line}`));
  return [...marked(old, '-'), ...marked(hunk.text, '+')].join('\n');
}

/** The lines that come and go, as `+2 −1`. */
export function sizeOf(hunk: InlineHunk, old: string): string {
  const lines = asDiff(hunk, old).split('\n');
  return `+${lines.filter((line) => line.startsWith('+')).length} −${lines.filter((line) => line.startsWith('-')).length}`;
}

function isAt(hunk: InlineHunk, line: number): boolean {
  const { first, last } = linesOf(hunk);
  return line >= first && line <= last;
}

function quoted(text: string): string {
  const trimmed = text.trim() === '' ? text.replaceAll('\n', '') : text.trim();
  return `“${trimmed.length > SAID ? `${trimmed.slice(0, SAID)}…` : trimmed}”`;
}
