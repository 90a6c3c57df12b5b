// Hand-overs, each of which stands for the earlier part of the conversation. Pure.

import type { Compaction, CompactionId } from '../generated/protocol';

/** A hand-over in the transcript. */
export interface HandoverEntry {
  kind: 'handover';
  compaction: Compaction;
  /** What the model reads of the part that a model wrote: the user may have corrected it. */
  written: string;
  corrected: boolean;
  takenBack: boolean;
}

/** The content of the entry of a hand-over that was just written. */
export function handoverOf(compaction: Compaction): HandoverEntry {
  return { kind: 'handover', compaction, written: compaction.written ?? '', corrected: false, takenBack: false };
}

/** The entries that are taken back with this one: later hand-overs stand on it. */
export function takenBackWith<E extends { kind: string }>(entries: readonly E[], id: CompactionId): (E & HandoverEntry)[] {
  const handovers = entries.filter((entry): entry is E & HandoverEntry => entry.kind === 'handover');
  const at = handovers.findIndex(({ compaction }) => compaction.compactionId === id);
  return at < 0 ? [] : handovers.slice(at).filter(({ takenBack }) => !takenBack);
}

/** How much shorter the conversation is, such as `21.3k tokens instead of 153k`. */
export function shorterInWords({ before, after }: Compaction): string {
  return `${tokens(after)} tokens instead of ${tokens(before)}`;
}

function tokens(count: number): string {
  if (count < 1_000) return String(count);
  return count < 100_000 ? `${(count / 1_000).toFixed(1)}k` : `${Math.floor(count / 1_000)}k`;
}
