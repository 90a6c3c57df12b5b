// Where the hunks of a proposal lie, in the document and in the text beside it: the proposed one, or, where the hunks have
// landed in the document already, the one before. Pure.

import type { Hunk, Proposal } from '../generated/protocol';

/** A hunk with its place on both sides: whole lines, the end exclusive. */
export interface Placed {
  hunk: Hunk;
  /** In the document as it is now. */
  document: Lines;
  /** In the text beside it. */
  beside: Lines;
}

export interface Lines {
  start: number;
  /** The line after the last one; equal to `start` where there are none. */
  end: number;
}

export type Side = 'document' | 'beside';

/** The pending hunks from top to bottom. The text beside the document differs from it by these, and by no hunk that was decided. */
export function place(proposal: Proposal): Placed[] {
  const placed: Placed[] = [];
  let shift = 0;
  for (const hunk of inOrder(proposal)) {
    const { here, there } = texts(proposal, hunk);
    const [lines, beside] = [lineCount(here), lineCount(there)];
    const { startLine } = hunk;
    placed.push({
      hunk,
      document: { start: startLine, end: startLine + lines },
      beside: { start: startLine + shift, end: startLine + shift + beside },
    });
    shift += beside - lines;
  }
  return placed;
}

/**
 * The text beside a document: that with the pending hunks put in, or taken back where they have landed. Undefined if a hunk does not fit the document: the
 * two are out of step for a moment. Line ends become those of the document.
 */
export function besideOf(document: string, proposal: Proposal): string | undefined {
  const crlf = document.includes('\r\n');
  const lines = splitLines(crlf ? document.replaceAll('\r\n', '\n') : document);
  let text = '';
  let line = 0;
  for (const hunk of inOrder(proposal)) {
    const { here, there } = texts(proposal, hunk);
    const end = hunk.startLine + lineCount(here);
    if (hunk.startLine < line || lines.slice(hunk.startLine, end).join('') !== here) return undefined;
    text += lines.slice(line, hunk.startLine).join('') + there;
    line = end;
  }
  text += lines.slice(line).join('');
  return crlf ? text.replaceAll('\n', '\r\n') : text;
}

/** True if a hunk's text stands in a text where the hunk has its place on that side. While the user types, the two can be out of step. */
export function stands(text: string, proposal: Proposal, placed: Placed, side: Side): boolean {
  const { here, there } = texts(proposal, placed.hunk);
  const { start, end } = placed[side];
  const lines = splitLines(text.replaceAll('\r\n', '\n'));
  return start <= lines.length && lines.slice(start, end).join('') === (side === 'document' ? here : there);
}

/** The hunk at a line. A hunk without lines on this side is at the line that it lies before, and at the one above. */
export function hunkAt(placed: readonly Placed[], side: Side, line: number): Placed | undefined {
  return placed.find((one) => line >= one[side].start && line < one[side].end)
    ?? placed.find((one) => one[side].start === one[side].end && (line === one[side].start || line === one[side].start - 1));
}

/** The next or previous hunk from a line, going round at the end. */
export function neighbour(placed: readonly Placed[], side: Side, line: number, direction: 'next' | 'previous'): Placed | undefined {
  if (direction === 'next') return placed.find((one) => one[side].start > line) ?? placed[0];
  return placed.findLast((one) => one[side].start < line && !(line < one[side].end)) ?? placed.at(-1);
}

/** How large a hunk is, as `+2 −1`. */
export function size(hunk: Hunk): string {
  return `+${lineCount(hunk.newText)} −${lineCount(hunk.oldText)}`;
}

/** Says what it would do to files to take back what has landed in them: `It writes 2 files and deletes 1 file.` */
export function takenBackInWords(landed: readonly Proposal[]): string {
  const count = (number: number): string => (number === 1 ? '1 file' : `${number} files`);
  const deleted = landed.filter(({ change }) => change === 'create').length;
  const written = landed.length - deleted;
  const parts = [written > 0 ? `writes ${count(written)}` : '', deleted > 0 ? `deletes ${count(deleted)}` : ''];
  return `It ${parts.filter((part) => part !== '').join(' and ')}.`;
}

function inOrder(proposal: Proposal): Hunk[] {
  return proposal.hunks.filter((hunk) => hunk.state === 'pending').sort((a, b) => a.startLine - b.startLine);
}

/** A hunk's text in the document, and in the text beside it. */
function texts({ landed }: Proposal, { oldText, newText }: Hunk): { here: string; there: string } {
  return landed === true ? { here: newText, there: oldText } : { here: oldText, there: newText };
}

function lineCount(text: string): number {
  return splitLines(text).length;
}

/** The lines with their line ends. A text that ends without one has its last line all the same. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
