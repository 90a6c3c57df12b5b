// The output of terminals on its way from the server to those who look at it.
//
// The server sends a terminal's output to a client once, from one offset on, and not farther than 256 KiB ahead of what the
// client has said to have taken. Here it is shared out to all who look, a view and the chat.

import * as vscode from 'vscode';
import type { SessionId, TerminalId, TerminalOpenResult, TerminalOutputParams, TerminalSize } from '../generated/protocol';
import { messageOf } from '../server/requests';
import type { Server } from '../server/server';

/** Someone who looks at a terminal. */
export interface Watcher {
  readonly sessionId: SessionId;
  /** The terminal; undefined for the session's shell, until it is known. */
  id: TerminalId | undefined;
  /** The offset of the first byte that is wanted. */
  readonly offset: number;
  readonly size?: TerminalSize | undefined;
  /** Takes bytes at an offset. Some may have come before. */
  take(offset: number, bytes: Uint8Array): void;
  /** Takes the server's answer to the request for the output. */
  opened(result: TerminalOpenResult): void;
  failed(message: string): void;
}

/** So long the server waits, in milliseconds, until it hears how far the output was taken. VS Code does not tell when it has drawn it. */
const ACKNOWLEDGED_AFTER = 10;

export class Feeds implements vscode.Disposable {
  private readonly watchers = new Set<Watcher>();
  /** Output that came before it was known whose it is. */
  private readonly early: TerminalOutputParams[] = [];
  private opening = 0;
  /** How far each terminal's output was taken, where the server is still to hear of it. */
  private readonly taken = new Map<string, TerminalOutputParams>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly server: Server) {
    this.subscriptions = [
      server.onTerminalOutput((output) => this.take(output)),
      // After a restart of the server those who look go on where they stood.
      server.onState(({ state }) => (state === 'running' ? this.watchers.forEach((watcher) => void this.open(watcher)) : undefined)),
    ];
  }

  /** Begins to look, or asks anew. */
  async watch(watcher: Watcher): Promise<void> {
    this.watchers.add(watcher);
    await this.open(watcher);
  }

  /** Looks no more. What runs goes on. */
  leave(watcher: Watcher): void {
    if (!this.watchers.delete(watcher) || watcher.id === undefined) return;
    const { sessionId, id: terminalId } = watcher;
    if ([...this.watchers].some((other) => isOf(other, { sessionId, terminalId }))) return;
    // Of a server that has ended, nobody looks at anything.
    if (this.server.state.state === 'running') void this.server.request('azimuth/terminal/close', { sessionId, terminalId }).catch(() => undefined);
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private async open(watcher: Watcher): Promise<void> {
    const { sessionId, id, size } = watcher;
    this.opening += 1;
    try {
      // Who looks already gets some of it a second time, and passes it over; but nobody may miss a part.
      const offsets = [...this.watchers].filter((other) => id !== undefined && isOf(other, { sessionId, terminalId: id })).map(({ offset }) => offset);
      const opened = await this.server.request('azimuth/terminal/open', {
        sessionId, since: Math.min(watcher.offset, ...offsets), acknowledges: true,
        ...(id === undefined ? {} : { terminalId: id }), ...(size === undefined ? {} : { size }),
      });
      watcher.id = opened.terminalId;
      watcher.opened(opened);
    } catch (error) {
      watcher.failed(messageOf(error));
    } finally {
      this.opening -= 1;
      for (const output of this.early.splice(0)) this.take(output);
    }
  }

  private take(output: TerminalOutputParams): void {
    const here = [...this.watchers].filter((watcher) => isOf(watcher, output));
    if (here.length === 0) {
      if (this.opening > 0) this.early.push(output);
      return;
    }
    const bytes = Buffer.from(output.data, 'base64');
    for (const watcher of here) watcher.take(output.offset, bytes);
    this.acknowledge({ ...output, offset: output.offset + bytes.length });
  }

  private acknowledge(output: TerminalOutputParams): void {
    if (this.taken.size === 0) setTimeout(() => this.tell(), ACKNOWLEDGED_AFTER);
    this.taken.set(`${output.sessionId} ${output.terminalId}`, output);
  }

  private tell(): void {
    const all = [...this.taken.values()];
    this.taken.clear();
    if (this.server.state.state !== 'running') return;
    for (const { sessionId, terminalId, offset } of all) {
      void this.server.request('azimuth/terminal/ack', { sessionId, terminalId, offset }).catch(() => undefined);
    }
  }
}

function isOf({ sessionId, id }: Watcher, output: { sessionId: SessionId; terminalId: TerminalId }): boolean {
  return sessionId === output.sessionId && id === output.terminalId;
}
