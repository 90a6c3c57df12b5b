// The usage of turns, and the end of a turn, which tells it. Pure.

import type { Event, StopReason, Usage } from '../generated/protocol';

/** The end of a turn. */
export interface EndEntry {
  kind: 'end';
  reason: StopReason;
  error: string | undefined;
  usage: Usage;
  cost: number | undefined;
  /** The models of which it is said here that their price is not known: once for each. */
  unpriced?: string[];
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
  const add = (kind: keyof Usage): number => (one.usage[kind] ?? 0) + (other.usage[kind] ?? 0);
  return {
    usage: { input: add('input'), output: add('output'), cacheRead: add('cacheRead'), cacheWrite: add('cacheWrite') },
    cost: costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost),
  };
}

/** The usage of a turn that its end does not tell. */
export interface OfTurn {
  /** By the sessions that its calls started. */
  children: Used;
  /** The models whose price is not known, of its own requests and of those of these sessions. */
  unpriced: string[];
}

/** Of a turn that has just begun. */
export const BEGUN: OfTurn = { children: NOTHING, unpriced: [] };

/** With a request of this model. */
export function asking(turn: OfTurn, model: string, { usage, cost }: Told): OfTurn {
  const isNews = cost === undefined && tokensOf(usage) > 0 && !turn.unpriced.includes(model);
  return isNews ? { ...turn, unpriced: [...turn.unpriced, model] } : turn;
}

/** With the work of a session that a call started. */
export function delegating(turn: OfTurn, event: Extract<Event, { type: 'childWorked' }>): OfTurn {
  return { ...asking(turn, event.model, event), children: sumOf(turn.children, event) };
}

/** The end of a turn, whose last model is this. `known` are the models of which it was said that they have no known price. */
export function endOf(event: Extract<Event, { type: 'turnEnded' }>, turn: OfTurn, model: string, known: ReadonlySet<string>): EndEntry {
  const { usage, cost } = sumOf(event, turn.children);
  // Where no request said more, the turn as a whole speaks for its last model.
  const all = turn.unpriced.length > 0 ? turn : asking(turn, model, event);
  const unpriced = all.unpriced.filter((name) => !known.has(name));
  return { kind: 'end', reason: event.stopReason, error: event.error, usage, cost, ...(unpriced.length > 0 ? { unpriced } : {}) };
}

/** The cost, and the models that are not in it. */
export function paidInWords(cost: string | undefined, unpriced: readonly string[]): string[] {
  const names = unpriced.join(' and ');
  const known = cost === undefined ? [] : [cost];
  if (unpriced.length === 0) return known;
  if (cost !== undefined) return [...known, `not counting ${names}, whose price is unknown`];
  return [`cost unknown: ${names} ${unpriced.length === 1 ? 'has' : 'have'} no known price`];
}

/** How many tokens were used, in and out. */
export function tokensOf({ input, output, cacheRead, cacheWrite }: Usage): number {
  return input + output + cacheRead + cacheWrite;
}
