// The part of a session that the chat shows, as a fold of its events. Pure: the host folds a session that is opened and
// hands over its end, and the webview goes on from there. State that the editor around it shows too is not derived here
// again: `session/fold.ts` gives it.

import type {
  AutoScope, Direction, Event, FileImage, MessageId, PermissionId, PermissionOutcome, PermissionRequest, PlanEntry, PromptBlock, Proposal,
  QueueId, RestoreStep, SequencedEvent, TerminalInfo, ToolCallId, TurnId,
} from '../generated/protocol';
import { type AcceptEdits, type Asked, asked, begin, type Fill, fold, type Groups, openProposals, type SessionState, spoken } from '../session/fold';
import { corrected, waitingInWords, type Terminals } from '../terminal/state';
import { autoInWords, changedFiles, formattedInWords, restoredFiles, switchInWords, type FileNews } from './news';
import { type HandoverEntry, handoverOf, settle, takeBack } from './handover';
import { isSame, textOnly, whole } from './images';
import { answerKey, promptKey } from './keys';
import { Commands, fresh, type OwnEntry, type ToolEntry } from './ran';
import { type PromptEntry, textOf } from './said';
import { asking, BEGUN, delegating, type EndEntry, endOf, type OfTurn } from './used';
import { endsWait, type Retrying, retryInWords, untilOf, type Wait, waitOf } from './wait';

/** Something that stands in the transcript. `key` stays, `version` grows with every change of it. */
export type Entry = { key: string; version: number } & (
  | PromptEntry
  | { kind: 'answer'; text: string; thinking: string; done: boolean }
  | DiffEntry
  | ToolEntry
  | OwnEntry
  | { kind: 'files' } & FileNews
  | { kind: 'plan'; steps: PlanEntry[]; current: boolean }
  | { kind: 'question'; request: PermissionRequest; outcome: PermissionOutcome | undefined; until?: number }
  | { kind: 'note'; tone: 'info' | 'warning' | 'error'; text: string }
  | { kind: 'command'; command: string; message: string; isError: boolean }
  | HandoverEntry
  | EndEntry
);

/** The diff that an edit comes to, while the call for it still arrives. */
export interface DiffEntry {
  kind: 'diff';
  messageId: MessageId;
  path: string;
  /** Lines that begin with a space, `-`, `+` or `@`; the last one may be unfinished. */
  text: string;
}

/** A chat as it stands, with the last of its entries. It can be sent. */
export interface ChatSnapshot {
  entries: Entry[];
  /** How many entries stand before these. */
  earlier: number;
  /** The proposals that wait for a decision. */
  proposals: Proposal[];
  queue: [QueueId, PromptBlock[]][];
  title: string;
  /** The session's own model, and that of the running turn. */
  models: { own: Asked; turn: Asked | undefined };
  scripted: boolean;
  cost: number;
  context: Fill | undefined;
  runningTurn: TurnId | undefined;
  turnModel: string;
  doing: string;
  waits: Wait | undefined;
  lastSeq: number;
  /** The texts that were said before the first of `entries`, last first. */
  saidBefore: string[];
  /** The models of which it was said that their price is not known. */
  unpriced: string[];
  /** The usage of the last turn that its end does not tell. */
  ofTurn: OfTurn;
  /** The session's folders, as URIs. */
  folders: string[];
  acceptEdits: AcceptEdits | undefined;
  terminals: TerminalInfo[];
}

/** So many earlier prompts can be recalled. */
const RECALL = 200;

/** The fold. Entries are changed in place; `takeChanged` tells which. */
export class Chat {
  readonly entries: Entry[] = [];
  /** How many entries stand before `entries`. */
  earlier = 0;
  /** The state of the session, which the editor around the chat shows too. */
  session: SessionState = begin();
  /** The prompts that wait, first to go first. */
  readonly queue = new Map<QueueId, PromptBlock[]>();
  /** The model of the last turn. Another may be chosen for the next one. */
  turnModel = '';
  /** The words for what the running turn is doing. */
  doing = '';
  waits: Wait | undefined;
  folders: string[] = [];

