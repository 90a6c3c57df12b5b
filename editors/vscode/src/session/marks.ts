// What of an undo is agreed to. Pure.

import type { CheckpointPreviewResult } from '../generated/protocol';

/**
 * Which choices are marked after the selection of a list has changed. At most one more: the box that marks all at one click
 * would else write over files that nobody has looked at.
 */
export function marksAfter<T>(choices: readonly T[], marked: readonly T[], selected: readonly unknown[]): T[] {
  const fresh = choices.filter((one) => selected.includes(one) && !marked.includes(one));
  return choices.filter((one) => selected.includes(one) && (marked.includes(one) || fresh.length === 1));
}

/** Whether what was shown of an undo is still what it would do. */
export function isSameView(a: CheckpointPreviewResult, b: CheckpointPreviewResult): boolean {
  const view = ({ turnIds, files, pendingHunks }: CheckpointPreviewResult): string =>
    JSON.stringify([turnIds, pendingHunks, files.map(({ uri, change, state, merges, now }) => [uri, change, state, merges ?? false, now ?? null])]);
  return view(a) === view(b);
}
