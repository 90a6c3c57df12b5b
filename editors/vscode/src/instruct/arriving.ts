// A change while the model still writes it: its diff so far, the lines of a document that it is about, and the marks
// there. Pure.

import type { Range } from '../generated/protocol';
import { clipped, type Marks, type Removed } from '../inline/marks';

/** The diff of one call that is arriving. */
export interface Arriving {
  toolCallId: string;
  /** The file, as the model names it. */
  path: string;
  /** In Markdown's `diff` notation. It may end within a line. */
  diff: string;
}

/** Lines that go away, or stay as context, and the ones that come after them. */
export interface Block {
  /** The location that the model names, if it names one instead of lines. */
  at: string | undefined;
  old: { text: string; isRemoved: boolean }[];
  added: string[];
  /** The lines of it, with their marks. */
  diff: string[];
}

/** A block that was found in a document, with its lines there, from 0 and both included. */
export interface Found {
  block: Block;
  first: number;
  last: number;
  marks: Marks;
}

/** So many blocks are looked for, of which a call has only a few. */
const MOST = 100;

/** The diffs with a further piece of one. */
export function grown(all: readonly Arriving[], { toolCallId, path, text }: { toolCallId: string; path: string; text: string }): Arriving[] {
  const last = all.findLast((one) => one.toolCallId === toolCallId);
  if (last === undefined || last.path !== path) return [...all, { toolCallId, path, diff: text }];
  return all.map((one) => (one === last ? { ...last, diff: last.diff + text } : one));
}

/** True if the model's name of a file can mean the file with this path. */
export function isNamed(name: string, path: string): boolean {
  const plain = name.replaceAll('\\', '/').replace(/^(\.\/)+/, '');
  return path === plain || (plain !== '' && !plain.startsWith('/') && path.endsWith(`/${plain}`));
}

/** The blocks of a diff so far. A line that goes away counts once all of it is there, and one that comes at once. */
export function blocksOf({ diff }: Arriving): Block[] {
  const lines = diff.split('\n');
  const end = lines.pop() ?? '';
  const blocks: Block[] = [];
  let open: Block | undefined;
  for (const line of end.startsWith('+') ? [...lines, end] : lines) {
    const [mark, text] = [line.slice(0, 1), line.slice(1)];
    const isNew = open === undefined || mark === '@' || (mark !== '+' && open.added.length > 0);
    if (open === undefined || isNew) blocks.push((open = { at: undefined, old: [], added: [], diff: [] }));
    open.diff.push(line);
    if (mark === '@') open.at = line.replace(/^@+ ?/, '').trim();
    else if (mark === '+') open.added.push(text);
    else open.old.push({ text, isRemoved: mark === '-' });
  }
  return blocks;
}

/** Finds blocks in the lines of a document: what is selected comes before what is not, and no lines are taken twice. */
export function findBlocks(blocks: readonly Block[], lines: readonly string[], selections: readonly Range[]): Found[] {
  const found: Found[] = [];
  for (const block of blocks.slice(-MOST)) {
    const one = locate(block, lines, selections, found);
    if (one !== undefined) found.push(one);
  }
  return found;
}

/** Gives the column of a line of a block in one of a document, and -1 if it is another one. */
type Way = (line: string, text: string, isFirst: boolean, isLast: boolean) => number;

/** The ways to find lines, the strictest first. */
const ways: Way[] = [
  (line, text) => (line === text ? 0 : -1),
  (line, text) => (line.trimStart() === text.trimStart() ? indentation(line) : -1),
  // The model may begin and end within a line.
  (line, text, isFirst, isLast) => {
    if (isFirst && isLast) return line.indexOf(text);
    if (isFirst) return line.endsWith(text) ? line.length - text.length : -1;
    return (isLast ? line.startsWith(text) : line === text) ? 0 : -1;
  },
];

function locate(block: Block, lines: readonly string[], selections: readonly Range[], before: readonly Found[]): Found | undefined {
  if (block.old.length === 0) return atLocation(block, lines);
  // Blank lines are everywhere.
  if (block.old.every(({ text }) => text.trim() === '')) return undefined;
  const { length } = block.old;
  const isFree = (at: number): boolean => before.every(({ first, last }) => at > last || at + length - 1 < first);
  const isSelected = (at: number): boolean => selections.some(({ start, end }) => at + length > start.line && at <= end.line);
  for (const isMeant of [isSelected, () => true]) {
    for (const way of ways) {
      const at = search(block, lines, way, (line) => isFree(line) && isMeant(line), before.at(-1)?.last);
      if (at !== undefined) return placed(block, lines, way, at);
    }
  }
  return undefined;
}

/** The first line from which a block fits; the one after the block before it is tried first. */
function search({ old }: Block, lines: readonly string[], way: Way, isMeant: (line: number) => boolean, last: number | undefined): number | undefined {
  const most = old.length - 1;
  const fits = (at: number): boolean => isMeant(at) && old.every(({ text }, index) => way(lines[at + index] ?? '', text, index === 0, index === most) >= 0);
  if (last !== undefined && last + old.length < lines.length && fits(last + 1)) return last + 1;
  for (let at = 0; at + most < lines.length; at += 1) if (fits(at)) return at;
  return undefined;
}

function placed(block: Block, lines: readonly string[], way: Way, first: number): Found {
  const most = block.old.length - 1;
  const removed = block.old.flatMap(({ text, isRemoved }, index): Removed[] => {
    const line = lines[first + index] ?? '';
    const isWhole = line.trimStart() === text.trimStart();
    const column = isWhole ? 0 : way(line, text, index === 0, index === most);
    const [start, end] = [Math.max(column, indentation(line)), isWhole ? line.length : column + text.length];
    return isRemoved && end > start ? [{ line: first + index, start, end }] : [];
  });
  return withAdded({ block, first, last: first + most, marks: { removed, inserted: [] } }, lines);
}

/** A block that only adds lines, after the line that the model names by its text, or by its number as in `12#7K`. */
function atLocation(block: Block, lines: readonly string[]): Found | undefined {
  const { at = '' } = block;
  if (at === '') return undefined;
  const [, number] = /^(\d+)#\w+$/.exec(at) ?? [];
  const line = number === undefined ? lines.findIndex((one) => one.trim() === at) : Number(number) - 1;
  if (line < 0 || line >= lines.length) return undefined;
  return withAdded({ block, first: line, last: line, marks: { removed: [], inserted: [] } }, lines);
}

/** With the newest of the lines that come, and their number, behind the last line of the block. */
function withAdded(found: Found, lines: readonly string[]): Found {
  const { added } = found.block;
  const newest = added.findLast((one) => one.trim() !== '');
  if (newest === undefined) return found;
  const text = `${clipped(newest.trim())}${added.length === 1 ? '' : `  (${added.length} lines)`}`;
  return { ...found, marks: { ...found.marks, inserted: [{ line: found.last, column: (lines[found.last] ?? '').length, text, isLines: true }] } };
}

function indentation(line: string): number {
  return line.length - line.trimStart().length;
}
