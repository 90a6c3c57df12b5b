import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AutoScope, Event, PermissionRequest, SequencedEvent, SessionInfo } from '../../src/generated/protocol';
import { asked as askedNow, begin, compact, fold, pendingProposals, type SessionState } from '../../src/session/fold';

const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const info: SessionInfo = { sessionId: 's', title: '', folders: [], mode: 'agent', createdAt: 0, updatedAt: 0, lastSeq: 0, usage, cost: 0 };
const numbered = (...events: Event[]): SequencedEvent[] => events.map((event, index) => ({ seq: index + 1, at: 0, event }));
const after = (...events: Event[]): SessionState => numbered(...events).reduce(fold, begin(info));

const started: Event = { type: 'turnStarted', turnId: 't', prompt: [], context: '', model: 'm', mode: 'ask' };
const request: PermissionRequest = { permissionId: 'q', about: 'tool_call', title: '', detail: '', reason: '', options: [] };
const asked: Event = { type: 'permissionAsked', turnId: 't', request };
const ended: Event = { type: 'turnEnded', turnId: 't', stopReason: 'end_turn', usage };

test('a turn runs from its start to its end', () => {
  assert.equal(after(started).runningTurn, 't');
  assert.equal(after(started, ended).runningTurn, undefined);
  assert.equal(after(started, { ...ended, turnId: 'other' }).runningTurn, 't');
});

test('a question waits until it is answered or its turn ends', () => {
  assert.equal(after(started, asked).questions.size, 1);
  assert.equal(after(started, asked, { type: 'permissionAnswered', permissionId: 'q', outcome: { type: 'moot' } }).questions.size, 0);
  assert.equal(after(started, asked, ended).questions.size, 0);
});

test('an event that was seen already changes nothing', () => {
  const message: Event = { type: 'messageCompleted', turnId: 't', messageId: 'm', content: [], usage, cost: 2 };
  const [first] = numbered(message);
  assert.ok(first);
  const once = fold(begin(info), first);
  assert.equal(fold(once, first), once);
  assert.equal(once.cost, 2);
});

test('an unknown event is passed over, and counted', () => {
  const state = after({ type: 'somethingNew' } as unknown as Event, started);
  assert.equal(state.lastSeq, 2);
  assert.equal(state.runningTurn, 't');
});

test('a proposal waits while one of its hunks does', () => {
  const hunk = { hunkId: 'h', toolCallIds: [], startLine: 0, oldText: '', newText: 'a\n', state: 'pending' as const };
  const proposal = { proposalId: 'p', revision: 1, uri: 'file:///a', path: 'a', change: 'create' as const, hunks: [hunk] };
  const pending = (...events: Event[]): unknown => {
    const { proposed, landed } = pendingProposals(after(...events).proposals.values());
    return [proposed.length, landed.length];
  };
  assert.deepEqual(pending({ type: 'proposalChanged', proposal }), [1, 0]);
  assert.deepEqual(pending({ type: 'proposalChanged', proposal: { ...proposal, landed: true } }), [0, 1], 'nothing waits for what has landed');
  const decided = { ...proposal, hunks: [{ ...hunk, state: 'accepted' as const }] };
  assert.deepEqual(pending({ type: 'proposalChanged', proposal }, { type: 'proposalChanged', proposal: decided }), [0, 0]);
});

test('the end of an older command does not end the one that runs now', () => {
  const start = (toolCallId: string): Event => ({ type: 'terminalStarted', terminalId: 'x', toolCallId, command: toolCallId, cwd: '', offset: 0 });
  const end = (toolCallId: string): Event => ({ type: 'terminalEnded', terminalId: 'x', toolCallId, offset: 1 });
  assert.equal(after(start('a'), start('b'), end('a')).terminals.get('x')?.running?.toolCallId, 'b');
  assert.equal(after(start('a'), end('a')).terminals.get('x')?.running, undefined);
});

test('a session keeps its own model and level where a turn goes on with another', () => {
  const own: Event = { type: 'modelChanged', model: 'm', scripted: false, thinking: 'high' };
  const switched: Event = { type: 'turnModelChanged', turnId: 't', model: 'b', insteadOf: 'm', reason: 'failed', thinking: 'low' };
  const running = after(own, started, switched);
  assert.deepEqual(askedNow(running), { model: 'b', thinking: 'low' });
  assert.deepEqual([running.model, running.thinking], ['m', 'high']);
  const over = askedNow(after(own, started, switched, ended));
  assert.deepEqual([over.model, over.thinking], ['m', 'high']);
  assert.deepEqual(askedNow(after(own, started)), { model: 'm', thinking: 'high' });
});

test('edits are accepted automatically once an event says so', () => {
  const say = (on: boolean, scope: AutoScope): Event => ({ type: 'acceptEditsChanged', on, scope });
  assert.equal(after().acceptEdits, undefined);
  assert.deepEqual(after(say(true, 'session')).acceptEdits, { on: true, scope: 'session', project: false });
  assert.deepEqual(after(say(true, 'project')).acceptEdits, { on: true, scope: 'project', project: true });
  assert.deepEqual(after(say(true, 'project'), say(false, 'session')).acceptEdits, { on: false, scope: 'session', project: true });
  assert.deepEqual(after(say(true, 'project'), say(false, 'project')).acceptEdits, { on: false, scope: 'project', project: false });
});

test('of what was told of a terminal only the last is kept', () => {
  const told = (terminalId: string, end: number): Event => ({
    type: 'terminalChanged', terminal: { terminalId, kind: 'job', title: 'x', cwd: '', sandbox: 'full', alive: true, taken: false, startedAt: 0, end },
  });
  assert.deepEqual(compact(numbered(told('a', 1), told('b', 1), told('a', 2))).map(({ seq }) => seq), [2, 3]);
});

test('deltas of whole and of void messages are not kept', () => {
  const delta = (messageId: string): Event => ({ type: 'messageDelta', messageId, text: 'x' });
  const kept = compact(numbered(delta('a'), { type: 'thinkingDelta', messageId: 'b', text: 'x' }, delta('c'),
    { type: 'editDelta', messageId: 'a', toolCallId: 'x', path: 'p', text: '+' }, { type: 'messageCompleted', turnId: 't', messageId: 'a', content: [], usage }, { type: 'messageDiscarded', messageId: 'b' }));
  assert.deepEqual(kept.map(({ seq }) => seq), [3, 5, 6]);
});
