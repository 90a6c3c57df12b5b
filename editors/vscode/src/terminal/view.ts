// A terminal as VS Code shows it: its output as it comes, and keys typed into it.

import * as vscode from 'vscode';
import type { SessionId, TerminalId, TerminalInfo, TerminalKind, TerminalOpenResult, TerminalSize } from '../generated/protocol';
import { messageOf, type Request } from '../server/requests';
import { visible } from '../text';
import type { Feeds, Watcher } from './feeds';
import { OutputFilter } from './filter';
import { nameOf } from './state';
import { ByteStream } from './stream';

/** A terminal as it is shown. To close it is to stop looking; what runs in it goes on. */
export class View implements vscode.Pseudoterminal, Watcher {
  private readonly written = new vscode.EventEmitter<string>();
  private readonly named = new vscode.EventEmitter<string>();
  private stream = new ByteStream();
  private filter = new OutputFilter();
  private isOpen = false;
  /** The requests so far; the next one waits for them, so that typed text goes out in order. */
  private typing: Promise<unknown> = Promise.resolve();
  /** Why the last key was not taken, so that it is not said at each key. */
  private refused: string | undefined;
  private name: string;

  size: TerminalSize | undefined;
  readonly onDidWrite = this.written.event;
  readonly onDidChangeName = this.named.event;
  readonly terminal: vscode.Terminal;
  readonly isShell: boolean;

  /** Without an id it is the session's shell. */
  constructor(
    private readonly feeds: Feeds, private readonly request: Request,
    readonly sessionId: SessionId, public id: TerminalId | undefined, info: TerminalInfo | undefined,
  ) {
    this.isShell = info === undefined || info.kind === 'shell';
    this.name = nameFor(info);
    const { icon, color } = looks[info?.kind ?? 'shell'];
    this.terminal = vscode.window.createTerminal({
      name: this.name,
      pty: this,
      iconPath: new vscode.ThemeIcon(icon),
      ...(color === undefined ? {} : { color: new vscode.ThemeColor(color) }),
      isTransient: true,
    });
  }

  get offset(): number {
    return this.stream.offset;
  }

  /** Says in its tab how it stands. */
  rename(info: TerminalInfo | undefined): void {
    const name = nameFor(info);
    if (name === this.name) return;
    this.name = name;
    if (this.isOpen) this.named.fire(name);
  }

  open(dimensions: vscode.TerminalDimensions | undefined): void {
    this.isOpen = true;
    this.size = dimensions && { columns: clamp(dimensions.columns), rows: clamp(dimensions.rows) };
    this.named.fire(this.name);
    void this.feeds.watch(this);
  }

  close(): void {
    this.isOpen = false;
    this.feeds.leave(this);
  }

  handleInput(data: string): void {
    const bytes = Buffer.from(data).toString('base64');
    this.send((terminalId) => this.request('azimuth/terminal/write', { sessionId: this.sessionId, terminalId, data: bytes }));
  }

  setDimensions({ columns, rows }: vscode.TerminalDimensions): void {
    const size = { columns: clamp(columns), rows: clamp(rows) };
    this.size = size;
    this.send((terminalId) => this.request('azimuth/terminal/resize', { sessionId: this.sessionId, terminalId, size }));
  }

  opened({ since, alive }: TerminalOpenResult): void {
    // A new shell has begun where the one of a server that has ended was.
    if (since < this.offset) this.begin();
    // A shell that does not run, not yet or no longer, is there with the next command.
    if (!alive && !this.isShell) this.say('what ran in this terminal has ended');
  }

  failed(message: string): void {
    this.say(message);
    // The shell of a server that has ended is gone; the next one has a new shell.
    if (!this.isShell) return;
    this.id = undefined;
    this.begin();
  }

  take(offset: number, bytes: Uint8Array): void {
    if (!this.isOpen) return;
    const { text, missing } = this.stream.take(offset, bytes);
    if (missing > 0) {
      this.filter = new OutputFilter();
      this.say(`${missing} bytes are no longer kept`);
    }
    const shown = this.filter.feed(text);
    if (shown !== '') this.written.fire(shown);
  }

  private begin(): void {
    this.stream = new ByteStream();
    this.filter = new OutputFilter();
  }

  private send(work: (terminalId: TerminalId) => Promise<unknown>): void {
    const { id } = this;
    if (id === undefined) return;
    this.typing = this.typing.then(() => work(id)).then(() => (this.refused = undefined), (error: unknown) => {
      const message = messageOf(error);
      if (message !== this.refused) this.say(message);
      this.refused = message;
    });
  }

  /** A word of ours, apart from the output, on a line of its own. */
  private say(text: string): void {
    this.written.fire(`\r\n\x1b[2m[Azimuth: ${visible(text)}]\x1b[0m\r\n`);
  }
}

/** The icon and colour of each kind of terminal; VS Code lets neither change later. */
const looks: Record<TerminalKind, { icon: string; color?: string }> = {
  shell: { icon: 'sparkle' },
  outside: { icon: 'unlock', color: 'terminal.ansiYellow' },
  job: { icon: 'server-process', color: 'terminal.ansiCyan' },
};

function nameFor(info: TerminalInfo | undefined): string {
  return visible(info === undefined ? 'Azimuth' : nameOf(info));
}

/** The server takes 1 to 1000. */
function clamp(cells: number): number {
  return Math.min(1_000, Math.max(1, cells));
}
