// The session that is shown: made or opened, followed, and opened again after the server was away.

import * as vscode from 'vscode';
import { modes } from '../generated/modes';
import type {
  AutoScope, Decision, DecisionTarget, FormAnswer, HunkId, Mode, PlanEntry, PromptBlock, ProposalId, QueueId, Requests, SequencedEvent, SessionId, SessionInfo,
  SessionOpenResult, TerminalInfo, TurnId,
} from '../generated/protocol';
import { isError, messageOf, type Method } from '../server/requests';
import type { Server } from '../server/server';
import { corrected, type Terminals } from '../terminal/state';
import { decideIn } from './decide';
import { begin, compact, fold, isDelta, type SessionState } from './fold';

/** Where the id of the session that was last shown in this workspace is kept. */
const LAST = 'azimuth.session';

/** The events of a session that came together, and the state after them. */
export interface Step {
  sessionId: SessionId;
  events: SequencedEvent[];
  before: SessionState;
  after: SessionState;
}

/** One session at a time. */
export class Session implements vscode.Disposable {
  private readonly switched = new vscode.EventEmitter<void>();
  private readonly stepped = new vscode.EventEmitter<Step>();
  private readonly terminalsChanged = new vscode.EventEmitter<{ corrected: boolean }>();
  private readonly subscriptions: vscode.Disposable[];
  private shown: Shown | undefined;
  /** The events that come while a session is being opened: its first ones may come before the answer. */
  private early: { sessionId: SessionId; event: SequencedEvent }[] | undefined;
  private waiting: SequencedEvent[] = [];
  /** The last opening. */
  private turn: Promise<unknown> = Promise.resolve();

  private chosenMode: Mode | undefined;
  private readonly modeChosen = new vscode.EventEmitter<void>();

  /** Another mode was chosen for the next turn. */
  readonly onMode = this.modeChosen.event;
  /** Another session is shown, or none. */
  readonly onSwitch = this.switched.event;
  /** Something happened in it. */
  readonly onStep = this.stepped.event;
  /** Its terminals have changed; `corrected` where no event says so. */
  readonly onTerminals = this.terminalsChanged.event;

  constructor(private readonly server: Server, private readonly memory: vscode.Memento) {
    this.subscriptions = [
      server.onEvent(({ sessionId, ...event }) => this.take(sessionId, event)),
      server.onState((state) => (state.state === 'running' ? void this.restore() : undefined)),
      this.switched,
      this.stepped,
      this.modeChosen,
      this.terminalsChanged,
    ];
  }

  /** The state of the session, if there is one. */
  get state(): SessionState | undefined {
    return this.shown?.state;
  }

  get id(): SessionId | undefined {
    return this.shown?.info.sessionId;
  }

  /** The mode of the next turn. In an untrusted workspace there is only one. */
  get mode(): Mode {
    return vscode.workspace.isTrusted ? (this.chosenMode ?? this.state?.mode ?? 'agent') : 'ask';
  }

  /** Sets the mode of the next turns. For `bypass` the server wants to know that the user has confirmed it, and says why. */
  async setMode(mode: Mode, confirmed = false): Promise<void> {
    // Without a session it is for the one to come; only what has to be confirmed needs one at once.
    if (this.id === undefined && !modes[mode].needsConfirmation) {
      this.chosenMode = mode;
    } else {
      await this.server.request('azimuth/session/mode', { sessionId: await this.some(), mode, confirmed });
      this.chosenMode = undefined;
    }
    this.modeChosen.fire();
  }

  /** For how long edits are accepted automatically; undefined if they wait for a review. */
  get accepts(): AutoScope | undefined {
    const said = this.state?.acceptEdits;
    if (said === undefined) return vscode.workspace.getConfiguration('azimuth').get<boolean>('acceptEdits', false) ? 'session' : undefined;
    return said.on ? said.scope : undefined;
  }

  get terminals(): Terminals {
    return this.state?.terminals ?? new Map<string, TerminalInfo>();
  }

