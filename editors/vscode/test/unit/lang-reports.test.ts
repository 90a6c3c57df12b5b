import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Reports, type Reported } from '../../src/lang/reports';

const slow = { id: 'slow', names: ['test.slow', 'Slow'] };
/** Somebody reports, and the window has answered before anybody else does. */
function report(reports: Reports, uri: string, languageId: string | undefined, problems: readonly Reported[], now: number): void {
  if (reports.take(uri, languageId, problems, now) === 'change') reports.answered(uri, languageId !== undefined);
}
const problem = (source?: string): Reported => ({ source });

test('a spell checker that reports is not the language server that has not', () => {
  const reports = new Reports();
  report(reports, 'notes', 'plaintext', [problem('spell')], 1);
  const word = problem('spell');
  report(reports, 'a.slow', 'slow', [word], 2);
  assert.equal(reports.since('a.slow', slow, 1), 'nobody');
  report(reports, 'a.slow', 'slow', [word, problem('slow')], 3);
  assert.equal(reports.since('a.slow', slow, 2), 'known', 'that is the server');
  assert.equal(reports.since('a.slow', slow, 3), 'nobody', 'and not for a text that came after it');
});

test('a report leaves the problems of others as they are', () => {
  const reports = new Reports();
  const [server, word] = [problem('slow'), problem('spell')];
  report(reports, 'notes', 'plaintext', [problem('spell')], 1);
  report(reports, 'a.slow', 'slow', [server, word], 2);
  report(reports, 'a.slow', 'slow', [server, problem('spell')], 3);
  assert.equal(reports.since('a.slow', slow, 2), 'nobody', 'the spell checker once more');
  report(reports, 'a.slow', 'slow', [problem('slow'), word], 4);
  assert.equal(reports.since('a.slow', slow, 3), 'known');
  report(reports, 'a.slow', 'slow', [word], 5);
  assert.equal(reports.since('a.slow', slow, 4), 'known', 'that all is mended is a report too');
});

test('a report of nothing, by nobody can tell whom, counts where nobody else is known who could have made it', () => {
  const reports = new Reports();
  report(reports, 'a.slow', 'slow', [], 1);
  assert.equal(reports.since('a.slow', slow, 0), 'likely');
  report(reports, 'notes', 'plaintext', [problem('spell')], 2);
  report(reports, 'a.slow', 'slow', [], 3);
  assert.equal(reports.since('a.slow', slow, 2), 'nobody');
  report(reports, 'a.slow', 'slow', [problem('spell')], 4);
  const [word] = [problem('spell')];
  report(reports, 'a.slow', 'slow', [word], 5);
  report(reports, 'a.slow', 'slow', [word], 6);
  assert.equal(reports.since('a.slow', slow, 5), 'likely', 'the spell checker has a word here, and did not say it again');
});

test('a server whose problems are called otherwise counts as long as it looks at nothing else', () => {
  const reports = new Reports();
  report(reports, 'a.slow', 'slow', [problem('compiler')], 1);
  assert.equal(reports.since('a.slow', slow, 0), 'likely');
  report(reports, 'b.fast', 'fast', [problem('compiler')], 2);
  assert.equal(reports.since('a.slow', slow, 0), 'nobody');
  assert.deepEqual(reports.sourcesOf('slow'), ['compiler']);
});

test('what Azimuth itself puts there is nobody\'s report of the language', () => {
  const reports = new Reports();
  report(reports, 'a.slow', 'slow', [problem('azimuth')], 1);
  assert.deepEqual(reports.sourcesOf('slow'), []);
});

