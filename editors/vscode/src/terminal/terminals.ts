// The session's terminals as terminals of VS Code: their output as it comes, and keys typed into them.

import * as vscode from 'vscode';
import type { SessionId, TerminalId, TerminalOutputParams, TerminalSize } from '../generated/protocol';
import { messageOf, type Request } from '../server/requests';
import type { Server } from '../server/server';
import type { Session } from '../session/session';
import { iconless, visible } from '../text';
import { OutputFilter } from './filter';
import { ByteStream } from './stream';

export class Terminals implements vscode.Disposable {
  private readonly views = new Set<View>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly server: Server, private readonly session: Session) {
    this.subscriptions = [
      server.onTerminalOutput((output) => this.views.forEach((view) => view.take(output))),
      // After a restart of the server the views go on where they stood.
      server.onState(({ state }) => (state === 'running' ? this.views.forEach((view) => void view.follow()) : undefined)),
      vscode.window.onDidCloseTerminal((terminal) => this.views.forEach((view) => (view.terminal === terminal ? this.views.delete(view) : undefined))),
    ];
  }

  /** Shows a terminal; without an id, the session's shell, which the server starts if need be. */
  async show(terminalId?: TerminalId, preserveFocus = false): Promise<void> {
    const sessionId = await this.session.some();
    const known = [...this.views].find((view) => view.sessionId === sessionId && (terminalId === undefined ? view.isShell : view.id === terminalId));
    const view = known ?? this.make(sessionId, terminalId);
    view.terminal.show(preserveFocus);
  }

  /** Ends what runs in the terminal that is looked at; without one, in the session's only one. */
  async kill(): Promise<void> {
    const active = [...this.views].find((view) => view.terminal === vscode.window.activeTerminal);
    if (active?.id !== undefined) {
      await this.server.request('azimuth/terminal/kill', { sessionId: active.sessionId, terminalId: active.id });
      return;
    }
    const sessionId = this.session.id;
    const running = [...(this.session.state?.terminals ?? [])].filter(([, terminal]) => terminal.running);
    if (sessionId === undefined || running.length === 0) throw new Error('No command runs in a terminal of this session.');
    const items = running.map(([terminalId, { command }]) => ({ label: iconless(command), terminalId }));
    const picked = items.length === 1 ? items[0] : await vscode.window.showQuickPick(items, { title: 'Azimuth: end which command?' });
    if (picked !== undefined) await this.server.request('azimuth/terminal/kill', { sessionId, terminalId: picked.terminalId });
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
    for (const view of this.views) view.terminal.dispose();
  }

  private make(sessionId: SessionId, terminalId: TerminalId | undefined): View {
    const view = new View((method, params) => this.server.request(method, params), sessionId, terminalId);
    this.views.add(view);
    return view;
  }
}

/** A terminal as it is shown. To close it is to stop looking; what runs in it goes on. */
class View implements vscode.Pseudoterminal {
  private readonly written = new vscode.EventEmitter<string>();
  private stream = new ByteStream();
  private filter = new OutputFilter();
  private size: TerminalSize | undefined;
  private isOpen = false;
  /** Output of which it is not known yet whether it is ours. */
  private early: TerminalOutputParams[] = [];
  /** What is typed goes out in order. */
  private typing: Promise<unknown> = Promise.resolve();
  /** Why the last key was not taken, so that it is not said at each key. */
  private refused: string | undefined;

  readonly onDidWrite = this.written.event;
  readonly terminal: vscode.Terminal;
  readonly isShell: boolean;

  constructor(private readonly request: Request, readonly sessionId: SessionId, public id: TerminalId | undefined) {
    this.isShell = id === undefined;
    this.terminal = vscode.window.createTerminal({
      name: 'Azimuth',
      pty: this,
      iconPath: new vscode.ThemeIcon('sparkle'),
      isTransient: true,
    });
  }

  open(dimensions: vscode.TerminalDimensions | undefined): void {
    this.isOpen = true;
    this.size = dimensions && { columns: clamp(dimensions.columns), rows: clamp(dimensions.rows) };
    void this.follow();
  }

  close(): void {
    this.isOpen = false;
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

  /** Asks for the output from where this view stands. */
  async follow(): Promise<void> {
    if (!this.isOpen) return;
    const { sessionId, id, size } = this;
    try {
      const opened = await this.request('azimuth/terminal/open', {
        sessionId, since: this.stream.offset, ...(id === undefined ? {} : { terminalId: id }), ...(size === undefined ? {} : { size }),
      });
      this.id = opened.terminalId;
      const early = this.early.splice(0);
      for (const output of early) this.take(output);
      if (!opened.alive) this.say('what ran in this terminal has ended');
    } catch (error) {
      this.say(messageOf(error));
      // The shell of a server that has ended is gone; the next one has a new shell.
      if (this.isShell) {
        this.id = undefined;
        this.stream = new ByteStream();
        this.filter = new OutputFilter();
      }
    }
  }

  take(output: TerminalOutputParams): void {
    if (!this.isOpen || output.sessionId !== this.sessionId) return;
    if (this.id === undefined) return void this.early.push(output);
    if (output.terminalId !== this.id) return;
    const { text, missing } = this.stream.take(output.offset, Buffer.from(output.data, 'base64'));
    if (missing > 0) {
      this.filter = new OutputFilter();
      this.say(`${missing} bytes are no longer kept`);
    }
    const shown = this.filter.feed(text);
    if (shown !== '') this.written.fire(shown);
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

/** The server takes 1 to 1000. */
function clamp(cells: number): number {
  return Math.min(1_000, Math.max(1, cells));
}