  get info(): SessionInfo | undefined {
    return this.shown?.info;
  }

  /** The events of the session so far, as `onStep` told them. */
  get events(): readonly SequencedEvent[] {
    this.flush();
    return this.shown?.events ?? [];
  }

  /** A new session in place of the one that is shown. */
  async make(): Promise<void> {
    await this.alone(() => this.makeOne());
  }

  /** Shows another session. */
  async open(sessionId: SessionId): Promise<void> {
    if (sessionId !== this.id) await this.alone(() => this.openOne(sessionId));
  }

  async list(): Promise<SessionInfo[]> {
    return (await this.server.request('azimuth/session/list', {})).sessions;
  }

  async rename(sessionId: SessionId, title: string): Promise<void> {
    await this.server.request('azimuth/session/rename', { sessionId, title });
  }

  async delete(sessionId: SessionId): Promise<void> {
    await this.server.request('azimuth/session/delete', { sessionId });
    if (sessionId === this.id) this.show(undefined);
  }

  /** Starts a turn; makes the session where there is none. An empty prompt goes on with a turn that broke off. */
  async prompt(prompt: PromptBlock[]): Promise<void> {
    const sessionId = await this.some();
    const own = this.chosenMode === undefined && vscode.workspace.isTrusted;
    const { switchTo } = await this.server.request('azimuth/turn/start', { sessionId, prompt, ...(own ? {} : { mode: this.mode }) });
    // From here on the session itself knows it.
    this.chosenMode = undefined;
    if (switchTo !== undefined) await this.open(switchTo);
  }

  /** As `prompt`, or after the turn that runs. */
  async give(prompt: PromptBlock[]): Promise<void> {
    if (this.state?.runningTurn !== undefined) return this.enqueue(prompt);
    try {
      await this.prompt(prompt);
    } catch (error) {
      // One began meanwhile, perhaps in another window.
      if (!isError(error, 'turnRunning')) throw error;
      await this.enqueue(prompt);
    }
  }

  async steer(expectedTurnId: TurnId, prompt: PromptBlock[]): Promise<void> {
    await this.own('azimuth/turn/steer', (sessionId) => ({ sessionId, expectedTurnId, prompt }));
  }

  async enqueue(prompt: PromptBlock[]): Promise<void> {
    // A waiting prompt begins in the session's own mode, which may be another than the only one here.
    if (!vscode.workspace.isTrusted) throw new Error('This workspace is not trusted, so nothing can wait here: send it when the turn has ended.');
    const sessionId = await this.some();
    await this.server.request('azimuth/turn/queue', { type: 'add', sessionId, prompt });
  }

  /** Breaks off what runs, and begins with this prompt. */
  async now(prompt: PromptBlock[]): Promise<void> {
    if (this.state?.runningTurn === undefined) return this.prompt(prompt);
    if (!vscode.workspace.isTrusted) throw new Error('This workspace is not trusted, so nothing can wait here: stop the turn, then send it.');
    await this.own('azimuth/turn/queue', (sessionId) => ({ type: 'now', sessionId, prompt }));
  }

  /** Lets a waiting prompt go before the others. */
  async goesFirst(queueId: QueueId): Promise<void> {
    await this.own('azimuth/turn/queue', (sessionId) => ({ type: 'move', sessionId, queueId, to: 0 }));
  }

  /** Sets the steps of the plan, of which the model is told. */
  async plan(entries: PlanEntry[]): Promise<void> {
    await this.own('azimuth/turn/plan', (sessionId) => ({ sessionId, entries }));
  }

  async dequeue(queueId: QueueId): Promise<void> {
    await this.own('azimuth/turn/queue', (sessionId) => ({ type: 'remove', sessionId, queueId }));
  }

  async cancel(turnId?: TurnId): Promise<void> {
    await this.own('azimuth/turn/cancel', (sessionId) => ({ sessionId, ...(turnId === undefined ? {} : { turnId }) }));
  }

