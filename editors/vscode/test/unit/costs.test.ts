import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failure, reportOf, sumsInWords, untilNextDay } from '../../src/costs/words';
import type { CostsShowResult, Spending } from '../../src/generated/protocol';

const NOW = 1_800_000_000_000;
const usage = { input: 60, output: 10, cacheRead: 30, cacheWrite: 10 };
const some: Spending = { requests: 2, usage, cacheHits: 0.3, cost: 0.25, unpricedRequests: 0 };
const none: Spending = { requests: 0, usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, cost: 0, unpricedRequests: 0 };
const empty: CostsShowResult = { today: none, total: none, models: [], providers: [], days: [], projects: [], unpriced: [], suggestionsCost: 0, budgets: [], quotas: [] };
const full: CostsShowResult = {
  ...empty, today: some, total: { ...some, unpricedRequests: 1 },
  session: {
    total: some, models: [{ name: 'a/x', spending: some }, { name: 'b|y', spending: { requests: 1, usage, unpricedRequests: 1 } }],
    side: [{ name: 'titles', spending: some }], children: some,
    activity: {
      prompts: 2, turns: 3, requests: 4, tools: [{ name: 'read_file', calls: 5, failed: 1 }],
      speeds: [{ model: 'a/x', answers: 4, firstMs: 840, tokensPerSecond: 41.6 }, { model: 'b|y', answers: 1, firstMs: 1210 }],
    },
    rounds: [
      { at: NOW, model: 'a/x', usage, cost: 0.125, cacheHits: 0.3 },
      { at: NOW, model: 'b|y', usage, missedBecause: 'the model changed; the last one was a/x' },
    ],
  },
  models: [{ name: 'a/x', spending: some }], providers: [{ name: 'a', spending: some }], projects: [{ name: '/home/me/app', title: 'app', spending: some }], days: [{ name: '2027-01-15', spending: some }],
  unpriced: [{ model: 'b|y', requests: 1 }], suggestionsCost: 0.5,
  budgets: [{ scope: 'session', limit: 1, spent: 0.75 }],
  quotas: [{
    provider: 'a', at: NOW - 61_000,
    windows: [
      { name: 'requests', limit: 50, remaining: 49, used: 0.02, resetsAt: NOW + 10_000 },
      { name: '5 hours of the plan', used: 0.42, resetsAt: NOW + 3 * 3_600_000 },
      { name: 'tokens', limit: 9, remaining: 1, used: 0.9, resetsAt: NOW - 1 },
    ],
  }],
};

describe('the report of costs', () => {
  it('has the conversation, its requests, all conversations, budgets and limits', () => {
    const text = reportOf(full, NOW);
    for (const row of [
      '| This conversation | $0.750 | $1.00 | 75 % |',
      '| a | requests | 49 of 50 | in 10 s | 1 min ago |', '| a | 5 hours of the plan | 58 % | in 3 h 0 min | 1 min ago |', '| a | tokens | 1 of 9 | since then | 1 min ago |',
      '| This conversation | 2 | 100 | 10 | 30 % | $0.250 |', '| Of this, titles | 2 | 100 | 10 | 30 % | $0.250 |',
      '| Of this, conversations that it started | 2 | 100 | 10 | 30 % | $0.250 |',
      '| b\\|y | 1 | 100 | 10 | – | unknown |', '| Today | 2 | 100 | 10 | 30 % | $0.250 |', '| All time | 2 | 100 | 10 | 30 % | $0.250 and more |',
    ]) assert.ok(text.includes(`\n${row}\n`), `${row}\n${text}`);
    assert.match(text, /\| a\/x \| 100 \| 10 \| 30 % \| \$0\.125 \| {2}\|/);
    assert.match(text, /\| b\\\|y \| 100 \| 10 \| – \| unknown \| the model changed; the last one was a\/x \|/);
    assert.match(text, /price was not known: b\\\|y \(1 request\)\./);
    assert.match(text, /Suggestions while you type cost \$0\.500/);
    for (const row of ['| app | 2 | 100 | 10 | 30 % | $0.250 |', '| read\\_file | 5 | 1 |', '| a/x | 4 | 840 ms | 42 |', '| b\\|y | 1 | 1.2 s | – |']) {
      assert.ok(text.includes(`\n${row}\n`), `${row}\n${text}`);
    }
    assert.match(text, /Prompts: 2\. Turns: 3\. Requests: 4\./);
    assert.equal(text.match(/^\| ---/gm)?.length, 12);
  });

  it('says that nothing was asked, and why it cannot be read', () => {
    const text = reportOf(empty, NOW);
    assert.match(text, /No model was asked so far\./);
    assert.doesNotMatch(text, /\|/);
    assert.match(failure('it *broke*'), /cannot be read: it \\\*broke\\\*/);
  });

  it('sums up the rows that are left out', () => {
    const projects = Array.from({ length: 32 }, (_, at) => ({ name: `p${at}`, spending: some }));
    const text = reportOf({ ...full, projects, days: projects.slice(0, 30) }, NOW);
    assert.ok(text.includes('\n| 2 more | 4 | 200 | 20 | 30 % | $0.500 |\n'), text);
    assert.equal(text.match(/ more \| \d/g)?.length, 1, 'a table that is whole has no such row');
    const unpriced = { requests: 1, usage, unpricedRequests: 1 };
    const mixed = reportOf({ ...full, projects: [...projects.slice(0, 31), { name: 'q', spending: unpriced }] }, NOW);
    assert.ok(mixed.includes('\n| 2 more | 3 | 200 | 20 | 30 % | $0.250 and more |\n'), mixed);
  });

  it('knows when a new day begins', () => {
    const midnight = Date.parse('2027-01-16T00:00:00Z');
    assert.equal(untilNextDay(midnight - 5_000), 6_000);
    assert.equal(untilNextDay(midnight), 86_401_000);
  });

  it('has the sums of today and of all time in lines, and of no other day', () => {
    const sums = { day: '2027-01-15', today: some, total: { ...some, cost: 12, unpricedRequests: 1 } };
    assert.deepEqual(sumsInWords(sums, NOW), ['Cost of today (UTC), all conversations: $0.250', 'Cost of all time: $12.00 and more']);
    assert.deepEqual(sumsInWords(sums, NOW + 86_400_000), ['Cost of all time: $12.00 and more']);
  });
});
