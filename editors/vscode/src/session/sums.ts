// The cost of today and of all time, in all sessions. The server is asked when the cost of this one has changed.

import * as vscode from 'vscode';
import { sumsInWords } from '../costs/words';
import type { CostsSumsResult } from '../generated/protocol';
import type { Server } from '../server/server';
import type { Session } from './session';

export class Sums implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[];
  private known: CostsSumsResult | undefined;
  private asks = false;
  private asksAgain = false;

  /** The sums have changed. */
  readonly onChange = this.changed.event;

  constructor(private readonly server: Server, session: Session) {
    this.subscriptions = [
      this.changed,
      server.onState(({ state }) => (state === 'running' ? this.ask() : undefined)),
      session.onSwitch(() => this.ask()),
      session.onStep(({ before, after }) => (before.cost !== after.cost || before.runningTurn !== after.runningTurn ? this.ask() : undefined)),
    ];
  }

  /** The sums as lines, once they are known. */
  get words(): string[] {
    if (this.known === undefined) return [];
    const words = sumsInWords(this.known, Date.now());
    // Another day has begun since then.
    if (words.length === 1) this.ask();
    return words;
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private ask(): void {
    if (this.server.state.state !== 'running') return;
    if (this.asks) {
      this.asksAgain = true;
      return;
    }
    this.asks = true;
    void this.answer().finally(() => {
      this.asks = false;
      if (this.asksAgain) this.ask();
    });
  }

  private async answer(): Promise<void> {
    this.asksAgain = false;
    // A server that cannot tell keeps nobody from anything; the report of costs says why.
    const sums = await this.server.request('azimuth/costs/sums', {}).catch(() => undefined);
    if (sums === undefined || JSON.stringify(sums) === JSON.stringify(this.known)) return;
    this.known = sums;
    this.changed.fire();
  }
}
