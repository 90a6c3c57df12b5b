// The chat's fold, told as a user sees it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AutoScope, Event, FileImage, Hunk, HunkState, PermissionRequest, Proposal, TerminalInfo, Usage, Waiting } from '../../src/generated/protocol';
import { Chat } from '../../src/chat/fold';
import { shorterInWords } from '../../src/chat/handover';
import { type OwnEntry, type ToolEntry, workInWords } from '../../src/chat/ran';
import { paidInWords } from '../../src/chat/used';

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

const made = (compactionId: string): Event => ({
  type: 'compacted', turnId: 't',
  compaction: { compactionId, reason: 'full', messages: 4, facts: '## Files', written: 'Notes', before: 153_000, after: 21_340 },
});

describe('the card of a handover', () => {
  const asked: Event = { ...started, prompt: [], compacts: true };

  it('stands where the handover was written, with how much shorter the conversation is', () => {
    const chat = chatOf(asked, { type: 'compacting', turnId: 't', reason: 'full' });
    assert.equal(chat.doing, 'Writing a handover');
    chat.take({ seq: 3, at: 0, event: made('c') });
    const card = chat.entries.at(-1);
    assert.ok(card?.kind === 'handover' && card.written === 'Notes' && !card.corrected);
    assert.equal(shorterInWords(card.compaction), '21.3k tokens instead of 153k');
    assert.deepEqual(kinds(chat), ['handover'], 'a turn that only compacts is no word of the user');
  });

  it('shows what the user made of its notes, and goes with those that stand on it', () => {
    const chat = chatOf(asked, made('c'), made('d'), { type: 'compactionCorrected', compactionId: 'd', written: 'Mine' });
    const cards = chat.entries.flatMap((entry) => (entry.kind === 'handover' ? [entry] : []));
    assert.deepEqual(cards.map(({ written, corrected }) => [written, corrected]), [['Notes', false], ['Mine', true]]);
    assert.deepEqual(cards.map(({ replaced }) => replaced), [true, false], 'the later one stands for the other');
    chat.takeChanged();
    chat.take({ seq: 5, at: 0, event: { type: 'compactionTakenBack', compactionId: 'c' } });
    assert.deepEqual(cards.map(({ takenBack }) => takenBack), [true, true]);
    assert.equal(chat.takeChanged().size, 2);
    assert.equal(chat.session.context, undefined, 'how full it is now is not known');
  });
});

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

  it('waits before the model is asked again, until the user or the answer ends that', () => {
    const retrying = (delayMs: number): Event => ({ type: 'retrying', turnId: 't', attempt: 1, of: 3, delayMs, reason: 'x is overloaded.' });
    const notes = (chat: Chat): string[] => chat.entries.flatMap((entry) => (entry.kind === 'note' ? [entry.text] : []));
    const chat = new Chat();
    [started, retrying(17_000)].forEach((event, at) => chat.take({ seq: at + 1, at: 5_000, event }));
    assert.deepEqual(chat.waits, { attempt: 1, of: 3, until: 22_000 });
    assert.deepEqual(Chat.from(chat.snapshot(10)).waits, chat.waits, 'a page that is shown again goes on counting');
    chat.take({ seq: 3, at: 6_000, event: retrying(0) });
    assert.equal(chat.waits, undefined);
    assert.deepEqual(notes(chat), ['x is overloaded; retry 1 of 3 in 17 s.'], 'why it waited is said once');
    chat.take({ seq: 4, at: 7_000, event: retrying(9_000) });
    chat.take({ seq: 5, at: 8_000, event: says('Hello') });
    assert.equal(chat.waits, undefined);
    assert.deepEqual(notes(chatOf(started, retrying(0))), ['x is overloaded; retry 1 of 3 now.']);
  });

  it('shows the conversation that a call started, and counts it in the turn', () => {
    const call: Event = { type: 'toolCallStarted', turnId: 't', toolCallId: 'c', name: 'x', kind: 'think', title: 'Asking', input: {}, locations: [] };
    const worked = (more: { rounds: number; doing?: string; usage: Usage; cost?: number }): Event =>
      ({ type: 'childWorked', turnId: 't', toolCallId: 'c', child: 'abc123', model: 'wise', ...more });
    const none: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    const chat = chatOf(started, call, worked({ rounds: 1, usage, cost: 0.25 }), worked({ rounds: 1, doing: 'Reading a.txt', usage: none }));
    const child = { sessionId: 'abc123', model: 'wise', rounds: 1, doing: 'Reading a.txt' };
    assert.deepEqual((chat.entries.at(-1) as ToolEntry).child, child);
    assert.deepEqual([workInWords(child, true), workInWords(child, false)], ['wise · 1 round · Reading a.txt', 'wise · 1 round']);
    assert.equal(chat.doing, 'wise: Reading a.txt');
    const shown = Chat.from(chat.snapshot(10));
    shown.take({ seq: 5, at: 0, event: { ...ended, cost: 0.5 } });
    const end = shown.entries.at(-1);
    assert.ok(end?.kind === 'end' && end.cost === 0.75 && end.usage.input === 20, JSON.stringify(end));
    assert.equal(shown.cost, 0.25, 'the requests of the turn itself say theirs');
    shown.take({ seq: 6, at: 0, event: { ...started, turnId: 't2' } });
    shown.take({ seq: 7, at: 0, event: worked({ rounds: 2, usage, cost: 0.25 }) });
    shown.take({ seq: 8, at: 0, event: { ...ended, turnId: 't2', cost: 0.5 } });
    const next = shown.entries.at(-1);
    assert.ok(next?.kind === 'end' && next.cost === 0.5, 'what comes late counts, but for no other turn');
  });

  it('says of a cost which models are not in it, whether the turn asked them or a conversation that it started', () => {
    const worked: Event = { type: 'childWorked', turnId: 't', toolCallId: 'c', child: 'abc123', model: 'wise', rounds: 1, usage };
    const paid: Event = { type: 'requestPaid', turnId: 't', usage };
    const switched: Event = { type: 'turnModelChanged', turnId: 't', model: 'b', insteadOf: 'm', reason: 'failed' };
    const unpriced = (...events: Event[]): string[] | undefined => {
      const chat = Chat.from(chatOf(started, ...events).snapshot(10));
      chat.take({ seq: events.length + 2, at: 0, event: { ...ended, cost: 0.5 } });
      const end = chat.entries.at(-1);
      assert.ok(end?.kind === 'end' && end.cost === 0.5);
      return end.unpriced;
    };
    assert.deepEqual(unpriced(completed('Hello')), undefined);
    assert.deepEqual(unpriced(worked, worked, completed('Hello')), ['wise']);
    assert.deepEqual(unpriced(paid, switched, completed('Hello')), ['m']);
    assert.deepEqual(paidInWords('$0.50', []), ['$0.50']);
    assert.deepEqual(paidInWords('$0.50', ['wise']), ['$0.50', 'not counting wise, whose price is unknown']);
    assert.deepEqual(paidInWords(undefined, ['a', 'b']), ['cost unknown: a and b have no known price']);
  });

  it('says which model goes on in the stead of another', () => {
    const switched: Event = {
      type: 'turnModelChanged', turnId: 't', model: 'b/two', insteadOf: 'a/one', reason: 'quota_used_up', error: 'No credit is left. Add credit.',
    };
    const chat = chatOf(started, switched);
    const note = chat.entries.at(-1);
    assert.ok(note?.kind === 'note' && note.text === 'The quota of a/one is used up (No credit is left. Add credit); b/two continues.');
    assert.deepEqual([chat.model, chat.turnModel], ['b/two', 'b/two']);
    const account = { name: 'work', insteadOf: 'FIRST_KEY' };
    const ofAccount = chatOf(started, { ...switched, model: 'a/one', reason: 'rate_limited', account }).entries.at(-1);
    assert.ok(ofAccount?.kind === 'note' && ofAccount.text === 'a (FIRST_KEY) takes no more requests; a (work) continues.');
  });

  it('lets only the last plan be changed', () => {
    const plan = (turnId: string, content: string): Event => ({ type: 'planUpdated', turnId, entries: [{ content, status: 'pending' }] });
    const plans = (chat: Chat): unknown[] => chat.entries.flatMap((entry) => (entry.kind === 'plan' ? [[entry.steps[0]?.content, entry.current]] : []));
    const chat = chatOf(started, plan('t', 'Find it'));
    assert.deepEqual(plans(chat), [['Find it', true]]);
    const both = chatOf(started, plan('t', 'Find it'), plan('u', 'Mend it'));
    assert.deepEqual(plans(both), [['Find it', false], ['Mend it', true]]);
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

  it('says once for each model that its price is not known, also where the chat goes on elsewhere', () => {
    const changed = (model: string): Event => ({ type: 'modelChanged', model, scripted: false });
    const nothing: Event = { ...ended, usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } };
    const by = (model: string): Event => ({ ...started, model });
    // Another model is chosen while a turn of the first runs.
    const first = [changed('a'), by('a'), nothing, by('a'), changed('b'), ended, by('a'), ended];
    const chat = chatOf(...first, by('b'), ended, by('b'), { ...ended, cost: 0.5 });
    const said = (): (string | undefined)[] => chat.entries.flatMap((entry) => (entry.kind === 'end' ? [entry.unpriced?.join()] : []));
    assert.deepEqual(said(), [undefined, 'a', undefined, 'b', undefined]);
    const later = Chat.from(structuredClone(chat.snapshot(1)));
    later.take({ seq: 13, at: 0, event: by('b') });
    later.take({ seq: 14, at: 0, event: ended });
    const last = later.entries.at(-1);
    assert.ok(last?.kind === 'end' && last.unpriced === undefined);
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

  const applied = (turnId: string, uri: string): Event =>
    ({ type: 'editApplied', proposalId: 'p', hunkIds: [], uri, outcome: { type: 'verified' }, turnId, before: 'a', after: 'b' });
  const folder: Event = { type: 'sessionStarted', folders: ['file:///p'], beginsWith: 0 };
  const filesOf = (chat: Chat, at: number): unknown => {
    const entry = chat.entries[at];
    if (entry?.kind !== 'prompt') return undefined;
    return Object.fromEntries(Object.entries(entry.files).flatMap(([uri, change]) => (change ? [[uri, change.undone ? 'undone' : 'applied']] : [])));
  };

  it('knows at each message which files its turn changed, and what of that is taken back', () => {
    const command: Event = {
      type: 'filesChanged', turnId: 't', toolCallId: 'c', files: [
        { uri: 'file:///p/made%20here.txt', after: { hash: 'h' } }, { uri: 'file:///p/big.bin', unknown: 'it is no text' },
      ],
    };
    const chat = chatOf(folder, started, ended, { ...started, turnId: 'u', prompt: [] }, applied('t', 'file:///p/a'), applied('u', 'file:///p/a'), command);
    assert.deepEqual(filesOf(chat, 0), { 'file:///p/a': 'applied', 'file:///p/made%20here.txt': 'applied' });
    assert.deepEqual(filesOf(chat, 2), { 'file:///p/a': 'applied' }, 'a turn that was gone on with is one of its own');
    chat.take({
      seq: 8, at: 0, event: {
        type: 'checkpointRestored', direction: 'undo', turnIds: ['u'], files: [
          { uri: 'file:///p/a', path: 'a', outcome: { type: 'done' }, steps: [{ turnId: 'u' }] },
          { uri: 'file:///p/b', path: 'b', outcome: { type: 'left', reason: 'it was changed since' } },
        ],
      },
    });
    assert.deepEqual([filesOf(chat, 0), filesOf(chat, 2)], [{ 'file:///p/a': 'applied', 'file:///p/made%20here.txt': 'applied' }, { 'file:///p/a': 'undone' }]);
    const [news, restored] = chat.entries.filter((entry) => entry.kind === 'files');
    assert.ok(news?.kind === 'files' && restored?.kind === 'files');
    assert.equal(news.title, 'A command changed 2 files');
    assert.deepEqual(news.files.map(({ path, words, problem }) => [path, words, problem]), [
      ['big.bin', 'changed', 'cannot be undone: it is no text'], ['made here.txt', 'new', undefined],
    ]);
    assert.equal(restored.title, 'Undone: 1 file. Left as it is: 1.');
    assert.deepEqual(restored.files.map(({ path, words, problem }) => [path, words, problem]), [
      ['b', 'left as it is', 'it was changed since'], ['a', 'undone', undefined],
    ]);
  });

  it('takes a change of line ends for a change, though the text is the same', () => {
    const ran = (before: FileImage, after: FileImage): Event => ({ type: 'filesChanged', turnId: 't', toolCallId: 'c', files: [{ uri: 'file:///p/a', before, after }] });
    const [dos, unix]: FileImage[] = [{ hash: 'h', bytes: 'crlf' }, { hash: 'h' }];
    assert.ok(dos && unix);
    assert.deepEqual(filesOf(chatOf(folder, started, ran(dos, unix)), 0), { 'file:///p/a': 'applied' });
    assert.deepEqual(filesOf(chatOf(folder, started, ran(dos, unix), ran(unix, dos)), 0), {}, 'and back');
    assert.deepEqual(filesOf(chatOf(folder, started, ran(unix, { ...unix, executable: true })), 0), { 'file:///p/a': 'applied' });
    const edited: Event = { type: 'editApplied', proposalId: 'p', hunkIds: [], uri: 'file:///p/a', outcome: { type: 'verified' }, turnId: 't', before: 'g', after: 'h' };
    assert.deepEqual(filesOf(chatOf(folder, started, edited, ran(dos, unix), ran(unix, dos)), 0), { 'file:///p/a': 'applied' }, 'an edit before it stays one');
  });

  it('holds a proposal in conflict as open, for it can still be rejected', () => {
    const hunk: Hunk = { hunkId: 'x', toolCallIds: [], startLine: 0, oldText: 'a\n', newText: 'b\n', state: 'conflicted' };
    const proposal: Proposal = { proposalId: 'p', revision: 1, uri: 'file:///p/a', path: 'a', change: 'modify', hunks: [hunk] };
    const told = (state: HunkState): Event => ({ type: 'proposalChanged', proposal: { ...proposal, hunks: [{ ...hunk, state }] } });
    assert.equal(chatOf(told('conflicted')).open.proposed.length, 1);
    assert.equal(Chat.from(structuredClone(chatOf(told('conflicted')).snapshot(9))).open.proposed.length, 1);
    assert.equal(chatOf(told('conflicted'), told('rejected')).open.proposed.length, 0);
  });

  it('takes what a turn has changed back for no change', () => {
    const change = (before: string, after: string): Event =>
      ({ type: 'editApplied', proposalId: 'p', hunkIds: [], uri: 'file:///p/a', outcome: { type: 'verified' }, turnId: 't', before, after });
    assert.deepEqual(filesOf(chatOf(folder, started, change('a', 'b'), change('b', 'c')), 0), { 'file:///p/a': 'applied' });
    assert.deepEqual(filesOf(chatOf(folder, started, change('a', 'b'), change('b', 'a')), 0), {});
    assert.deepEqual(filesOf(chatOf(folder, started, change('a', 'b'), change('x', 'a')), 0), { 'file:///p/a': 'applied' }, 'somebody else was there');
  });

  it('takes what another program did for its own doing, and no turn’s', () => {
    const chat = chatOf(folder, started, { type: 'filesChanged', turnId: 't', files: [{ uri: 'file:///p/a', after: { hash: 'h' } }] });
    assert.deepEqual(filesOf(chat, 0), {});
    assert.ok(chat.entries[1]?.kind === 'files' && chat.entries[1].title === 'Another program changed 1 file');
  });

  it('takes no edit for made that was not, and knows an earlier turn that came later', () => {
    const events: Event[] = [folder, started, { ...ended }, { ...started, turnId: 'u' }, applied('u', 'file:///p/a')];
    const whole = chatOf(...events);
    const end = Chat.from(structuredClone(whole.snapshot(1)));
    const failed: Event = { type: 'editApplied', proposalId: 'p', hunkIds: [], uri: 'file:///p/b', outcome: { type: 'failed', reason: 'no' }, turnId: 'u' };
    end.take({ seq: 6, at: 0, event: failed });
    assert.deepEqual(filesOf(end, 0), { 'file:///p/a': 'applied' });
    assert.ok(end.takeEarlier(0, whole.entries.slice(0, 2)));
    end.take({ seq: 7, at: 0, event: applied('t', 'file:///p/c') });
    assert.deepEqual(filesOf(end, 0), { 'file:///p/c': 'applied' });
  });

  it('shows an edit while it is written, and not beside what it came to', () => {
    const piece = (text: string, path = 'a.rs', messageId = 'm1'): Event => ({ type: 'editDelta', messageId, toolCallId: 'c', path, text });
    const chat = chatOf(started, says('I edit.'), piece('@@ 1\n-o'), piece('ne\n'), piece('+b\n', 'b.rs'));
    assert.deepEqual(chat.entries.flatMap((entry) => (entry.kind === 'diff' ? [[entry.path, entry.text]] : [])), [['a.rs', '@@ 1\n-one\n'], ['b.rs', '+b\n']]);
    assert.equal(chat.doing, 'Editing b.rs');
    const copy = Chat.from(structuredClone(chat.snapshot(9)));
    for (const one of [chat, copy]) {
      one.take({ seq: 6, at: 0, event: completed('I edit.') });
      assert.deepEqual(kinds(one), ['prompt', 'answer']);
    }
    assert.deepEqual(kinds(chatOf(started, piece('+a\n'), { type: 'messageDiscarded', messageId: 'm1' })), ['prompt']);
    assert.deepEqual(kinds(chatOf(started, piece('+a\n'), piece('+a\n', 'a.rs', 'm2'), completed('Done.'))), ['prompt', 'diff', 'answer'], 'only its own');
    assert.deepEqual(kinds(chatOf(started, piece('+a\n'), ended)), ['prompt', 'end']);
  });

  it('says what a formatter did, and for how long edits are accepted automatically', () => {
    const formatted: Event = { type: 'formatted', uri: 'file:///p/src/a.rs', before: 'a', after: 'b', added: 2, removed: 1, turnId: 't', by: 'rustfmt' };
    const accepts = (on: boolean, scope: AutoScope): Event => ({ type: 'acceptEditsChanged', on, scope });
    const chat = chatOf(folder, started, accepts(false, 'session'), formatted, accepts(true, 'project'), accepts(false, 'project'), accepts(false, 'session'));
    assert.deepEqual(chat.entries.flatMap((entry) => (entry.kind === 'note' ? [entry.text] : [])), [
      'rustfmt formatted src/a.rs (+2 −1)', 'Edits are accepted automatically in every session of this project from here on.',
      'Edits wait for your review in every session of this project from here on.',
    ]);
    assert.deepEqual(filesOf(chat, 0), { 'file:///p/src/a.rs': 'applied' });
  });
});

describe('commands in the chat', () => {
  const info: TerminalInfo = {
    terminalId: 'shell-s', kind: 'shell', title: 'shell', cwd: '/', sandbox: 'full', alive: true, taken: false, startedAt: 0, end: 0,
  };
  const call = (toolCallId: string): Event =>
    ({ type: 'toolCallStarted', turnId: 't', toolCallId, name: 'shell_run', kind: 'execute', title: `Running ${toolCallId}`, input: {}, locations: [] });
  const begins = (toolCallId: string, terminalId = 'shell-s'): Event => ({ type: 'terminalStarted', terminalId, toolCallId, command: toolCallId, cwd: '/', offset: 0 });
  const runs = (toolCallId: string, more: Partial<TerminalInfo> = {}): Event =>
    ({ type: 'terminalChanged', terminal: { ...info, running: { toolCallId, command: toolCallId, startedAt: 0 }, ...more } });
  const over = (toolCallId: string): Event => ({ type: 'terminalEnded', terminalId: 'shell-s', toolCallId, offset: 1, exitCode: 0 });
  const waiting: Waiting = { certainty: 'certain', prompt: 'name? ', hidden: false };
  const ran = (chat: Chat, key: string): ToolEntry | OwnEntry => {
    const entry = chat.entries.find((one) => one.key === key);
    assert.ok(entry?.kind === 'tool' || entry?.kind === 'own');
    return entry;
  };

  it('tells the call whose command waits, and the prompt bar that it does', () => {
    const chat = chatOf(started, call('a'), begins('a'), runs('a', { waiting }));
    assert.deepEqual(ran(chat, 'ta').live?.waiting, waiting);
    assert.equal(chat.doing, 'Running a: waits for input');
    chat.take({ seq: 5, at: 0, event: runs('a') });
    assert.equal(ran(chat, 'ta').live?.waiting, undefined);
    assert.equal(chat.doing, 'Running a');
  });

  it('shows the terminal with the command that runs in it, and not with those before', () => {
    const chat = chatOf(started, call('a'), begins('a'), runs('a'), over('a'), call('b'), begins('b'), runs('b', { taken: true }));
    assert.equal(ran(chat, 'ta').live, undefined);
    assert.equal(ran(chat, 'ta').terminal, 'shell-s');
    assert.equal(ran(chat, 'tb').live?.taken, true);
  });

  it('keeps a job with its call, also after its end', () => {
    const job: TerminalInfo = { ...info, terminalId: 'job-1', kind: 'job', title: 'serve' };
    const chat = chatOf(started, call('a'), begins('a', 'job-1'), { type: 'terminalChanged', terminal: job }, call('b'), begins('b'), runs('b'),
      { type: 'terminalChanged', terminal: { ...job, alive: false, endedAt: 5, exitCode: 1 } });
    assert.deepEqual([ran(chat, 'ta').live?.alive, ran(chat, 'ta').live?.exitCode], [false, 1]);
  });

  it('goes on in a window that is loaded again, with the terminals as they are', () => {
    const first = chatOf(started, call('a'), begins('a'), runs('a', { waiting }));
    const chat = Chat.from(first.snapshot(10));
    assert.deepEqual(ran(chat, 'ta').live?.waiting, waiting);
    chat.take({ seq: 5, at: 0, event: runs('a', { taken: true }) });
    assert.equal(ran(chat, 'ta').live?.taken, true);
    chat.correct([]);
    assert.equal(ran(chat, 'ta').live, undefined, 'it ended with its server');
    assert.equal(chat.terminals.get('shell-s')?.alive, false);
  });

  it('says who typed what, and nothing of what was not shown', () => {
    const typed = (by: 'user' | 'model', text: string, hidden = false): Event => ({ type: 'terminalInput', terminalId: 'shell-s', toolCallId: 'a', by, text, hidden });
    const chat = chatOf(started, call('a'), begins('a'), typed('model', 'yes'), typed('user', '', true));
    assert.deepEqual(ran(chat, 'ta').typed, [{ by: 'model', text: 'yes', hidden: false }, { by: 'user', text: '', hidden: true }]);
  });

  it('holds the user’s own commands with what they printed, and recalls them', () => {
    const chat = chatOf({ type: 'userCommandStarted', toolCallId: 'u', command: 'ls', inContext: false }, begins('u'), runs('u'));
    assert.deepEqual([ran(chat, 'tu').state, ran(chat, 'tu').live?.terminalId, chat.runsOwn], ['running', 'shell-s', true]);
    chat.take({ seq: 4, at: 0, event: over('u') });
    chat.take({ seq: 5, at: 0, event: { type: 'userCommandEnded', toolCallId: 'u', text: 'a\nb\n', exitCode: 0, durationMs: 5 } });
    const own = ran(chat, 'tu');
    assert.deepEqual([own.state, own.result, own.live, chat.runsOwn], ['done', 'a\nb\n', undefined, false]);
    assert.deepEqual(chat.history, ['!!ls']);
  });
});