  private readonly byKey = new Map<string, Entry>();
  private readonly commands = new Commands((callId) => this.ran(callId), (ran) => this.touch(ran as Entry));
  /** The words that began turns. */
  private readonly byTurn = new Map<TurnId, Entry & PromptEntry>();
  private readonly diffs = new Set<Entry & DiffEntry>();
  private readonly unpriced = new Set<string>();
  private saidBefore: string[] = [];
  private ofTurn = BEGUN;
  private changed = new Set<Entry>();

  /** True if nothing was said. A mere note does not count. */
  get isEmpty(): boolean {
    return this.earlier === 0 && this.queue.size === 0 && this.entries.every((entry) => entry.kind === 'note');
  }

  /** A chat from all events of its session. */
  static of(events: readonly SequencedEvent[]): Chat {
    const chat = new Chat();
    for (const event of events) chat.take(event);
    return chat;
  }

  /** A chat that goes on from where another one stood. */
  static from(snapshot: ChatSnapshot): Chat {
    const { entries, earlier, queue, turnModel, doing, waits, folders, saidBefore, unpriced, ofTurn } = snapshot;
    const { title, models, scripted, cost, context, runningTurn, lastSeq, acceptEdits } = snapshot;
    const chat = new Chat();
    const proposals = new Map(snapshot.proposals.map((proposal) => [proposal.proposalId, proposal]));
    const terminals = new Map(snapshot.terminals.map((terminal) => [terminal.terminalId, terminal]));
    chat.session = { ...chat.session, ...models.own, turnModel: models.turn, title, scripted, cost, context, runningTurn, lastSeq, acceptEdits, proposals, terminals };
    Object.assign(chat, { earlier, turnModel, doing, waits, folders, ofTurn });
    chat.saidBefore = saidBefore;
    chat.prepend(entries, terminals);
    for (const [queueId, blocks] of queue) chat.queue.set(queueId, blocks);
    for (const known of unpriced) chat.unpriced.add(known);
    return chat;
  }

  /** Takes the next event. One that was seen already, or is not known, changes nothing. */
  take(sequenced: SequencedEvent): void {
    const before = this.session;
    this.session = fold(before, sequenced);
    if (this.session === before) return;
    if (endsWait(sequenced.event)) this.waits = undefined;
    this.apply(sequenced, before);
    this.commands.take(sequenced.event, this.terminals);
  }

  /** Takes the terminals as the server lists them: what ended with a server is in no event. */
  correct(list: readonly TerminalInfo[]): void {
    this.session = { ...this.session, terminals: corrected(this.terminals, list) };
    this.commands.become(this.terminals);
  }

  get terminals(): Terminals {
    return this.session.terminals;
  }

  get title(): string {
    return this.session.title;
  }

  /** The id of the model that is asked now; empty if it is not known. */
  get model(): string {
    return asked(this.session).model ?? '';
  }

  get cost(): number {
    return this.session.cost;
  }

  get runningTurn(): TurnId | undefined {
    return this.session.runningTurn;
  }

  get lastSeq(): number {
    return this.session.lastSeq;
  }

  /** This chat with its last entries: `count` of them, and more where a question among the earlier ones waits. */
  snapshot(count: number): ChatSnapshot {
    const question = this.entries.findIndex((entry) => entry.kind === 'question' && !entry.outcome);
    const tail = Math.max(0, this.entries.length - count);
    const from = question >= 0 ? Math.min(question, tail) : tail;
    const { open, queue, turnModel, doing, waits, folders, ofTurn } = this;
    const { title, model, thinking, turnModel: turn, scripted, cost, context, runningTurn, lastSeq, acceptEdits } = this.session;
    return {
      entries: this.entries.slice(from),
      earlier: from,
      proposals: [...open.proposed, ...open.landed],
      queue: [...queue],
      title, models: { own: { model, thinking }, turn }, scripted, cost, context, runningTurn, turnModel, doing, waits, lastSeq, folders, acceptEdits,
      saidBefore: saidIn(this.entries.slice(0, from)).slice(0, RECALL),
      unpriced: [...this.unpriced], ofTurn,
      terminals: [...this.terminals.values()],
    };
  }

