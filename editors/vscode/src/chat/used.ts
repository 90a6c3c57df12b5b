// The usage of turns, and the end of a turn, which tells it. Pure.

import type { StopReason, Usage } from '../generated/protocol';

/** The end of a turn. */
export interface EndEntry {
  kind: 'end';
  reason: StopReason;
  error: string | undefined;
  usage: Usage;
  cost: number | undefined;
  /** The model, where it is said here that its price is not known: once for each. */
  unpriced?: string;
}

/** Tokens, and their cost as far as it is known. */
export interface Used {
  usage: Usage;
  cost: number | undefined;
}

/** The same, as an event tells it. */
type Told = Pick<Used, 'usage'> & Partial<Used>;

/** Nothing was used. */
export const NOTHING: Used = { usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, cost: undefined };

/** The sum; a cost is unknown only if both are. */
export function sumOf(one: Told, other: Told): Used {
  const costs = [one.cost, other.cost].filter((cost) => cost !== undefined);
  const add = (kind: keyof Usage): number => one.usage[kind] + other.usage[kind];
  return {
    usage: { input: add('input'), output: add('output'), cacheRead: add('cacheRead'), cacheWrite: add('cacheWrite') },
    cost: costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost),
  };
}

/** How many tokens were used, in and out. */
export function tokensOf({ input, output, cacheRead, cacheWrite }: Usage): number {
  return input + output + cacheRead + cacheWrite;
}
