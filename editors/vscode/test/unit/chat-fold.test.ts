// The chat's fold, told as a user sees it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Event, PermissionRequest, Usage } from '../../src/generated/protocol';
import { Chat } from '../../src/chat/fold';

const usage: Usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 };

function chatOf(...events: Event[]): Chat {
  const chat = new Chat();
  events.forEach((event, at) => chat.take({ seq: at + 1, at: 0, event }));
  return chat;
}

const started: Event = { type: 'turnStarted', turnId: 't', prompt: [{ type: 'text', text: 'Hello' }], context: '', model: 'm', mode: 'agent' };
const ended: Event = { type: 'turnEnded', turnId: 't', stopReason: 'end_turn', usage };
const says = (text: string, messageId = 'm1'): Event => ({ type: 'messageDelta', messageId, text });
const completed = (text: string, messageId = 'm1'): Event =>
  ({ type: 'messageCompleted', turnId: 't', messageId, content: [{ type: 'text', text }], usage, cost: 0.5 });
const kinds = (chat: Chat): string[] => chat.entries.map((entry) => entry.kind);

describe('the chat', () => {
  it('streams an answer and holds the whole one in its place', () => {
    const chat = chatOf(started, says('Hel'), says('lo'));
    assert.deepEqual(chat.entries.at(-1), { key: 'mm1', version: 3, kind: 'answer', text: 'Hello', thinking: '', done: false });
    chat.take({ seq: 4, at: 0, event: completed('Hello!') });
    const answer = chat.entries.at(-1);
    assert.ok(answer?.kind === 'answer' && answer.done && answer.text === 'Hello!');
    assert.equal(chat.cost, 0.5);
  });

  it('shows nothing of an answer that broke off and was asked for anew', () => {
    const chat = chatOf(started, says('Half'), { type: 'messageDiscarded', messageId: 'm1' }, says('Whole', 'm2'));
    assert.deepEqual(kinds(chat), ['prompt', 'answer']);
    assert.equal([...chat.takeChanged()].length, 3, 'the view is told of the one that went too');
  });

  it('holds the plan of a turn in one place, and no call that made it', () => {
    const plan = (status: 'in_progress' | 'completed'): Event =>
      ({ type: 'planUpdated', turnId: 't', entries: [{ content: 'Find it', status }] });
    const call: Event = {
      type: 'toolCallStarted', turnId: 't', toolCallId: 'c', name: 'update_plan', kind: 'think', title: 'Planning', input: {}, locations: [],
    };
    const ended: Event = {
      type: 'toolCallEnded', turnId: 't', result: { toolCallId: 'c', text: 'Seen.', isError: false }, summary: '0 of 1 step', locations: [], durationMs: 1,
    };
    const chat = chatOf(started, call, plan('in_progress'), ended, says('I look.'), plan('completed'));
    assert.deepEqual(kinds(chat), ['prompt', 'plan', 'answer']);
    const entry = chat.entries[1];
    assert.ok(entry?.kind === 'plan' && entry.steps[0]?.status === 'completed');
  });

  it('takes no event twice and passes over those it does not know', () => {
    const chat = chatOf(started, says('Once'));
    chat.take({ seq: 2, at: 0, event: says('Once') });
    chat.take({ seq: 3, at: 0, event: { type: 'somethingNew' } as unknown as Event });
    const answer = chat.entries.at(-1);
    assert.ok(answer?.kind === 'answer' && answer.text === 'Once');
    assert.equal(chat.lastSeq, 3);
  });

  it('knows which questions stand', () => {
    const request: PermissionRequest = {
      permissionId: 'q', about: 'tool_call', title: 'Run a command?', detail: 'ls', reason: 'no rule', options: [],
    };
    const chat = chatOf(started, { type: 'permissionAsked', turnId: 't', request });
    assert.deepEqual(chat.questions, [request]);
    chat.take({ seq: 3, at: 0, event: { type: 'permissionAnswered', permissionId: 'q', outcome: { type: 'cancelled' } } });
    assert.deepEqual(chat.questions, []);
  });

  it('ends with the turn what the turn had begun', () => {
    const call: Event = {
      type: 'toolCallStarted', turnId: 't', toolCallId: 'c', name: 'shell_run', kind: 'execute', title: 'Running ls', input: {}, locations: [],
    };
    const chat = chatOf(started, says('I look'), call, { ...ended, stopReason: 'cancelled' });
    assert.deepEqual(kinds(chat), ['prompt', 'answer', 'tool', 'end']);
    assert.equal(chat.runningTurn, undefined);
    const tool = chat.entries[2];
    assert.ok(tool?.kind === 'tool' && tool.state === 'failed' && tool.summary === 'interrupted');
  });

  it('remembers what was said, last first, each once', () => {
    const again = (text: string): Event => ({ ...started, prompt: [{ type: 'text', text }] });
    assert.deepEqual(chatOf(again('a'), ended, again('b'), ended, again('a')).history, ['a', 'b']);
  });

  it('goes on from its end as if all of it were there, and takes the beginning later', () => {
    const request: PermissionRequest = {
      permissionId: 'q', about: 'tool_call', title: 'Run a command?', detail: 'ls', reason: 'no rule', options: [],
    };
    const events: Event[] = [
      started, completed('One'), ended, { ...started, prompt: [{ type: 'text', text: 'And?' }] }, says('Tw', 'm2'),
      { type: 'permissionAsked', turnId: 't', request },
    ];
    const whole = chatOf(...events);
    const end = Chat.from(structuredClone(whole.snapshot(2)));
    assert.deepEqual([kinds(end), end.earlier, end.cost, end.runningTurn], [['answer', 'question'], 4, 0.5, 't']);
    assert.deepEqual(end.history, ['And?', 'Hello']);
    assert.deepEqual(end.questions, [request]);
    end.take({ seq: 6, at: 0, event: says('was there', 'm2') });
    for (const chat of [whole, end]) chat.take({ seq: 7, at: 0, event: says('o', 'm2') });

    assert.ok(!end.takeEarlier(0, whole.entries.slice(0, 3)), 'one is missing between');
    assert.ok(end.takeEarlier(1, whole.entries.slice(1, 4)));
    assert.ok(end.takeEarlier(0, whole.entries.slice(0, 1)));
    assert.deepEqual(end.entries, whole.entries);
    assert.equal(end.earlier, 0);
  });

  it('hands over a question that waits, however much was said since', () => {
    const request: PermissionRequest = {
      permissionId: 'q', about: 'tool_call', title: 'Run a command?', detail: 'ls', reason: 'no rule', options: [],
    };
    const chat = chatOf(started, { type: 'permissionAsked', turnId: 't', request }, completed('One'), completed('Two', 'm2'));
    assert.deepEqual(kinds(Chat.from(chat.snapshot(1))), ['question', 'answer', 'answer']);
  });
});
