// The files that a prompt mentions in its text.

import type { PromptBlock, Range } from '../generated/protocol';
import type { Attachment } from './messages';

export interface Mention {
  /** As typed, without `@` and lines. */
  path: string;
  /** The lines that are meant, where they are said. */
  range?: Range;
}

/** The mentions in a text: `@path`, `@path:10` and `@path:10-20`, at its start or after a blank or a bracket. */
export function mentions(text: string): Mention[] {
  const words = [...text.matchAll(/(?:^|[\s([{"'])@(\S+)/gu)].map(([, word = '']) => word.replace(/[.,;:!?)\]}"']+$/u, ''));
  return words.flatMap((word): Mention[] => {
    const { path = word, first, last } = /^(?<path>.+?):(?<first>\d+)(?:-(?<last>\d+))?$/u.exec(word)?.groups ?? {};
    if (path === '') return [];
    if (first === undefined) return [{ path }];
    const begin = Math.max(Number(first), 1);
    const end = Math.max(Number(last ?? first), begin);
    // A character beyond a line's end means its end.
    return [{ path, range: { start: { line: begin - 1, character: 0 }, end: { line: end - 1, character: 2 ** 31 - 1 } } }];
  });
}

/**
 * A prompt with blocks for what its text mentions, each once. A file that the prompt holds whole is not mentioned again; its
 * lines do not stand for all of it.
 */
export async function mentioning(blocks: PromptBlock[], uriOf: (path: string) => Promise<string | undefined>): Promise<PromptBlock[]> {
  // The names in a shell command are its own affair.
  if (blocks.some((block) => block.type === 'text' && isCommand(block.text))) return blocks;
  const keyOf = (uri: string, range?: Range): string => JSON.stringify([uri, range]);
  const known = new Set(blocks.flatMap((block) => (block.type === 'file' ? [keyOf(block.uri)] : [])));
  const all = [...blocks];
  for (const { path, range } of blocks.flatMap((block) => (block.type === 'text' ? mentions(block.text) : []))) {
    const uri = await uriOf(path);
    if (uri === undefined || known.has(keyOf(uri, range))) continue;
    known.add(keyOf(uri, range));
    all.push(range === undefined ? { type: 'file', uri } : { type: 'range', uri, range });
  }
  return all;
}

/** The lines of a range for people, from 1, such as `:3` or `:3-9`. One that ends at a line's start does not count that line. */
export function linesInWords({ start, end }: Range): string {
  const last = end.character === 0 && end.line > start.line ? end.line : end.line + 1;
  return last === start.line + 1 ? `:${last}` : `:${start.line + 1}-${last}`;
}

/** True if a text itself names an attachment. A selection holds its text as it was then, and an image is no file. */
export function isNamed(text: string, { label, block }: Attachment): boolean {
  return (block.type === 'file' || block.type === 'range') && holdsWord(text, `@${label}`);
}

/** True if a word, which may hold blanks, stands in a text as one. A file with lines behind it is another word. */
export function holdsWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (/(?:^|[\s([{"'])$/u.test(text.slice(0, at)) && /^(?:$|[\s.,;!?)\]}"']|:(?!\d))/u.test(text.slice(at + word.length))) return true;
  }
  return false;
}

/** True if a prompt is a user command for the shell: `!command` or `!!command`. */
export function isCommand(text: string): boolean {
  return text.trimStart().startsWith('!');
}
