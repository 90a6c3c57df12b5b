// The marks of a hunk in its document: what goes away, and what comes in its stead, word by word where that is short. Pure.

import type { InlineHunk } from '../generated/protocol';

/** A part of a line that goes away: columns in UTF-16. */
export interface Removed {
  line: number;
  start: number;
  end: number;
}

/** A text that is drawn behind a column, and is not in the document. */
export interface Inserted {
  line: number;
  column: number;
  text: string;
  /** True if it becomes lines of its own, of which the first is drawn. */
  isLines: boolean;
}

export interface Marks {
  removed: Removed[];
  inserted: Inserted[];
}

/** So many characters of a text are drawn in a line. */
const DRAWN = 100;
/** Beyond so many steps, lines and words are not compared with each other. */
const STEPS = 40_000;

/** The marks of a hunk. `old` is the text that it replaces, with LF line ends; `widthOf` gives the length of a line of the document. */
export function marksOf(hunk: InlineHunk, old: string, widthOf: (line: number) => number): Marks {
  const { start } = hunk.range;
  if (!old.includes('\n') && !hunk.text.includes('\n')) return wordMarks(old, hunk.text, start.line, start.character);
  const marks: Marks = { removed: [], inserted: [] };
  for (const { at, before, after } of changes(linesIn(old), linesIn(hunk.text))) {
    const line = start.line + at;
    // A hunk of whole lines begins at column 0, and another one only ever in its first line.
    const column = at === 0 ? start.character : 0;
    if (before.length === after.length) {
      before.forEach((text, index) => add(marks, wordMarks(text, after[index] ?? '', line + index, index === 0 ? column : 0)));
      continue;
    }
    before.forEach((text, index) => {
      const begin = index === 0 ? column : 0;
      // Indentation is not struck, so that the eye finds the words.
      const indentation = text.length - text.trimStart().length;
      if (indentation < text.length) marks.removed.push({ line: line + index, start: begin + indentation, end: begin + text.length });
    });
    if (after.length === 0) continue;
    const above = before.length > 0 ? line + before.length - 1 : line - 1;
    if (above < 0) marks.inserted.push({ line: 0, column: 0, text: linesInOne(after), isLines: true });
    else marks.inserted.push({ line: above, column: widthOf(above), text: linesInOne(after), isLines: true });
  }
  return marks;
}

/** A text as it is drawn in a line. */
export function clipped(text: string): string {
  return text.length > DRAWN ? `${text.slice(0, DRAWN)}…` : text;
}

/** The marks of a change within a line that begins at a column. */
function wordMarks(old: string, text: string, line: number, column: number): Marks {
  const [before, after] = [wordsIn(old), wordsIn(text)];
  const found = joined(changes(before, after), before);
  const kept = before.length - found.reduce((sum, change) => sum + change.before.length, 0);
  // Single words that are the same by chance are harder to read than the whole.
  const parts = found.length > 3 || kept * 3 < before.length ? trimmed(before, after) : found;
  const marks: Marks = { removed: [], inserted: [] };
  for (const part of parts) {
    const start = column + before.slice(0, part.at).join('').length;
    const end = start + part.before.join('').length;
    if (end > start) marks.removed.push({ line, start, end });
    const inserted = part.after.join('');
    if (inserted !== '') marks.inserted.push({ line, column: end, text: clipped(inserted), isLines: false });
  }
  return marks;
}

interface Change {
  /** The index of what goes away, or before which something comes. */
  at: number;
  before: string[];
  after: string[];
}

/** The changes from one list to another one, by what both have in order. */
function changes(before: readonly string[], after: readonly string[]): Change[] {
  const [whole] = trimmed(before, after);
  if (whole === undefined) return [];
  const { at, before: a, after: b } = whole;
  if (a.length * b.length > STEPS) return [whole];
  const longest = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  const length = (i: number, j: number): number => longest[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const row = longest[i];
      if (row !== undefined) row[j] = a[i] === b[j] ? length(i + 1, j + 1) + 1 : Math.max(length(i + 1, j), length(i, j + 1));
    }
  }
  const found: Change[] = [];
  let [i, j] = [0, 0];
  let open: Change | undefined;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      open = undefined;
      [i, j] = [i + 1, j + 1];
      continue;
    }
    if (open === undefined) found.push((open = { at: at + i, before: [], after: [] }));
    if (j >= b.length || (i < a.length && length(i + 1, j) >= length(i, j + 1))) open.before.push(a[i++] ?? '');
    else open.after.push(b[j++] ?? '');
  }
  return found;
}

/** The one change that is left without what is the same at both ends. */
function trimmed(before: readonly string[], after: readonly string[]): Change[] {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const change = { at: head, before: before.slice(head, before.length - tail), after: after.slice(head, after.length - tail) };
  return change.before.length + change.after.length === 0 ? [] : [change];
}

/** The changes, with those joined between which is only blank space. */
function joined(found: readonly Change[], words: readonly string[]): Change[] {
  const result: Change[] = [];
  for (const change of found) {
    const last = result.at(-1);
    const between = last === undefined ? [] : words.slice(last.at + last.before.length, change.at);
    if (last === undefined || between.join('').trim() !== '') result.push({ ...change });
    else result.splice(-1, 1, { at: last.at, before: [...last.before, ...between, ...change.before], after: [...last.after, ...between, ...change.after] });
  }
  return result;
}

function add(marks: Marks, { removed, inserted }: Marks): void {
  marks.removed.push(...removed);
  marks.inserted.push(...inserted);
}

function wordsIn(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

/** The lines without their ends. */
function linesIn(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

function linesInOne(lines: readonly string[]): string {
  const [first = ''] = lines;
  const more = lines.length === 1 ? '' : lines.length === 2 ? '  +1 line' : `  +${lines.length - 1} lines`;
  return `${clipped(first.trim())}${more}`;
}
