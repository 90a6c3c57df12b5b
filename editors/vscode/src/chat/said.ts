// The words of the user in the transcript. Pure.

import type { FileImage, PromptBlock, TurnId } from '../generated/protocol';

/** A word of the user: what began a turn, was said to it, or had it go on. */
export interface PromptEntry {
  kind: 'prompt';
  blocks: PromptBlock[];
  said: 'prompt' | 'steer' | 'continue';
  /** The turn that it began; absent if it began none. */
  turnId?: TurnId;
  /** The changes of this turn to files, by URI; undefined for one that it has changed back itself. */
  files: Record<string, TurnChange | undefined>;
}

/** The change of a turn to a file: what it was and what it is, absent if there was none, or is none. */
export interface TurnChange {
  before?: FileImage | undefined;
  after?: FileImage | undefined;
  /** True if it is taken back. */
  undone: boolean;
}

/** The typed text of a prompt. */
export function textOf(blocks: readonly PromptBlock[]): string {
  return blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n').trim();
}
