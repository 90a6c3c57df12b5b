// Handovers, each of which replaces the earlier part of the conversation. Pure.

import type { Compaction, CompactionId } from '../generated/protocol';

/** A handover in the transcript. */
export interface HandoverEntry {
  kind: 'handover';
  compaction: Compaction;
  /** The notes that the model reads: a model's, or the user's in their place. */
  written: string;
  corrected: boolean;
  takenBack: boolean;
  /** True if a later one stands for it. */
  replaced: boolean;
}

/** The content of the entry of a handover that was just written. */
export function handoverOf(compaction: Compaction): HandoverEntry {
  return { kind: 'handover', compaction, written: compaction.written ?? '', corrected: false, takenBack: false, replaced: false };
}

/** Takes back a handover and the later ones, which stand on it. */
export function takeBack(entries: readonly { kind: string }[], id: CompactionId): void {
  const handovers = handoversOf(entries);
  const at = handovers.findIndex(({ compaction }) => compaction.compactionId === id);
  for (const entry of at < 0 ? [] : handovers.slice(at)) entry.takenBack = true;
}

/** Notes which handovers are replaced by a later one. Gives all of them. */
export function settle<E extends { kind: string }>(entries: readonly E[]): (E & HandoverEntry)[] {
  const handovers = handoversOf(entries);
  const last = handovers.findLast(({ takenBack }) => !takenBack);
  for (const entry of handovers) entry.replaced = entry !== last && !entry.takenBack;
  return handovers;
}

function handoversOf<E extends { kind: string }>(entries: readonly E[]): (E & HandoverEntry)[] {
  return entries.filter((entry): entry is E & HandoverEntry => entry.kind === 'handover');
}

/** How much shorter the conversation is, such as `21.3k tokens instead of 153k`. */
export function shorterInWords({ before, after }: Compaction): string {
  return `${tokens(after)} tokens instead of ${tokens(before)}`;
}

function tokens(count: number): string {
  if (count < 1_000) return String(count);
  return count < 100_000 ? `${(count / 1_000).toFixed(1)}k` : `${Math.floor(count / 1_000)}k`;
}