test('a problem that stood there when a document was closed is no report of it when it is opened again', () => {
  const reports = new Reports();
  const wrong = problem('slow');
  report(reports, 'a.slow', 'slow', [wrong], 1);
  reports.closed('a.slow');
  // It is opened at 2, and a spell checker is quicker.
  report(reports, 'a.slow', 'slow', [wrong, problem('spell')], 3);
  assert.equal(reports.since('a.slow', { ...slow, names: ['Slow'] }, 2), 'likely', 'somebody has reported');
  report(reports, 'notes', 'plaintext', [problem('spell')], 3);
  assert.equal(reports.since('a.slow', slow, 2), 'nobody', 'who is not the server');
  // A report while it is closed is known, but not as a report on an open document.
  reports.closed('a.slow');
  const other = problem('slow');
  report(reports, 'a.slow', undefined, [other], 4);
  report(reports, 'a.slow', 'slow', [other, problem('spell')], 6);
  assert.equal(reports.since('a.slow', slow, 5), 'nobody');
  report(reports, 'b.slow', undefined, [problem('other')], 7);
  assert.deepEqual(reports.sourcesOf('slow'), ['slow', 'spell'], 'its language is not known');
  report(reports, 'a.slow', undefined, [], 8);
  assert.deepEqual([reports.since('a.slow', slow, 0), reports.last('a.slow')], ['nobody', 0], 'with nothing left there is nothing to remember');
});

test('a server that clears what it said of a document that was closed has not reported on the one that is opened', () => {
  const reports = new Reports();
  const fast = { id: 'fast', names: ['test.fast'] };
  report(reports, 'a.x', 'slow', [problem('slow'), problem('compiler')], 1);
  // The user chooses another language for it: it is closed and opened, and then the old servers clear theirs.
  reports.closed('a.x');
  report(reports, 'a.x', 'fast', [], 3);
  assert.equal(reports.since('a.x', fast, 2), 'nobody');
  assert.deepEqual(reports.sourcesOf('fast'), [], 'they do not look at that language');
  report(reports, 'a.x', 'fast', [problem('fast')], 4);
  assert.equal(reports.since('a.x', fast, 2), 'known');
  report(reports, 'a.x', 'fast', [], 5);
  assert.equal(reports.since('a.x', fast, 4), 'known', 'this one has found nothing more');
});

test('what VS Code tells a second time of a report is not the report of a server that has found nothing', () => {
  const reports = new Reports();
  const word = problem('spell');
  report(reports, 'notes', 'plaintext', [problem('spell')], 1);
  assert.equal(reports.take('a.slow', 'slow', [word], 2), 'change');
  assert.equal(reports.take('a.slow', 'slow', [word], 3), 'answer');
  assert.equal(reports.since('a.slow', slow, 1), 'nobody');
  // The spell checker looks once more before the window has answered to its report before.
  const again = problem('spell');
  assert.equal(reports.take('a.slow', 'slow', [again], 4), 'change');
  reports.answered('a.slow', true);
  reports.take('a.slow', 'slow', [again], 5);
  assert.equal(reports.since('a.slow', slow, 1), 'nobody');
  reports.answered('a.slow', true);
  assert.equal(reports.take('a.slow', 'slow', [again], 6), 'silence');
  assert.equal(reports.since('a.slow', slow, 5), 'likely', 'after all answers it is a server');
});

test('that our own problems come and go is no report of a server, nor is what VS Code tells of that', () => {
  const reports = new Reports();
  assert.equal(reports.take('a.slow', 'slow', [problem('azimuth')], 1), 'change');
  reports.take('a.slow', 'slow', [], 2);
  reports.take('a.slow', 'slow', [], 3);
  assert.equal(reports.since('a.slow', slow, 0), 'nobody');
  assert.equal(reports.last('a.slow'), 2, 'the second says nothing');
});

test('nothing is remembered of a document that is closed and has no problems', () => {
  const reports = new Reports();
  reports.take('a.slow', undefined, [problem('slow')], 1);
  reports.take('a.slow', undefined, [], 2);
  reports.answered('a.slow', false);
  assert.equal(reports.last('a.slow'), 2, 'the window has not answered the second');
  reports.answered('a.slow', false);
  assert.equal(reports.last('a.slow'), 0);
  reports.answered('a.slow', false);
  report(reports, 'a.slow', undefined, [], 3);
  assert.equal(reports.last('a.slow'), 0);
});
