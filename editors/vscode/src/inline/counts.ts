// The counters of suggestions as a Markdown text, with a table for each model. Pure.

import type { InlineCountsResult, InlineModelCounts } from '../generated/protocol';
import { dollars, escaped } from '../text';

/** The numbers of several times, the shortest first. */
export type Times = readonly InlineCountsResult[];

/** The report. `silence` is the reason why nothing is suggested just now, if there is one. */
export function reportOf(times: Times, silence?: string): string {
  const all = times.at(-1);
  const models = all?.models ?? [];
  const isCounted = all?.counted !== false;
  const head = isCounted ? counted(models.length === 0, all?.days ?? 1, silence) : notCounted(models.length === 0);
  const tables = models.map(({ model }) => `## ${escaped(model)}\n\n${tableOf(model, times, isCounted)}`);
  return `${['# How suggestions fare', ...head, ...tables].join('\n\n')}\n`;
}

/** The report if the server cannot be asked. */
export function failure(message: string): string {
  return `# How suggestions fare\n\nThe counters cannot be read: ${escaped(message)}\n\nRun "Azimuth: Show Suggestion Counters" to try again.\n`;
}

function counted(isEmpty: boolean, days: number, silence: string | undefined): string[] {
  if (!isEmpty) return ['These numbers are kept on this machine only, for 90 days at most, and contain nothing of your text. Days are those of UTC.'];
  const next = silence === undefined
    ? 'Type in a file until something is suggested, and run "Azimuth: Show Suggestion Counters" again.'
    : `Nothing is suggested just now: ${escaped(silence)} "Azimuth: Show Suggestions Menu…" shows what you can do.`;
  return [`Nothing was counted ${inWords(days)}.`, next];
}

function notCounted(isEmpty: boolean): string[] {
  const how = 'To have them counted, on this machine only, switch on `azimuth.inlineCounts` in your settings, or `inline_counts` in `config.toml`.';
  return ['Suggestions are not counted, because you have switched that off.', how, ...(isEmpty ? [] : ['Only their cost is known.'])];
}

function tableOf(model: string, times: Times, isCounted: boolean): string {
  const columns = times.map(({ models }) => column(models.find((one) => one.model === model) ?? { ...nothing, model }, isCounted));
  // A time in which nobody looked for accepted text has no such rows.
  const labels = [...new Set(columns.toReversed().flatMap((one) => [...one.keys()]))];
  const rows = [
    ['', ...times.map(({ days }) => (days === 1 ? 'Today' : `Last ${days} days`))],
    ['---', ...times.map(() => '---:')],
    ...labels.map((label) => [label, ...columns.map((one) => one.get(label) ?? '–')]),
  ];
  return rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The rows of a model, each with its label. */
function column(of: InlineModelCounts, isCounted: boolean): Map<string, string> {
  const shown = (number: number): string => withShare(number, of.shown);
  const counts: [string, string][] = [
    ['Shown', `${of.shown}`],
    ['Accepted', shown(of.accepted)],
    ['Accepted in part', of.partly === 0 ? '0' : `${shown(of.partly)}, ${of.partlyCharacters} characters`],
    ['Rejected', shown(of.rejected)],
    ['Ignored', shown(of.ignored)],
    ['Replaced by another one', shown(of.replaced)],
    ...of.retention.map(({ afterSeconds, lookedFor, kept }): [string, string] => [`Still there after ${afterSeconds < 60 ? `${afterSeconds} s` : `${Math.round(afterSeconds / 60)} min`}`, `${kept} of ${lookedFor}`]),
    ['Requests to the model', `${of.requests}`],
    ['Answered too late', withShare(of.late, of.requests)],
    ['Failed', withShare(of.failed, of.requests)],
    ['Requests for each key', of.changes === 0 ? '–' : (of.requests / of.changes).toFixed(2)],
    ['Suggested without a request', withShare(of.givenFromCache, of.given)],
    ['Half answered within', milliseconds(of.p50Ms)],
    ['Nine of ten answered within', milliseconds(of.p90Ms)],
  ];
  return new Map([...(isCounted ? counts : []), ['Cost', dollars(of.cost)]]);
}

const nothing: Omit<InlineModelCounts, 'model'> = {
  changes: 0, requests: 0, late: 0, failed: 0, given: 0, givenFromCache: 0, shown: 0, accepted: 0, partly: 0, partlyCharacters: 0, rejected: 0, ignored: 0,
  replaced: 0, retention: [], cost: 0,
};

function inWords(days: number): string {
  return days === 1 ? 'today' : `in the last ${days} days`;
}

function withShare(number: number, of: number): string {
  return number === 0 || of === 0 ? `${number}` : `${number} (${Math.round((number / of) * 100)} %)`;
}

function milliseconds(time: number | undefined): string {
  return time === undefined ? '–' : `${time} ms`;
}