  /** Takes earlier entries, of which the first has this number. False where they do not fit before those that are here. */
  takeEarlier(from: number, entries: readonly Entry[]): boolean {
    if (from + entries.length !== this.earlier) return false;
    this.earlier = from;
    this.prepend(entries);
    return true;
  }

  private prepend(entries: readonly Entry[], terminals?: Terminals): void {
    this.entries.unshift(...entries);
    for (const entry of entries) this.know(entry);
    this.commands.know(entries.filter((entry) => entry.kind === 'tool' || entry.kind === 'own'), terminals);
  }

  private know(entry: Entry): void {
    this.byKey.set(entry.key, entry);
    if (entry.kind === 'prompt' && entry.turnId !== undefined) this.byTurn.set(entry.turnId, entry);
    if (entry.kind === 'diff') this.diffs.add(entry);
  }

  /** The entries that are new or changed since this was last asked, in no order. */
  takeChanged(): Set<Entry> {
    const { changed } = this;
    this.changed = new Set();
    return changed;
  }

  /** The questions without an answer, first asked first. */
  get questions(): PermissionRequest[] {
    return this.entries.flatMap((entry) => (entry.kind === 'question' && !entry.outcome ? [entry.request] : []));
  }

  /** True if a user command runs. */
  get runsOwn(): boolean {
    return this.entries.findLast((entry) => entry.kind === 'own')?.state === 'running';
  }

  /** The proposals with a hunk that is not decided. */
  get open(): Groups {
    return openProposals(this.session.proposals.values());
  }

  /** The texts that were said in this session, last first. */
  get history(): string[] {
    return [...new Set([...saidIn(this.entries), ...this.saidBefore])];
  }

