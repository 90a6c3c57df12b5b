// The report of costs: a Markdown text with tables. Pure.

import type { Activity, BudgetStatus, CostsShowResult, CostsSumsResult, Quota, QuotaWindow, Round, Spending, SpendingRow } from '../generated/protocol';
import { dollars, escaped } from '../text';

/** The command that shows it, for words. */
const COMMAND = '"Azimuth: Show Costs"';
/** The most rows of projects, and of days. */
const MOST = 30;
/** A day, in milliseconds. */
const DAY = 86_400_000;

/** The report. `now` is the time, in milliseconds since the Unix epoch. */
export function reportOf(costs: CostsShowResult, now: number): string {
  const { session, today, total } = costs;
  const parts = [
    '# What models cost',
    `Days are those of UTC. The numbers are kept on this machine only; run ${COMMAND} again to refresh them.`,
    ...limits(costs.budgets, costs.quotas, now),
    ...(session === undefined || session.total.requests === 0 ? [] : [
      '## This conversation',
      tableOf('', [{ name: 'This conversation', spending: session.total }, ...named('Of this, ', session.side), ...ofChildren(session.children)]),
      ...(session.models.length > 1 ? [tableOf('Model', session.models)] : []),
      ...roundsOf(session.rounds),
      ...activityOf(session.activity),
    ]),
    '## All conversations',
    total.requests === 0
      ? 'No model was asked so far.'
      : tableOf('', [{ name: 'Today', spending: today }, { name: 'All time', spending: total }]),
    ...tableWithTitle('By model', 'Model', costs.models),
    ...tableWithTitle('By provider', 'Provider', costs.providers),
    ...tableWithTitle('By project', 'Project', most(costs.projects)),
    ...tableWithTitle('By day', 'Day', most(costs.days)),
    ...notes(costs),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** The sums as lines; that of the day only if it is still that day. */
export function sumsInWords({ day, today, total }: CostsSumsResult, now: number): string[] {
  const isToday = new Date(now).toISOString().startsWith(day);
  return [...(isToday ? [`Cost of today (UTC), all conversations: ${costOf(today)}`] : []), `Cost of all time: ${costOf(total)}`];
}

/** The time until the next day of UTC has begun, also by a clock that is a little behind this one. In milliseconds. */
export function untilNextDay(now: number): number {
  return DAY - (now % DAY) + 1_000;
}

/** The report if the server cannot be asked. */
export function failure(message: string): string {
  return `# What models cost\n\nThe costs cannot be read: ${escaped(message)}\n\nRun ${COMMAND} to try again.\n`;
}

function limits(budgets: BudgetStatus[], quotas: Quota[], now: number): string[] {
  const rows = budgets.map(({ scope, limit, spent }) => [
    scope === 'session' ? 'This conversation' : 'Today, all conversations', dollars(spent), dollars(limit), percent(limit === 0 ? 1 : Math.min(1, spent / limit)),
  ]);
  const windows = quotas.flatMap(({ provider, account, windows: of, at }) => of.map((window) => [
    escaped(account === undefined ? provider : `${provider} (${account})`), escaped(window.name), left(window), window.resetsAt === undefined ? '–' : inTime(window.resetsAt, now), `${span(now - at)} ago`,
  ]));
  return [
    ...(rows.length === 0 ? [] : ['## Your budgets', table([['', 'Spent', 'Budget', 'Used'], ...rows], 1)]),
    ...(windows.length === 0 ? [] : ['## What vendors allow', table([['Provider', 'Limit of', 'Left', 'Resets', 'As told'], ...windows], 2)]),
  ];
}

function left({ limit, remaining, left: words, used }: QuotaWindow): string {
  if (words !== undefined) return escaped(words.replace(/ left$/, ''));
  return limit === undefined || remaining === undefined ? percent(1 - used) : `${remaining} of ${limit}`;
}

function roundsOf(rounds: Round[]): string[] {
  if (rounds.length === 0) return [];
  const rows = rounds.map(({ at, model, usage, cost, cacheHits, missedBecause }) => [
    new Date(at).toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit', hour12: false }), escaped(model),
    `${usage.input + usage.cacheRead + usage.cacheWrite}`, `${usage.output}`, share(cacheHits), cost === undefined ? 'unknown' : dollars(cost),
    missedBecause === undefined ? '' : escaped(missedBecause),
  ]);
  return ['### The last requests', 'The last is first. "Cache" is the share of the input that the vendor had in its cache, which costs a fraction.',
    table([['At', 'Model', 'Input', 'Output', 'Cache', 'Cost', 'Cache missed because'], ...rows], 2, 1)];
}

function activityOf(activity: Activity): string[] {
  const { prompts, turns, requests, tools, speeds } = activity;
  if (turns === 0 && requests === 0 && tools.length === 0) return [];
  const calls = tools.map(({ name, calls: all, failed }) => [escaped(name), `${all}`, `${failed}`]);
  return ['### Its activity', `Prompts: ${prompts}. Turns: ${turns}. Requests: ${requests}.`,
    ...(calls.length === 0 ? [] : [table([['Tool', 'Calls', 'Failed'], ...calls], 1)]),
    ...speedsOf(speeds)];
}

function speedsOf(speeds: Activity['speeds']): string[] {
  if (speeds.length === 0) return [];
  const rows = speeds.map(({ model, answers, firstMs, tokensPerSecond }) => {
    const first = firstMs < 1000 ? `${firstMs} ms` : `${(firstMs / 1000).toFixed(1)} s`;
    return [escaped(model), `${answers}`, first, tokensPerSecond === undefined ? '–' : tokensPerSecond.toFixed(0)];
  });
  return ['The speed of its models, as medians, from the request on:', table([['Model', 'Answers', 'First piece after', 'Tokens per second'], ...rows], 1)];
}

function tableWithTitle(title: string, head: string, rows: SpendingRow[]): string[] {
  return rows.length === 0 ? [] : [`### ${title}`, tableOf(head, rows)];
}

/** The first rows, and the sum of those that are left out. */
function most(rows: SpendingRow[]): SpendingRow[] {
  const rest = rows.slice(MOST).map(({ spending }) => spending);
  return rest.length === 0 ? rows : [...rows.slice(0, MOST), { name: `${rest.length} more`, spending: sumOf(rest) }];
}

function sumOf(spendings: Spending[]): Spending {
  const sum = (of: (spending: Spending) => number): number => spendings.reduce((before, spending) => before + of(spending), 0);
  const usage = {
    input: sum((it) => it.usage.input), output: sum((it) => it.usage.output),
    cacheRead: sum((it) => it.usage.cacheRead), cacheWrite: sum((it) => it.usage.cacheWrite),
  };
  const all = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    requests: sum((it) => it.requests), usage, unpricedRequests: sum((it) => it.unpricedRequests),
    ...(all === 0 ? {} : { cacheHits: usage.cacheRead / all }),
    ...(spendings.every(({ cost }) => cost === undefined) ? {} : { cost: sum((it) => it.cost ?? 0) }),
  };
}

function tableOf(head: string, rows: SpendingRow[]): string {
  const cells = rows.map(({ name, title, spending }) => [
    escaped(title ?? name), `${spending.requests}`, `${spending.usage.input + spending.usage.cacheRead + spending.usage.cacheWrite}`, `${spending.usage.output}`,
    share(spending.cacheHits), costOf(spending),
  ]);
  return table([[head, 'Requests', 'Input', 'Output', 'Cache', 'Cost'], ...cells], 1);
}

/** A table whose columns from `numbers` on are numbers, but for so many at its end. */
function table(rows: string[][], numbers: number, textsAtEnd = 0): string {
  const [head = [], ...rest] = rows;
  const line = head.map((_, at) => (at >= numbers && at < head.length - textsAtEnd ? '---:' : '---'));
  return [head, line, ...rest].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function named(prefix: string, rows: SpendingRow[]): SpendingRow[] {
  return rows.map(({ name, spending }) => ({ name: `${prefix}${name}`, spending }));
}

function ofChildren(children: Spending): SpendingRow[] {
  return children.requests === 0 ? [] : [{ name: 'Of this, conversations that it started', spending: children }];
}

function notes({ unpriced, suggestionsCost }: CostsShowResult): string[] {
  const models = unpriced.map(({ model, requests }) => `${escaped(model)} (${requests} ${requests === 1 ? 'request' : 'requests'})`);
  return [
    ...(models.length === 0 ? [] : [`Not in the costs, since the price was not known: ${models.join(', ')}.`]),
    ...(suggestionsCost > 0 ? [`Suggestions while you type cost ${dollars(suggestionsCost)} in the last 90 days, in addition.`] : []),
  ];
}

/** A cost, or as much as is known of it. */
function costOf({ cost, unpricedRequests }: Spending): string {
  if (cost === undefined) return 'unknown';
  return unpricedRequests === 0 ? dollars(cost) : `${dollars(cost)} and more`;
}

function share(of: number | undefined): string {
  return of === undefined ? '–' : percent(of);
}

function percent(of: number): string {
  return `${Math.round(of * 100)} %`;
}

function inTime(at: number, now: number): string {
  return at > now ? `in ${span(at - now)}` : 'since then';
}

/** A span of milliseconds, to the second below a minute and to the minute below a day. */
function span(millis: number): string {
  const seconds = Math.ceil(Math.max(0, millis) / 1_000);
  const [days, hours, minutes] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3_600) % 24, Math.floor(seconds / 60) % 60];
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min` : `${seconds} s`;
}