  /** Has the turn that waits after a request that failed ask the model again now. */
  async retry(turnId?: TurnId): Promise<void> {
    await this.own('azimuth/turn/retry', (sessionId) => ({ sessionId, ...(turnId === undefined ? {} : { turnId }) }));
  }

  /** Answers a question. False where it had been answered already. */
  async answer(permissionId: string, optionId: string, message?: string, answers?: FormAnswer[]): Promise<boolean> {
    // The same holds for a turn that goes on with the answer.
    if (!vscode.workspace.isTrusted && this.state?.runningTurn === undefined) {
      throw new Error('This workspace is not trusted, so an interrupted turn does not continue here: trust it first, or ask again.');
    }
    const word = { ...(message === undefined || message === '' ? {} : { message }), ...(answers === undefined ? {} : { answers }) };
    const result = await this.own('azimuth/permission/answer', (sessionId) => ({ sessionId, permissionId, optionId, ...word }));
    return result?.accepted ?? false;
  }

  /** Accepts or rejects hunks, of the revisions that the user saw. */
  async decide(decision: Decision, targets: DecisionTarget[], message?: string): Promise<void> {
    if (targets.length === 0 || this.id === undefined) return;
    await decideIn((method, params) => this.server.request(method, params), this.id, decision, targets, message);
  }

  /** Says something of a hunk to the model, which decides nothing. */
  async comment(sessionId: SessionId, proposalId: ProposalId, hunkId: HunkId, text: string): Promise<void> {
    await this.server.request('azimuth/review/comment', { sessionId, proposalId, hunkId, text });
  }

  /** Has edits accepted automatically, or no longer. */
  async setAcceptEdits(on: boolean, scope: AutoScope): Promise<void> {
    await this.server.request('azimuth/review/auto', { sessionId: await this.some(), on, scope });
  }