  private apply({ seq, at, event }: SequencedEvent, before: SessionState): void {
    switch (event.type) {
      case 'sessionStarted':
        this.folders = event.folders;
        break;
      case 'turnStarted':
        this.turnModel = event.model;
        this.ofTurn = BEGUN;
        this.doing = 'Thinking';
        // The command that asked for it stands there already.
        if (event.compacts === true) break;
        this.add(promptKey(seq), {
          kind: 'prompt', blocks: event.prompt, said: event.prompt.length > 0 ? 'prompt' : 'continue', turnId: event.turnId, files: {},
        });
        break;
      case 'steered':
        this.add(promptKey(seq), { kind: 'prompt', blocks: event.prompt, said: 'steer', files: {} });
        break;
      case 'promptQueued':
        this.queue.set(event.queueId, event.prompt);
        break;
      case 'promptDequeued':
        this.queue.delete(event.queueId);
        break;
      case 'messageDelta':
        this.answer(event.messageId, (answer) => (answer.text += event.text));
        this.doing = 'Answering';
        break;
      case 'thinkingDelta':
        this.answer(event.messageId, (answer) => (answer.thinking += event.text));
        this.doing = 'Thinking';
        break;
      case 'editDelta':
        this.diff(event);
        this.doing = `Editing ${event.path}`;
        break;
      case 'requestPaid':
        this.ofTurn = asking(this.ofTurn, this.turnModel, event);
        break;
      case 'messageCompleted': {
        this.ofTurn = asking(this.ofTurn, this.turnModel, event);
        this.dropDiffs(event.messageId);
        const said = event.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n');
        const thought = event.content.flatMap((block) => (block.type === 'thinking' ? [block.text] : [])).join('\n\n');
        if (said.trim() === '' && thought.trim() === '') {
          this.drop(event.messageId);
          break;
        }
        this.answer(event.messageId, (answer) => {
          answer.text = said;
          answer.thinking = thought;
          answer.done = true;
        });
        break;
      }
      case 'messageDiscarded':
        this.dropDiffs(event.messageId);
        this.drop(event.messageId);
        break;
      case 'retrying':
        this.retrying(seq, at, event);
        break;
      case 'turnModelChanged':
        this.turnModel = event.model;
        this.doing = 'Thinking';
        this.note(seq, 'warning', switchInWords(event));
        break;
      case 'planUpdated':
        this.planned(event.turnId, event.entries);
        break;
      case 'toolCallStarted':
        this.doing = event.title;
        // A plan shows itself.
        if (event.name === 'update_plan') break;
        this.add(`t${event.toolCallId}`, {
          kind: 'tool', ...fresh(event.toolCallId), name: event.name, title: event.title, summary: '', locations: event.locations,
        });
        break;
      case 'toolCallEnded':
        this.tool(event.result.toolCallId, (tool) => {
          tool.state = event.result.isError ? 'failed' : 'done';
          tool.summary = event.summary;
          tool.result = event.result.text;
          tool.milliseconds = event.durationMs;
          if (event.locations.length > 0) tool.locations = event.locations;
        });
        this.doing = 'Thinking';
        break;
      case 'childWorked':
        this.childWorked(event);
        break;
      case 'terminalChanged': {
        const { running, waiting } = event.terminal;
        const ran = running && this.ran(running.toolCallId);
        if (ran?.kind === 'tool' && ran.state === 'running') this.doing = waiting === undefined ? ran.title : `${ran.title}: ${waitingInWords(waiting)}`;
        break;
      }
      case 'userCommandStarted':
        this.add(`t${event.toolCallId}`, {
          kind: 'own', ...fresh(event.toolCallId), command: event.command, inContext: event.inContext, exitCode: undefined,
        });
        break;
      case 'userCommandEnded':
        this.own(event);
        break;
      case 'permissionAsked':
        this.doing = `Waiting for you: ${event.request.title}`;
        this.add(`q${event.request.permissionId}`, { kind: 'question', request: event.request, outcome: undefined, ...untilOf(event.request, at) });
        break;
      case 'permissionAnswered':
        this.answered(event.permissionId, event.outcome);
        break;
      case 'permissionJudged':
        if (!event.allowed) this.note(seq, 'warning', `Not allowed: ${event.reason}`);
        break;
      case 'editApplied':
        if (event.outcome.type === 'failed') this.note(seq, 'error', `An edit was not made: ${event.outcome.reason}`);
        else this.changedBy(event.turnId, event.uri, textOnly(event.before), textOnly(event.after));
        break;
      case 'formatted':
        this.note(seq, 'info', formattedInWords(event, this.folders));
        this.changedBy(event.turnId, event.uri, textOnly(event.before), textOnly(event.after));
        break;
      case 'filesChanged':
        // A change by another program is not the turn's, and is not taken back with it.
        for (const { uri, before, after, unknown } of event.toolCallId === undefined ? [] : event.files) {
          if (unknown === undefined) this.changedBy(event.turnId, uri, whole(before), whole(after));
        }
        this.add(`f${seq}`, { kind: 'files', ...changedFiles(event, this.folders) });
        break;
      case 'checkpointRestored':
        for (const { uri, steps } of event.files) for (const step of steps ?? []) this.restored(event.direction, uri, step);
        this.add(`f${seq}`, { kind: 'files', ...restoredFiles(event) });
        break;
      case 'acceptEditsChanged':
        if (scopeOf(this.session) !== scopeOf(before)) this.note(seq, 'info', autoInWords(event));
        break;
      case 'commandExecuted':
        this.add(`c${seq}`, {
          kind: 'command', command: event.command, message: event.message, isError: event.isError,
        });
        break;
      case 'compacting':
        this.doing = 'Writing a handover';
        break;
      case 'compacted':
        this.doing = 'Thinking';
        this.add(`h${event.compaction.compactionId}`, handoverOf(event.compaction));
        settle(this.entries).forEach((entry) => this.touch(entry));
        break;
      case 'compactionCorrected': {
        const entry = this.byKey.get(`h${event.compactionId}`);
        if (entry?.kind !== 'handover') break;
        Object.assign(entry, { written: event.written, corrected: true });
        this.touch(entry);
        break;
      }
      case 'compactionTakenBack':
        takeBack(this.entries, event.compactionId);
        settle(this.entries).forEach((entry) => this.touch(entry));
        break;
      case 'turnEnded':
        this.ended(seq, event);
        break;
      // Nothing of these stands in the transcript: they are in the session's state, or in the terminals of `Commands`.
      case 'titleChanged':
      case 'modelChanged':
      case 'modeChanged':
      case 'proposalChanged':
      case 'sideAsked':
      case 'contextUsed':
      case 'terminalStarted':
      case 'terminalEnded':
      case 'terminalInput':
      // A decision shows in the proposal; the others are for the model, or for undo.
      case 'reviewDecided':
      case 'noted':
      case 'contextTrimmed':
      // The question that follows says why.
      case 'compactionFailed':
        break;
      default: {
        const words = spoken(event);
        if (words !== undefined) this.note(seq, words.severity, words.text);
      }
    }
  }

