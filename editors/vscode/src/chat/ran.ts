// The commands that the chat shows: which of its entries runs in which terminal, and its status. Pure.

import type { Event, Location, SessionId, TerminalId, TerminalInfo, ToolCallId, Typist } from '../generated/protocol';
import type { Terminals } from '../terminal/state';

/** The common part of all that may run in a terminal. */
export interface Ran {
  callId: ToolCallId;
  state: 'running' | 'done' | 'failed';
  result: string;
  milliseconds: number | undefined;
  terminal: TerminalId | undefined;
  /** The terminal as it is, while this runs in it; for a job also after it. */
  live: TerminalInfo | undefined;
  /** The lines that were typed into it, and by whom. */
  typed: Typed[];
}

/** A line that was typed into a command. */
export interface Typed {
  by: Typist;
  /** Empty if it was not shown. */
  text: string;
  hidden: boolean;
}

/** A call of a tool. */
export interface ToolEntry extends Ran {
  kind: 'tool';
  name: string;
  title: string;
  summary: string;
  locations: Location[];
  /** The session that it started, if it started one. */
  child?: ChildWork;
}

/** The work of a session that a call started. */
export interface ChildWork {
  sessionId: SessionId;
  model: string;
  rounds: number;
  /** The title of the call that it makes; undefined if it waits for its model. */
  doing: string | undefined;
}

/** The work in words, while the call runs and after it. */
export function workInWords({ model, rounds, doing }: ChildWork, running: boolean): string {
  const answers = rounds === 0 ? [] : [`${rounds} ${rounds === 1 ? 'round' : 'rounds'}`];
  return [model, ...answers, ...(running ? [doing ?? 'Thinking'] : [])].join(' · ');
}

/** A command of the user's own. */
export interface OwnEntry extends Ran {
  kind: 'own';
  command: string;
  /** True if the model hears of it. */
  inContext: boolean;
  exitCode: number | undefined;
}

/** Nothing of it has run yet. */
export function fresh(callId: ToolCallId): Ran {
  return { callId, state: 'running', result: '', milliseconds: undefined, terminal: undefined, live: undefined, typed: [] };
}

/** So many of the lines that were typed into a command are kept. */
const TYPED = 50;

/** The terminals of a chat, and what its entries are told of them. */
export class Commands {
  private now: Terminals = new Map();
  /** The entry that ran last in each terminal. */
  private readonly last = new Map<TerminalId, Ran>();

  /** `touch` is told which entries have changed, and `find` gives the one of a call. */
  constructor(private readonly find: (callId: ToolCallId) => Ran | undefined, private readonly touch: (ran: Ran) => void) {}

  /** Takes what happened, with the terminals after it; what is not about them changes nothing. */
  take(event: Event, after: Terminals): void {
    if (event.type === 'terminalStarted') this.started(event.toolCallId, event.terminalId);
    if (event.type === 'terminalInput') this.input(event);
    this.become(after);
  }

  /** Takes entries that were there before, first to last, with the terminals as they were. Later ones stay what ran last. */
  know(entries: Iterable<Ran>, terminals?: Terminals): void {
    const known = new Map<TerminalId, Ran>();
    for (const ran of entries) if (ran.terminal !== undefined) known.set(ran.terminal, ran);
    for (const [id, ran] of known) if (!this.last.has(id)) this.last.set(id, ran);
    if (terminals !== undefined) this.now = terminals;
  }

  private started(callId: ToolCallId, terminalId: TerminalId): void {
    const before = this.last.get(terminalId);
    if (before !== undefined && before.live?.kind !== 'job') this.show(before, undefined);
    const ran = this.find(callId);
    if (ran === undefined) return;
    ran.terminal = terminalId;
    this.last.set(terminalId, ran);
    this.touch(ran);
  }

  private input({ terminalId, toolCallId, by, text, hidden }: Extract<Event, { type: 'terminalInput' }>): void {
    const ran = toolCallId === undefined ? this.last.get(terminalId) : this.find(toolCallId);
    if (ran === undefined) return;
    ran.typed = [...ran.typed, { by, text, hidden }].slice(-TYPED);
    this.touch(ran);
  }

  /** Takes the terminals as they are now. */
  become(after: Terminals): void {
    if (after === this.now) return;
    const before = this.now;
    this.now = after;
    for (const [id, terminal] of after) {
      if (before.get(id) === terminal) continue;
      const ran = this.last.get(id);
      if (ran !== undefined) this.show(ran, terminal.kind === 'job' || terminal.running?.toolCallId === ran.callId ? terminal : undefined);
    }
  }

  private show(ran: Ran, live: TerminalInfo | undefined): void {
    if (ran.live === live) return;
    ran.live = live;
    this.touch(ran);
  }
}
