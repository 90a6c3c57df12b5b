// The cost of today and of all time, in all conversations. The server is asked when the cost of this one has changed, and
// not more often than every few seconds.

import * as vscode from 'vscode';
import { sumsInWords, untilNextDay } from '../costs/words';
import type { CostsSumsResult } from '../generated/protocol';
import type { Server } from '../server/server';
import type { Session } from './session';

/** The time from a start until the server is asked first, and between two requests, in milliseconds. */
const PAUSE = 3_000;

export class Sums implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[];
  private known: CostsSumsResult | undefined;
  /** Runs while the server is not to be asked. */
  private pause: NodeJS.Timeout | undefined;
  private isDue = false;
  /** Runs until the day ends of which the sum of today is. */
  private day: NodeJS.Timeout | undefined;

  /** The sums have changed. */
  readonly onChange = this.changed.event;

  constructor(private readonly server: Server, session: Session) {
    this.subscriptions = [
      this.changed,
      server.onState(({ state }) => (state === 'running' ? this.wait(true) : undefined)),
      session.onStep(({ before, after }) => (before.cost !== after.cost || before.runningTurn !== after.runningTurn ? this.ask() : undefined)),
    ];
    this.awaitNextDay();
  }

  /** The sums as lines, once they are known; of a day only while it lasts. */
  get words(): string[] {
    return this.known === undefined ? [] : sumsInWords(this.known, Date.now());
  }

  dispose(): void {
    clearTimeout(this.pause);
    clearTimeout(this.day);
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  /** Asks for the sums of a new day once it begins, though nothing is spent. */
  private awaitNextDay(): void {
    this.day = setTimeout(() => {
      this.ask();
      this.awaitNextDay();
    }, untilNextDay(Date.now()));
  }

  private ask(): void {
    if (this.pause !== undefined) {
      this.isDue = true;
      return;
    }
    this.wait(false);
    void this.answer();
  }

  /** Asks nothing for a while. `isDue` is true if something is to be asked after it. */
  private wait(isDue: boolean): void {
    clearTimeout(this.pause);
    this.isDue = isDue;
    this.pause = setTimeout(() => {
      this.pause = undefined;
      if (this.isDue) this.ask();
    }, PAUSE);
  }

  private async answer(): Promise<void> {
    if (this.server.state.state !== 'running') return;
    // A server that cannot tell keeps nobody from anything; the report of costs says why.
    const sums = await this.server.request('azimuth/costs/sums', {}).catch(() => undefined);
    if (sums === undefined || JSON.stringify(sums) === JSON.stringify(this.known)) return;
    this.known = sums;
    this.changed.fire();
  }
}