  private ended(seq: number, event: Extract<Event, { type: 'turnEnded' }>): void {
    this.doing = '';
    this.dropDiffs();
    for (const entry of this.entries.slice(-200)) {
      const open = (entry.kind === 'answer' && !entry.done) || (entry.kind === 'tool' && entry.state === 'running');
      if (!open) continue;
      if (entry.kind === 'answer') entry.done = true;
      if (entry.kind === 'tool') {
        entry.state = 'failed';
        entry.summary ||= 'interrupted';
      }
      this.touch(entry);
    }
    const end = endOf(event, this.ofTurn, this.turnModel, this.unpriced);
    end.unpriced?.forEach((model) => this.unpriced.add(model));
    this.add(`e${seq}`, end);
  }

  private childWorked(event: Extract<Event, { type: 'childWorked' }>): void {
    const { toolCallId, child: sessionId, model, rounds, doing } = event;
    // A late event is of no other turn.
    if (event.turnId === this.runningTurn) this.ofTurn = delegating(this.ofTurn, event);
    this.tool(toolCallId, (tool) => {
      tool.child = { sessionId, model, rounds, doing };
      if (tool.state === 'running') this.doing = `${model}: ${doing ?? 'Thinking'}`;
    });
  }

  private retrying(seq: number, at: number, event: Retrying): void {
    const waited = this.waits !== undefined;
    this.waits = waitOf(event, at);
    this.doing = 'Asking the model again';
    // If the user ended the wait, the reason stands there already.
    if (!waited || this.waits !== undefined) this.note(seq, 'warning', retryInWords(event));
  }

  private planned(turnId: TurnId, steps: PlanEntry[]): void {
    const entry = this.byKey.get(`l${turnId}`) ?? this.add(`l${turnId}`, { kind: 'plan', steps, current: false });
    for (const plan of this.entries.filter((it) => it.kind === 'plan')) {
      if (plan !== entry && !plan.current) continue;
      plan.current = plan === entry;
      this.touch(plan);
    }
    if (entry.kind === 'plan') entry.steps = steps;
  }

  private answered(id: PermissionId, outcome: PermissionOutcome): void {
    const entry = this.byKey.get(`q${id}`);
    if (entry?.kind !== 'question') return;
    entry.outcome = outcome;
    this.touch(entry);
  }

  private answer(id: MessageId, change: (answer: Extract<Entry, { kind: 'answer' }>) => void): void {
    let entry = this.byKey.get(answerKey(id));
    entry ??= this.add(answerKey(id), { kind: 'answer', text: '', thinking: '', done: false });
    if (entry.kind !== 'answer') return;
    change(entry);
    this.touch(entry);
  }

  private tool(id: ToolCallId, change: (tool: ToolEntry) => void): void {
    const entry = this.byKey.get(`t${id}`);
    if (entry?.kind !== 'tool') return;
    change(entry);
    this.touch(entry);
  }

