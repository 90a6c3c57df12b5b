// The sessions of instructions ("change this"): started, followed, decided, answered, and closed when nothing of them waits.

import * as vscode from 'vscode';
import type { Decision, DecisionTarget, PermissionRequest, Proposal, ProposalId, Range, SequencedEvent, SessionId, SessionOpenResult, TurnId } from '../generated/protocol';
import { isError, isOfServer, messageOf } from '../server/requests';
import type { Server } from '../server/server';
import { decideIn } from '../session/decide';
import { beginning, follow, isOpen, shifted, type Progress } from './state';

/** The key of the sessions that something waited in when the window was closed. */
const OPEN = 'azimuth.changes';

/** An instruction with all that was said of it since: one session. */
export interface Change {
  readonly sessionId: SessionId;
  /** The document, as VS Code names it. */
  readonly uri: string;
  /** The ranges that it is about, as they are by now; none for the whole document. */
  selections: Range[];
  progress: Progress;
}

/** A question that waits in one of them. */
export interface Question {
  change: Change;
  request: PermissionRequest;
}

/** A change as it is kept for the next window. */
type Kept = Pick<Change, 'sessionId' | 'uri' | 'selections'>;

export class Changes implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly proposed = new vscode.EventEmitter<void>();
  private readonly asked = new vscode.EventEmitter<Question>();
  private readonly ended = new vscode.EventEmitter<Change>();
  private readonly subscriptions: vscode.Disposable[];
  private readonly open: Map<SessionId, Change>;
  /** The requests that wait for an answer: events of a session can come before it is known. */
  private starting = 0;
  /** The sessions that are being opened again. Events of one that came before the answer are newer than those in it. */
  private readonly opening = new Set<SessionId>();
  private early: { sessionId: SessionId; event: SequencedEvent }[] = [];
  private soon: NodeJS.Immediate | undefined;

  /** Something happened in one of them, or there is one more or one less. */
  readonly onChange = this.changed.event;
  /** Their proposals have changed. */
  readonly onProposals = this.proposed.event;
  readonly onQuestion = this.asked.event;
  /** The turn of one has ended. */
  readonly onEnd = this.ended.event;

  constructor(private readonly server: Server, private readonly memory: vscode.Memento) {
    this.open = new Map(memory.get<Kept[]>(OPEN, []).map((kept) => [kept.sessionId, { ...kept, progress: beginning() }]));
    this.subscriptions = [
      server.onEvent(({ sessionId, ...event }) => this.take(sessionId, event)),
      server.onState(({ state }) => (state === 'running' ? void this.restore() : state === 'stopped' ? this.stop() : undefined)),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => this.shift(document, contentChanges)),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => void this.closeDecided((one) => one.uri === uri.toString())),
      this.changed, this.proposed, this.asked, this.ended,
    ];
  }

  get all(): Change[] {
    return [...this.open.values()];
  }

  /** Their proposals, decided ones included. */
  get proposals(): Proposal[] {
    return this.all.flatMap(({ progress }) => [...progress.session.proposals.values()]);
  }

  get questions(): Question[] {
    return this.all.flatMap((change) => [...change.progress.session.questions.values()].map((request) => ({ change, request })));
  }

  /** The one that a proposal is of. */
  having(proposalId: ProposalId): Change | undefined {
    return this.all.find(({ progress }) => progress.session.proposals.has(proposalId));
  }

  get(sessionId: SessionId): Change | undefined {
    return this.open.get(sessionId);
  }

  /** Those of a document, the newest first. */
  of(uri: vscode.Uri): Change[] {
    return this.all.filter((one) => one.uri === uri.toString()).reverse();
  }

  /** Sends an instruction; with `before`, a further one for what that has proposed. */
  async start(document: vscode.TextDocument, selections: Range[], instruction: string, before?: Change): Promise<void> {
    await this.closeDecided((one) => one !== before);
    this.starting += 1;
    try {
      const { sessionId } = await this.server.request('azimuth/inline/instruct', {
        textDocument: { uri: document.uri.toString(), version: document.version },
        selections,
        instruction,
        ...(before === undefined ? {} : { sessionId: before.sessionId }),
      });
      const known = this.open.get(sessionId);
      if (known === undefined) this.open.set(sessionId, { sessionId, uri: document.uri.toString(), selections, progress: beginning() });
      else known.selections = selections;
      this.keep();
      this.takeEarly(sessionId);
      this.tellSoon();
    } finally {
      this.started();
    }
  }

  /** Ends the turn of one. */
  async cancel({ sessionId, progress }: Change): Promise<void> {
    const turnId: TurnId | undefined = progress.session.runningTurn;
    if (turnId !== undefined) await this.server.request('azimuth/turn/cancel', { sessionId, turnId });
  }

  async decide({ sessionId }: Change, decision: Decision, targets: DecisionTarget[], message?: string): Promise<void> {
    if (targets.length > 0) await decideIn((method, params) => this.server.request(method, params), sessionId, decision, targets, message);
  }

  /** Answers a question. False if it had been answered already. */
  async answer({ change, request }: Question, optionId: string): Promise<boolean> {
    const { sessionId } = change;
    return (await this.server.request('azimuth/permission/answer', { sessionId, permissionId: request.permissionId, optionId })).accepted;
  }

  /** Makes one a chat. It is none of these from then on. */
  async promote(change: Change): Promise<void> {
    await this.server.request('azimuth/session/promote', { sessionId: change.sessionId });
    this.drop(change);
  }

  dispose(): void {
    clearImmediate(this.soon);
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private take(sessionId: SessionId, event: SequencedEvent): void {
    const change = this.open.get(sessionId);
    if (change === undefined || this.opening.has(sessionId)) {
      if (this.starting > 0) this.early.push({ sessionId, event });
      return;
    }
    const before = change.progress;
    change.progress = follow(before, event);
    if (before === change.progress) return;
    if (before.session.proposals !== change.progress.session.proposals) this.proposed.fire();
    if (event.event.type === 'permissionAsked') this.asked.fire({ change, request: event.event.request });
    if (event.event.type === 'turnEnded') this.ended.fire(change);
    this.tellSoon();
  }

  private takeEarly(sessionId: SessionId): void {
    for (const { event } of this.early.filter((one) => one.sessionId === sessionId)) this.take(sessionId, event);
  }

  private started(): void {
    this.starting -= 1;
    if (this.starting === 0) this.early = [];
  }

  /** Tells once of what comes together: most events are pieces of a text. */
  private tellSoon(): void {
    this.soon ??= setImmediate(() => {
      this.soon = undefined;
      this.changed.fire();
    });
  }

  /** The server runs, again or at last: what waited before goes on. */
  private async restore(): Promise<void> {
    const unknown = new Set<Change>();
    for (const change of this.all) {
      const { sessionId, progress } = change;
      this.starting += 1;
      this.opening.add(sessionId);
      try {
        const opened = await this.server.request('azimuth/session/open', { sessionId, since: progress.session.lastSeq });
        this.opening.delete(sessionId);
        this.replay(change, opened);
        this.takeEarly(sessionId);
      } catch (error) {
        if (!isOfServer(error)) {
          // The server has ended again. The next one is asked.
          unknown.add(change);
          continue;
        }
        this.drop(change);
        // One that is gone is not missed.
        if (!isError(error, 'notFound')) void this.server.tell(`Azimuth cannot open a change again: ${messageOf(error)}`);
      } finally {
        this.opening.delete(sessionId);
        this.started();
      }
    }
    await this.closeDecided((one) => !unknown.has(one));
    this.tellSoon();
  }

  /**
   * Takes what has happened in the session in the meantime. The user has heard of it before, except for questions that
   * wait, and for the end of a turn that ran.
   */
  private replay(change: Change, { events, runningTurn }: SessionOpenResult): void {
    const before = change.progress.session;
    const progress = events.reduce(follow, change.progress);
    change.progress = { ...progress, session: { ...progress.session, runningTurn } };
    this.proposed.fire();
    for (const request of progress.session.questions.values()) if (!before.questions.has(request.permissionId)) this.asked.fire({ change, request });
    if (before.runningTurn !== undefined && runningTurn === undefined) this.ended.fire(change);
  }

  /** No server runs, and none will on its own: nothing is being made. */
  private stop(): void {
    for (const change of this.all) change.progress = { ...change.progress, arriving: [], session: { ...change.progress.session, runningTurn: undefined } };
    this.tellSoon();
  }

  /** Follows those no longer of which nothing waits. */
  private async closeDecided(isMeant: (change: Change) => boolean): Promise<void> {
    for (const change of this.all.filter((one) => isMeant(one) && !isOpen(one.progress))) {
      this.drop(change);
      // The server forgets it when the connection ends, so a failure means nothing.
      await this.server.request('azimuth/session/close', { sessionId: change.sessionId }).catch(() => undefined);
    }
  }

  private drop({ sessionId }: Change): void {
    this.open.delete(sessionId);
    this.keep();
    this.proposed.fire();
    this.tellSoon();
  }

  private keep(): void {
    void this.memory.update(OPEN, this.all.map(({ sessionId, uri, selections }): Kept => ({ sessionId, uri, selections })));
  }

  private shift({ uri }: vscode.TextDocument, edits: readonly vscode.TextDocumentContentChangeEvent[]): void {
    for (const change of this.of(uri)) change.selections = moved(change.selections, edits);
  }
}

/** Ranges of a document after these changes of it. */
export function moved(ranges: readonly Range[], edits: readonly vscode.TextDocumentContentChangeEvent[]): Range[] {
  return edits.reduce((now, { range, text }) => now.map((one) => shifted(one, plain(range), text.replaceAll('\r\n', '\n'))), [...ranges]);
}

/** A range of VS Code's as the protocol has it. */
export function plain({ start, end }: vscode.Range): Range {
  return { start: { line: start.line, character: start.character }, end: { line: end.line, character: end.character } };
}