  /** The session's id; a new session where there is none. */
  async some(): Promise<SessionId> {
    if (this.id === undefined) await this.alone(() => (this.id === undefined ? this.makeOne() : Promise.resolve()));
    if (this.id === undefined) throw new Error('There is no session.');
    return this.id;
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private async makeOne(): Promise<void> {
    if ((vscode.workspace.workspaceFolders ?? []).length === 0) {
      throw new Error('This window has no folder, and Azimuth works in one: open a folder ("File: Open Folder…") and send it again.');
    }
    const { session } = await this.server.request('azimuth/session/new', { mode: this.mode });
    await this.leave();
    this.show({ session, events: [], queue: [] });
  }

  private async openOne(sessionId: SessionId): Promise<void> {
    const opened = await this.server.request('azimuth/session/open', { sessionId, since: 0 });
    await this.leave();
    this.show(opened);
  }

  /** The server runs, again or at last: the session that was shown before goes on. */
  private async restore(): Promise<void> {
    await this.alone(async () => {
      if (this.shown === undefined) {
        const last = this.memory.get<SessionId>(LAST);
        if (last === undefined) return;
        // One that is gone is not missed: the next prompt makes another.
        return this.openOne(last).catch((error: unknown) => {
          if (!isError(error, 'notFound')) throw error;
        });
      }
      const { info, state, events } = this.shown;
      const opened = await this.server.request('azimuth/session/open', { sessionId: info.sessionId, since: state.lastSeq }).catch((error: unknown) => {
        if (!isError(error, 'notFound')) throw error;
        this.show(undefined);
        // One in which nothing was said is not kept, and not missed; any other was deleted meanwhile, in another window.
        if (events.some(({ event }) => event.type === 'turnStarted')) throw error;
        return undefined;
      });
      if (opened === undefined) return;
      this.put(opened.events);
      void this.correct();
    }).catch((error: unknown) => {
      void this.server.tell(`Azimuth cannot open the session again: ${messageOf(error)}`);
    });
  }

  private async leave(): Promise<void> {
    const sessionId = this.id;
    if (sessionId === undefined) return;
    await this.server.request('azimuth/session/close', { sessionId }).catch((error: unknown) => {
      if (!isError(error, 'notFound')) throw error;
    });
  }

  private show(opened: SessionOpenResult | undefined): void {
    this.waiting = [];
    this.chosenMode = undefined;
    this.shown = opened === undefined ? undefined : new Shown(opened);
    void this.memory.update(LAST, this.id);
    this.switched.fire();
    this.terminalsChanged.fire({ corrected: true });
    void this.correct();
  }

  /** Asks which terminals there are really: what ended with a server before this one is in no event. */
  private async correct(): Promise<void> {
    const { shown } = this;
    if (shown === undefined || shown.state.terminals.size === 0) return;
    const { sessionId } = shown.info;
    for (let tries = 0; tries < 5; tries += 1) {
      const { lastSeq } = shown.state;
      const list = await this.server.request('azimuth/terminal/list', { sessionId }).catch(() => undefined);
      if (list === undefined || this.shown !== shown) return;
      this.flush();
      // Events that came in the meantime may be newer than the list.
      if (shown.state.lastSeq !== lastSeq) continue;
      shown.state = { ...shown.state, terminals: corrected(shown.state.terminals, list.terminals) };
      this.terminalsChanged.fire({ corrected: true });
      return;
    }
  }

  private take(sessionId: SessionId, event: SequencedEvent): void {
    if (this.early !== undefined) return void this.early.push({ sessionId, event });
    if (sessionId !== this.id) return;
    if (this.waiting.length === 0) setImmediate(() => this.flush());
    this.waiting.push(event);
  }

  /** Tells together what came together. */
  private flush(): void {
    const { shown, waiting } = this;
    this.waiting = [];
    if (shown === undefined) return;
    const before = shown.state;
    const events = waiting.filter((event) => shown.take(event));
    if (events.length > 0) this.stepped.fire({ sessionId: shown.info.sessionId, events, before, after: shown.state });
    if (before.terminals !== shown.state.terminals) this.terminalsChanged.fire({ corrected: false });
  }

  private put(events: readonly SequencedEvent[]): void {
    this.waiting.push(...events);
    this.flush();
  }

  private async own<M extends Method>(
    method: M,
    params: (sessionId: SessionId) => Requests[M]['params'],
  ): Promise<Requests[M]['result'] | undefined> {
    return this.id === undefined ? undefined : this.server.request(method, params(this.id));
  }

  /** Openings go one after the other, and what happens during one is taken after it. */
  private alone<T>(work: () => Promise<T>): Promise<T> {
    const hold = async (): Promise<T> => {
      const early: { sessionId: SessionId; event: SequencedEvent }[] = (this.early = []);
      try {
        return await work();
      } finally {
        this.early = undefined;
        for (const { sessionId, event } of early) this.take(sessionId, event);
      }
    };
    const done = this.turn.then(hold, hold);
    this.turn = done.catch(() => undefined);
    return done;
  }
}

/** A session with its events. */
class Shown {
  readonly info: SessionInfo;
  state: SessionState;
  events: SequencedEvent[] = [];
  private deltas = 0;

  constructor(opened: SessionOpenResult) {
    this.info = opened.session;
    this.state = begin(opened.session);
    for (const event of opened.events) this.take(event);
    this.state = { ...this.state, runningTurn: opened.runningTurn };
  }

  /** Takes an event. False for one that was here already. */
  take(event: SequencedEvent): boolean {
    const after = fold(this.state, event);
    if (after === this.state) return false;
    this.state = after;
    this.events.push(event);
    const { type } = event.event;
    if (isDelta(event.event)) this.deltas += 1;
    // Deltas are most of the events; those of whole messages are dropped now and then, not each time.
    if (type === 'turnEnded' || (type === 'messageCompleted' && this.deltas > 1_000)) {
      this.events = compact(this.events);
      this.deltas = 0;
    }
    return true;
  }
}
