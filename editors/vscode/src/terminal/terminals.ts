// The session's terminals as terminals of VS Code, and what can be done to them.

import * as vscode from 'vscode';
import type { SessionId, TerminalId, TerminalInfo, TerminalSignal } from '../generated/protocol';
import type { Request } from '../server/requests';
import type { Session } from '../session/session';
import { iconless } from '../text';
import type { Feeds } from './feeds';
import { runningJobs, shortCommand, stateInWords } from './state';
import { View } from './view';

/** The argument of a command for terminals: a terminal of VS Code, from its menu, or our own id of one. */
export type GivenTerminal = vscode.Terminal | TerminalId | undefined;

/** A terminal of a session. */
interface Target {
  sessionId: SessionId;
  terminalId: TerminalId;
}

export class Terminals implements vscode.Disposable {
  private readonly views = new Set<View>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly feeds: Feeds, private readonly request: Request, private readonly session: Session) {
    this.subscriptions = [
      session.onTerminals(() => this.update()),
      vscode.window.onDidChangeActiveTerminal(() => this.update()),
      vscode.window.onDidCloseTerminal((terminal) => this.views.forEach((view) => (view.terminal === terminal ? this.views.delete(view) : undefined))),
    ];
  }

  /** Shows a terminal; without an id, the session's shell, which the server starts if need be. */
  async show(terminalId?: TerminalId, preserveFocus = false): Promise<void> {
    const sessionId = await this.session.some();
    const info = terminalId === undefined ? this.shell : this.session.terminals.get(terminalId);
    const isShell = terminalId === undefined || info?.kind === 'shell';
    const known = [...this.views].find((view) => view.sessionId === sessionId && (isShell ? view.isShell : view.id === terminalId));
    const view = known ?? this.make(sessionId, terminalId, info);
    view.terminal.show(preserveFocus);
  }

  /** Ends what runs in a terminal. */
  async kill(given?: GivenTerminal): Promise<void> {
    const target = await this.choose(given, 'end which command?', (terminal) => terminal.running !== undefined || terminal.kind === 'job');
    if (target !== undefined) await this.request('azimuth/terminal/kill', target);
  }

  /** Sends a signal to what runs in a terminal. */
  async signal(given?: GivenTerminal): Promise<void> {
    const target = await this.choose(given, 'send a signal to which command?', (terminal) => terminal.running !== undefined || terminal.kind === 'job');
    if (target === undefined) return;
    const picked = await vscode.window.showQuickPick(signals, { title: 'Azimuth: which signal?', matchOnDescription: true });
    if (picked !== undefined) await this.request('azimuth/terminal/signal', { ...target, signal: picked.signal });
  }

  /** Takes a terminal over, or hands it back. Who takes one wants to type into it. */
  async take(taken: boolean, given?: GivenTerminal): Promise<void> {
    const words = taken ? 'take over which terminal?' : 'hand which terminal back?';
    const target = await this.choose(given, words, (terminal) => terminal.taken !== taken);
    if (target === undefined) return;
    await this.request('azimuth/terminal/take', { ...target, taken });
    if (taken && target.sessionId === this.session.id) await this.show(target.terminalId);
  }

  /** Types a line into a terminal of the session that is shown. */
  async typeLine(terminalId: TerminalId, text: string): Promise<void> {
    // Enter is a carriage return, as a keyboard sends it.
    await this.request('azimuth/terminal/write', { sessionId: await this.session.some(), terminalId, data: Buffer.from(`${text}\r`).toString('base64') });
  }

  /** True if the user looks at this terminal. */
  isActive(terminalId: TerminalId): boolean {
    return this.activeView?.id === terminalId;
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
    for (const view of this.views) view.terminal.dispose();
  }

  private get shell(): TerminalInfo | undefined {
    return [...this.session.terminals.values()].find(({ kind }) => kind === 'shell');
  }

  private get activeView(): View | undefined {
    return [...this.views].find((view) => view.terminal === vscode.window.activeTerminal);
  }

  private make(sessionId: SessionId, terminalId: TerminalId | undefined, info: TerminalInfo | undefined): View {
    const view = new View(this.feeds, this.request, sessionId, terminalId, info);
    this.views.add(view);
    return view;
  }

  /** The tabs say how their terminals stand, and the menus fit the one that is looked at. */
  private update(): void {
    const { terminals, id } = this.session;
    for (const view of this.views) {
      if (view.sessionId === id) view.rename(view.isShell ? this.shell : view.id === undefined ? undefined : terminals.get(view.id));
    }
    const active = this.activeView;
    const info = active === undefined || active.sessionId !== id ? undefined : active.isShell ? this.shell : terminals.get(active.id ?? '');
    void vscode.commands.executeCommand('setContext', 'azimuth.terminal', active !== undefined);
    void vscode.commands.executeCommand('setContext', 'azimuth.terminalTaken', info?.taken ?? false);
    void vscode.commands.executeCommand('setContext', 'azimuth.jobs', runningJobs(terminals).length > 0);
  }

  /** The terminal that is meant: the one given, the one looked at, the only one that fits, or one that is chosen. */
  private async choose(given: GivenTerminal, title: string, fits: (terminal: TerminalInfo) => boolean): Promise<Target | undefined> {
    const sessionId = this.session.id;
    if (typeof given === 'string') return sessionId === undefined ? undefined : { sessionId, terminalId: given };
    const view = [...this.views].find(({ terminal }) => terminal === (given ?? vscode.window.activeTerminal));
    const shown = view?.id === undefined ? undefined : this.session.terminals.get(view.id);
    // One that is looked at by chance is not meant where there is nothing to do to it.
    if (view?.id !== undefined && (given !== undefined || shown === undefined || fits(shown))) return { sessionId: view.sessionId, terminalId: view.id };
    const all = [...this.session.terminals.values()].filter((terminal) => terminal.alive && fits(terminal));
    if (sessionId === undefined || all.length === 0) throw new Error('This session has no terminal or command that this applies to.');
    const items = all.map((terminal) => ({
      label: iconless(shortCommand(terminal.running?.command ?? terminal.title)), description: stateInWords(terminal), terminalId: terminal.terminalId,
    }));
    const picked = items.length === 1 ? items[0] : await vscode.window.showQuickPick(items, { title: `Azimuth: ${title}` });
    return picked && { sessionId, terminalId: picked.terminalId };
  }
}

const signals: (vscode.QuickPickItem & { signal: TerminalSignal })[] = [
  { label: 'Interrupt', description: 'SIGINT, as Ctrl+C', signal: 'interrupt' },
  { label: 'Terminate', description: 'SIGTERM', signal: 'terminate' },
  { label: 'Kill', description: 'SIGKILL', signal: 'kill' },
  { label: 'Hang up', description: 'SIGHUP', signal: 'hangup' },
  { label: 'Quit', description: 'SIGQUIT, as Ctrl+\\', signal: 'quit' },
  { label: 'Stop', description: 'SIGTSTP, as Ctrl+Z', signal: 'stop' },
  { label: 'Continue', description: 'SIGCONT', signal: 'continue' },
];
