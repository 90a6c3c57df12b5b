import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { InlineModelCounts } from '../../src/generated/protocol';
import { failure, reportOf } from '../../src/inline/counts';

const coder: InlineModelCounts = {
  model: 'local/coder', changes: 40, requests: 10, late: 1, failed: 0, given: 20, givenFromCache: 15, shown: 12, accepted: 3, partly: 1, partlyCharacters: 9,
  rejected: 2, ignored: 5, replaced: 0, retention: [{ afterSeconds: 30, lookedFor: 3, kept: 2 }, { afterSeconds: 600, lookedFor: 0, kept: 0 }], p50Ms: 119, cost: 0,
};
const report = (today: InlineModelCounts[], all: InlineModelCounts[], isCounted = true): string => reportOf([{ counted: isCounted, days: 1, models: today }, { counted: isCounted, days: 30, models: all }]);

describe('the report of the counters of suggestions', () => {
  it('has a table for each model, with a column for today and one for the last days', () => {
    const text = report([{ ...coder, shown: 4, accepted: 2 }], [coder, { ...coder, model: 'vendor/next', cost: 0.5 }]);
    assert.match(text, /^# How suggestions fare\n\nThese numbers are kept on this machine only/);
    assert.equal(text.match(/^## /gm)?.length, 2);
    const [, first = '', second = ''] = text.split('\n## ');
    for (const row of [
      '|  | Today | Last 30 days |', '| --- | ---: | ---: |',
      '| Shown | 4 | 12 |', '| Accepted | 2 (50 %) | 3 (25 %) |', '| Accepted in part | 1 (25 %), 9 characters | 1 (8 %), 9 characters |',
      '| Still there after 30 s | 2 of 3 | 2 of 3 |', '| Still there after 10 min | 0 of 0 | 0 of 0 |', '| Requests for each key | 0.25 | 0.25 |',
      '| Suggested without a request | 15 (75 %) | 15 (75 %) |', '| Half answered within | 119 ms | 119 ms |', '| Nine of ten answered within | – | – |', '| Cost | $0.00 | $0.00 |',
    ]) assert.ok(first.includes(`${row}\n`) || first.endsWith(row), `${row}\n${first}`);
    assert.ok(second.includes('| Shown | 0 | 12 |'), second);
    assert.ok(second.includes('| Still there after 30 s | – | 2 of 3 |'), second);
    assert.ok(second.includes('| Cost | $0.00 | $0.500 |'), second);
  });

  it('says that counting is switched off, and shows only the cost', () => {
    const text = report([], [{ ...coder, cost: 2 }], false);
    assert.match(text, /not counted, because you have switched that off/);
    assert.match(text, /`azimuth\.inlineCounts`/);
    assert.match(text, /\| Cost \| \$0\.00 \| \$2\.00 \|/);
    assert.doesNotMatch(text, /Shown|Requests/);
    assert.doesNotMatch(report([], [], false), /cost/);
  });

  it('says what to do if nothing was counted', () => {
    assert.match(report([], []), /Nothing was counted in the last 30 days\.\n\nType in a file/);
    const text = reportOf([{ counted: true, days: 30, models: [] }], 'No model is named for suggestions.');
    assert.match(text, /Nothing is suggested just now: No model is named for suggestions\. "Azimuth: Show Suggestions Menu…"/);
  });

  it('shows the name of a model and a failure as they are, and never as Markdown', () => {
    const text = report([], [{ ...coder, model: 'my_own|<b>*model*</b>' }]);
    assert.ok(text.includes('## my\\_own\\|\\<b\\>\\*model\\*\\</b\\>\n'), text);
    assert.ok(failure('no [link](command:x)').includes('no \\[link\\]\\(command:x\\)'));
  });
});
