// The terminals of a session, as a fold of its events, and the words for them. Pure.

import type { Event, TerminalId, TerminalInfo, Waiting } from '../generated/protocol';

/** The terminals of a session, each as last told. */
export type Terminals = ReadonlyMap<TerminalId, TerminalInfo>;

/** The terminals after one more event of this time; the same map where it says nothing of them. */
export function foldTerminals(before: Terminals, event: Event, at: number): Terminals {
  switch (event.type) {
    case 'terminalChanged':
      return changed(before, event.terminal);
    case 'terminalStarted': {
      const { terminalId, toolCallId, command, cwd, offset } = event;
      const known = before.get(terminalId) ?? {
        terminalId, kind: 'shell', title: 'shell', cwd, sandbox: 'full', taken: false, startedAt: at, end: offset, alive: true,
      };
      if (known.running?.toolCallId === toolCallId) return before;
      return changed(before, { ...idle(known), alive: true, running: { toolCallId, command, startedAt: at } });
    }
    case 'terminalEnded': {
      const known = before.get(event.terminalId);
      // The end of an older command is not the end of the one that runs now.
      return known?.running?.toolCallId === event.toolCallId ? changed(before, idle(known)) : before;
    }
    default:
      return before;
  }
}

/**
 * The terminals as the server lists them. Those that it does not know any more ended with the server before it, which could
 * not say so.
 */
export function corrected(before: Terminals, list: readonly TerminalInfo[]): Terminals {
  const now = new Map(list.map((terminal) => [terminal.terminalId, terminal]));
  for (const [id, terminal] of before) if (!now.has(id)) now.set(id, { ...idle(terminal), alive: false });
  return now;
}

/** The terminals in which something waits for input, as far as that is worth a word: a server that polls its keys is not. */
export function waitingTerminals(terminals: Terminals): (TerminalInfo & { waiting: Waiting })[] {
  return [...terminals.values()].filter((terminal): terminal is TerminalInfo & { waiting: Waiting } =>
    terminal.alive && terminal.waiting !== undefined && (terminal.kind !== 'job' || terminal.waiting.certainty === 'certain'));
}

/** The jobs that run. */
export function runningJobs(terminals: Terminals): TerminalInfo[] {
  return [...terminals.values()].filter(({ kind, alive }) => kind === 'job' && alive);
}

/** The name in a terminal's tab: what it is for, and its status. */
export function nameOf(terminal: TerminalInfo): string {
  const name = { shell: 'Azimuth', outside: 'Outside the sandbox', job: shortCommand(terminal.title) }[terminal.kind];
  if (!terminal.alive) return `${name} (${endInWords(terminal)})`;
  if (terminal.taken) return `${name} · yours`;
  return terminal.waiting === undefined || waitingTerminals(new Map([['', terminal]])).length === 0 ? name : `${name} · ${waitingInWords(terminal.waiting)}`;
}

export function waitingInWords({ certainty }: Waiting): string {
  return certainty === 'certain' ? 'waits for input' : 'may be waiting for input';
}

/** How a terminal stands, such as `waits for input` or `exit 1`. */
export function stateInWords(terminal: TerminalInfo): string {
  if (!terminal.alive) return endInWords(terminal);
  const words = [
    terminal.waiting !== undefined ? waitingInWords(terminal.waiting) : terminal.running !== undefined || terminal.kind === 'job' ? 'runs' : 'idle',
    terminal.taken ? 'you have it' : '',
  ];
  return words.filter((word) => word !== '').join(', ');
}

/** For how long a terminal's command runs, or ran, at this time in milliseconds. */
export function ageInWords({ startedAt, endedAt, running }: TerminalInfo, now: number): string {
  const seconds = Math.max(0, Math.round(((endedAt ?? now) - (running?.startedAt ?? startedAt)) / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}

/** A command line, short enough for a tab. */
export function shortCommand(command: string): string {
  const line = command.trim().replaceAll(/\s+/g, ' ');
  return line.length > LONGEST_NAME ? `${line.slice(0, LONGEST_NAME - 1).trimEnd()}…` : line;
}

/** So many characters of a command stand in the name of its terminal. */
const LONGEST_NAME = 32;

function endInWords({ kind, exitCode, endedAt }: TerminalInfo): string {
  if (kind !== 'job' || endedAt === undefined) return 'ended';
  return exitCode === undefined ? 'killed' : `exit ${exitCode}`;
}

function changed(before: Terminals, terminal: TerminalInfo): Terminals {
  return new Map(before).set(terminal.terminalId, terminal);
}

/** A terminal in which nothing runs. */
function idle(terminal: TerminalInfo): TerminalInfo {
  const rest = { ...terminal };
  delete rest.running;
  delete rest.waiting;
  return rest;
}
