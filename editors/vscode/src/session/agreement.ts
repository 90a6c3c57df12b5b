// The part of an undo that the user agrees to, and the words for it. Pure.

import type { CheckpointFile, CheckpointPreviewResult, Direction } from '../generated/protocol';

/**
 * Which choices are marked after the selection of a list has changed. At most one more: the box that marks all at one click
 * would else write over files that nobody has looked at.
 */
export function marksAfter<T>(choices: readonly T[], marked: readonly T[], selected: readonly unknown[]): T[] {
  const fresh = choices.filter((one) => selected.includes(one) && !marked.includes(one));
  return choices.filter((one) => selected.includes(one) && (marked.includes(one) || fresh.length === 1));
}

/** True if what was shown of an undo is still what it would do. */
export function isSameView(a: CheckpointPreviewResult, b: CheckpointPreviewResult): boolean {
  const view = ({ turnIds, files, pendingHunks }: CheckpointPreviewResult): string =>
    JSON.stringify([turnIds, pendingHunks, files.map(({ uri, change, state, merges, now }) => [uri, change, state, merges ?? false, now ?? null])]);
  return view(a) === view(b);
}

/** The files that go, those that were changed since, and those that cannot go or need not. */
export function sorted(direction: Direction, files: readonly CheckpointFile[]): [CheckpointFile[], CheckpointFile[], CheckpointFile[]] {
  const ready = direction === 'undo' ? 'applied' : 'undone';
  return [
    files.filter(({ state }) => state === ready),
    files.filter(({ state }) => state === 'changed_since'),
    files.filter(({ state }) => state !== ready && state !== 'changed_since'),
  ];
}

/** The title of the list; `anew` where it is another one than was agreed to. */
export function titleOf(direction: Direction, { turnIds, pendingHunks }: CheckpointPreviewResult, changed: number, anew: boolean): string {
  const turns = turnIds.length === 1 ? 'a turn' : `${turnIds.length} turns`;
  const notes = [
    pendingHunks > 0 ? `${hunks(pendingHunks)} will be rejected` : '',
    changed > 0 ? 'what was changed since stays, unless you mark it' : '',
  ].filter((note) => note !== '');
  return `Azimuth: ${direction} ${turns}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}${anew ? ': the files have changed, look again' : ''}`;
}

/** Says what Enter would do to `going` files, with those that are marked. */
export function placeholder(direction: Direction, going: number, changed: number, { files, pendingHunks }: CheckpointPreviewResult): string {
  const { doing, done } = words[direction];
  if (files.length === 0) return `No file is changed by it. Enter: reject ${hunks(pendingHunks)}.`;
  const sentences = [
    going + changed === 0 ? `Nothing in these files can be ${done}.` : `Enter: ${doing} the changes in ${going === 1 ? '1 file' : `${going} files`}.`,
    changed > 0 ? `Changed since: ${changed}.` : '',
    pendingHunks > 0 ? `Undecided hunks, rejected: ${pendingHunks}.` : '',
  ];
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

/** Why a file does not simply go, and what marking it would do; empty if there is nothing to say. */
export function whyInWords({ state, reason, merges }: CheckpointFile): string {
  const why = reason ?? (state === 'applied' || state === 'undone' ? undefined : state.replaceAll('_', ' '));
  const lost = state === 'changed_since' && merges !== true ? 'marking it overwrites what was changed' : undefined;
  return [why, lost].filter((part) => part !== undefined).join('; ');
}

export const words: Record<Direction, { done: string; doing: string }> = {
  undo: { done: 'undone', doing: 'undo' },
  redo: { done: 'redone', doing: 'redo' },
};

function hunks(count: number): string {
  return count === 1 ? '1 undecided hunk' : `${count} undecided hunks`;
}
