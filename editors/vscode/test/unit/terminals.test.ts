// The terminals of a session, as events tell of them and as they are said.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event, TerminalInfo, Waiting } from '../../src/generated/protocol';
import { ageInWords, corrected, foldTerminals, nameOf, runningJobs, shortCommand, stateInWords, waitingTerminals, type Terminals } from '../../src/terminal/state';

const shell: TerminalInfo = {
  terminalId: 'shell-s', kind: 'shell', title: 'shell', cwd: '/', sandbox: 'workspace_write', alive: true, taken: false, startedAt: 1_000, end: 0,
};
const job: TerminalInfo = { ...shell, terminalId: 'job-1', kind: 'job', title: 'npm run dev' };
const asks: Waiting = { certainty: 'certain', prompt: 'name? ', hidden: false };
const busy: TerminalInfo = { ...shell, running: { toolCallId: 'a', command: 'read name', startedAt: 2_000 }, waiting: asks };
const after = (...events: Event[]): Terminals => events.reduce<Terminals>((before, event) => foldTerminals(before, event, 7_000), new Map());
const told = (terminal: TerminalInfo): Event => ({ type: 'terminalChanged', terminal });
const mapOf = (...all: TerminalInfo[]): Terminals => new Map(all.map((one) => [one.terminalId, one]));

test('a command runs in the shell from its start to its end, also where only these are told', () => {
  const start: Event = { type: 'terminalStarted', terminalId: 'shell-s', toolCallId: 'a', command: 'ls', cwd: '/', offset: 3 };
  const end: Event = { type: 'terminalEnded', terminalId: 'shell-s', toolCallId: 'a', offset: 9, exitCode: 0 };
  assert.deepEqual(after(start).get('shell-s')?.running, { toolCallId: 'a', command: 'ls', startedAt: 7_000 });
  assert.equal(after(start, end).get('shell-s')?.running, undefined);
  assert.equal(after(start, end).get('shell-s')?.alive, true);
});

test('a command that has ended waits for nothing', () => {
  const ended = after(told(busy), { type: 'terminalEnded', terminalId: 'shell-s', toolCallId: 'a', offset: 9 }).get('shell-s');
  assert.equal(ended?.waiting, undefined);
});

test('an event of something else leaves the terminals the same', () => {
  const before = after(told(shell));
  assert.equal(foldTerminals(before, { type: 'notice', severity: 'info', text: '' }, 0), before);
});

test('what the server does not list any more ended with the server before it', () => {
  const now = corrected(mapOf(busy, job), [job]);
  assert.deepEqual(now.get('job-1'), job);
  const gone = now.get('shell-s');
  assert.deepEqual([gone?.alive, gone?.running, gone?.waiting], [false, undefined, undefined]);
});

test('a server in the background that only seems to wait is not worth a word', () => {
  const polls: TerminalInfo = { ...job, waiting: { ...asks, certainty: 'probable' } };
  assert.deepEqual(waitingTerminals(mapOf(busy, polls)).map(({ terminalId }) => terminalId), ['shell-s']);
  assert.equal(waitingTerminals(mapOf({ ...job, waiting: asks })).length, 1);
  assert.equal(waitingTerminals(mapOf({ ...busy, alive: false })).length, 0);
});

test('the jobs that run are counted, and nothing else', () => {
  assert.deepEqual(runningJobs(mapOf(busy, job, { ...job, terminalId: 'job-2', alive: false })), [job]);
});

test('the tab of a terminal says what it is for and how it stands', () => {
  assert.equal(nameOf(shell), 'Azimuth');
  assert.equal(nameOf(busy), 'Azimuth · waits for input');
  assert.equal(nameOf({ ...busy, taken: true }), 'Azimuth · yours');
  assert.equal(nameOf({ ...shell, kind: 'outside' }), 'Outside the sandbox');
  assert.equal(nameOf(job), 'npm run dev');
  assert.equal(nameOf({ ...job, alive: false, endedAt: 3_000, exitCode: 1 }), 'npm run dev (exit 1)');
  assert.equal(nameOf({ ...job, alive: false, endedAt: 3_000 }), 'npm run dev (killed)');
  assert.equal(nameOf({ ...job, alive: false }), 'npm run dev (ended)', 'nobody knows how it ended with its server');
});

test('how a terminal stands is said in words', () => {
  assert.equal(stateInWords(shell), 'idle');
  assert.equal(stateInWords(job), 'runs');
  assert.equal(stateInWords({ ...busy, waiting: { ...asks, certainty: 'probable' }, taken: true }), 'may be waiting for input, you have it');
});

test('the age of a command counts from its own beginning, and of a job to its end', () => {
  assert.equal(ageInWords(busy, 14_000), '12 s');
  assert.equal(ageInWords(job, 1_000 + 3 * 60_000), '3 min');
  assert.equal(ageInWords({ ...job, endedAt: 1_000 + 7_260_000 }, 1e12), '2 h 1 min');
});

test('a long command is cut for its tab', () => {
  assert.equal(shortCommand('  npm \n run   dev '), 'npm run dev');
  assert.equal(shortCommand('x'.repeat(100)).length, 32);
});
