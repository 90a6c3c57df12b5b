// The end of what commands print, for the chat while it is to be seen.

import * as vscode from 'vscode';
import type { SessionId, TerminalId, ToolCallId } from '../generated/protocol';
import type { Session } from '../session/session';
import type { Feeds, Watcher } from './feeds';
import { OutputFilter } from './filter';
import { ByteStream } from './stream';
import { Tail } from './tail';

/** So often at most the chat is told, in milliseconds. */
const TOLD_AFTER = 100;

export class Tails implements vscode.Disposable {
  private readonly watched = new Map<ToolCallId, CommandTail>();
  private readonly subscriptions: vscode.Disposable[];
  private on = false;

  /** `tell` is given the end of a command's output, each time it has changed. */
  constructor(private readonly feeds: Feeds, private readonly session: Session, private readonly tell: (callId: ToolCallId, text: string) => void) {
    this.subscriptions = [
      session.onTerminals(() => this.update()),
      // Where a command's output begins may be told after it is told to run.
      session.onStep(({ events }) => (events.some(({ event }) => event.type === 'terminalStarted') ? this.update() : undefined)),
    ];
  }

  /** The chat is to be seen, or no longer. */
  show(on: boolean): void {
    this.on = on;
    // A chat that is new has nothing yet.
    for (const tail of this.watched.values()) tail.again();
    this.update();
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
    this.keepOnly([]);
  }

  /** Looks at what runs now. What a job prints is for its terminal. */
  private update(): void {
    const { id: sessionId, terminals } = this.session;
    const running = this.on && sessionId !== undefined ? [...terminals.values()].filter(({ kind, alive, running }) => kind !== 'job' && alive && running !== undefined) : [];
    this.keepOnly(running.map((terminal) => terminal.running?.toolCallId));
    for (const { terminalId, running: command } of running) {
      if (sessionId === undefined || command === undefined || this.watched.has(command.toolCallId)) continue;
      const started = this.session.events.findLast(({ event }) => event.type === 'terminalStarted' && event.toolCallId === command.toolCallId)?.event;
      if (started?.type !== 'terminalStarted') continue;
      const tail = new CommandTail(sessionId, terminalId, started.offset, (text) => this.tell(command.toolCallId, text));
      this.watched.set(command.toolCallId, tail);
      void this.feeds.watch(tail);
    }
  }

  private keepOnly(calls: (ToolCallId | undefined)[]): void {
    for (const [callId, tail] of this.watched) {
      if (calls.includes(callId)) continue;
      this.watched.delete(callId);
      this.feeds.leave(tail);
    }
  }
}

/** The end of one command's output. */
class CommandTail implements Watcher {
  private readonly stream: ByteStream;
  private readonly filter = new OutputFilter();
  private readonly tail = new Tail();
  private timer: NodeJS.Timeout | undefined;

  constructor(readonly sessionId: SessionId, public id: TerminalId | undefined, offset: number, private readonly tell: (text: string) => void) {
    this.stream = new ByteStream(offset);
  }

  get offset(): number {
    return this.stream.offset;
  }

  opened(): void { /* What ended meanwhile says so by an event. */ }

  failed(): void { /* The chat shows the result all the same. */ }

  take(offset: number, bytes: Uint8Array): void {
    this.tail.feed(this.filter.feed(this.stream.take(offset, bytes).text));
    this.again();
  }

  again(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      if (this.tail.text !== '') this.tell(this.tail.text);
    }, TOLD_AFTER);
  }
}