  /** The call of a tool, or the user's own command, with this id. */
  private ran(id: ToolCallId): (ToolEntry | OwnEntry) | undefined {
    const entry = this.byKey.get(`t${id}`);
    return entry?.kind === 'tool' || entry?.kind === 'own' ? entry : undefined;
  }

  private own({ toolCallId, text, exitCode, durationMs }: Extract<Event, { type: 'userCommandEnded' }>): void {
    const entry = this.byKey.get(`t${toolCallId}`);
    if (entry?.kind !== 'own') return;
    entry.state = exitCode === 0 ? 'done' : 'failed';
    entry.result = text;
    entry.exitCode = exitCode;
    entry.milliseconds = durationMs;
    this.touch(entry);
  }

  private note(seq: number, tone: 'info' | 'warning' | 'error', text: string): void {
    this.add(`n${seq}`, { kind: 'note', tone, text });
  }

  /** A turn changed a file. What it has changed back is no change. */
  private changedBy(turnId: TurnId | undefined, uri: string, before: FileImage | undefined, after: FileImage | undefined): void {
    const entry = turnId === undefined ? undefined : this.byTurn.get(turnId);
    if (entry === undefined) return;
    const known = entry.files[uri];
    const first = known !== undefined && !known.undone && isSame(known.after, before) ? known.before : before;
    entry.files[uri] = isSame(first, after) ? undefined : { before: first, after, undone: false };
    this.touch(entry);
  }

  /** A turn's change of a file was undone or redone. Its images are then those that the file really had. */
  private restored(direction: Direction, uri: string, { turnId, from, to }: RestoreStep): void {
    const entry = this.byTurn.get(turnId);
    if (entry === undefined) return;
    const undone = direction === 'undo';
    const [before, after] = undone ? [to, from] : [from, to];
    entry.files[uri] = { before, after, undone };
    this.touch(entry);
  }

  private diff({ messageId, toolCallId, path, text }: Extract<Event, { type: 'editDelta' }>): void {
    const key = `d${messageId}/${toolCallId}/${path}`;
    const entry = this.byKey.get(key) ?? this.add(key, { kind: 'diff', messageId, path, text: '' });
    if (entry.kind !== 'diff') return;
    entry.text += text;
    this.touch(entry);
  }

  /** The diffs of a message are void: its calls and their hunks stand for them. Without a message, all are. */
  private dropDiffs(id?: MessageId): void {
    for (const entry of this.diffs) {
      if (id !== undefined && entry.messageId !== id) continue;
      this.diffs.delete(entry);
      this.remove(entry);
    }
  }

  private drop(id: MessageId): void {
    const entry = this.byKey.get(answerKey(id));
    if (entry?.kind === 'answer') this.remove(entry);
  }

  private remove(entry: Entry): void {
    this.byKey.delete(entry.key);
    const at = this.entries.lastIndexOf(entry);
    if (at >= 0) this.entries.splice(at, 1);
    this.touch(entry);
  }

  private add(key: string, content: EntryContent): Entry {
    const entry: Entry = { key, version: 0, ...content };
    this.entries.push(entry);
    this.know(entry);
    this.touch(entry);
    return entry;
  }

  private touch(entry: Entry): void {
    entry.version += 1;
    this.changed.add(entry);
  }
}

type EntryContent = Entry extends infer E ? (E extends Entry ? Omit<E, 'key' | 'version'> : never) : never;

/** For how long edits are accepted automatically, if they are. */
function scopeOf({ acceptEdits }: SessionState): AutoScope | undefined {
  return acceptEdits?.on === true ? acceptEdits.scope : undefined;
}

/** The texts that the user said in these entries, last first, each once. */
function saidIn(entries: readonly Entry[]): string[] {
  const texts = entries.flatMap((entry) => {
    if (entry.kind === 'own') return [`${entry.inContext ? '!' : '!!'}${entry.command}`];
    return entry.kind === 'prompt' ? [textOf(entry.blocks)] : [];
  });
  return [...new Set(texts.filter((text) => text !== '').reverse())];
}
