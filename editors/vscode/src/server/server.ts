// The server: found, started, watched, and started again when it crashes.

import { accessSync, constants, statSync } from 'node:fs';
import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import type { ServerFact } from '../chat/messages';
import type { Notifications, Requests } from '../generated/protocol';
import { trusted } from '../generated/settings';
import type { Inline } from '../inline/inline';
import { Languages } from '../lang/languages';
import { unlinked } from '../text';
import { findServer, misfit } from './find';
import type { Held } from './held';
import type { Keys } from './keys';
import { messageOf, type Method } from './requests';

/** So many crashes within this time, and it is not started again by itself. */
const CRASHES = 4;
const CRASH_SPAN_MS = 3 * 60_000;

/** One server at a time. */
export class Server implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<ServerFact>();
  private readonly happened = new vscode.EventEmitter<Notifications['azimuth/event']['params']>();
  private readonly printed = new vscode.EventEmitter<Notifications['azimuth/terminal/output']['params']>();
  private readonly serversChanged = new vscode.EventEmitter<void>();
  private readonly modelsChanged = new vscode.EventEmitter<void>();
  private readonly trusted = new vscode.EventEmitter<void>();
  private readonly promptPut = new vscode.EventEmitter<Notifications['azimuth/prompt/put']['params']>();
  private readonly editChanged = new vscode.EventEmitter<Notifications['azimuth/inline/changed']['params']>();
  private readonly languages: Languages;
  private readonly subscriptions: vscode.Disposable[];
  private client: LanguageClient | undefined;
  private starting: Promise<void> | undefined;
  private crashes: number[] = [];
  private current: ServerFact = { state: 'starting' };
  private begun = false;
  /** True as long as it runs for suggestions only, which nobody has asked for just now: a failure then interrupts nobody. */
  private isQuiet = true;

  /** The state of the server, each time it changes. */
  readonly onState = this.changed.event;
  readonly onEvent = this.happened.event;
  readonly onTerminalOutput = this.printed.event;
  /** The state of a language server of its own is other than it was. */
  readonly onLanguageServers = this.serversChanged.event;
  /** A provider has listed its models after the list was shown without them. */
  readonly onModels = this.modelsChanged.event;
  /** The server knows that the workspace is trusted now. */
  readonly onTrusted = this.trusted.event;
  /** The user has chosen a code action that begins with a prompt. */
  readonly onPromptPut = this.promptPut.event;
  /** A suggested edit is another one, or none. */
  readonly onEditChanged = this.editChanged.event;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly output: vscode.LogOutputChannel,
    private readonly keys: Keys,
    private readonly held: Held,
    private readonly inline: Inline,
  ) {
    this.languages = new Languages(held);
    this.subscriptions = [
      this.languages,
      vscode.workspace.onDidChangeConfiguration((change) => this.configurationChanged(change)),
      // A server that starts later is told at its start.
      vscode.workspace.onDidGrantWorkspaceTrust(() => (this.current.state === 'running' ? void this.tellTrust() : undefined)),
    ];
  }

  get state(): ServerFact {
    return this.current;
  }

  /** False until it is first started. */
  get hasBegun(): boolean {
    return this.begun;
  }

  /** Starts it, or waits for it where it starts already. What goes wrong is in `state`. */
  start(): Promise<void> {
    this.isQuiet = false;
    return this.startQuietly();
  }

  /** As `start`, if the user has not asked for it. */
  startQuietly(): Promise<void> {
    this.starting ??= this.startOnce().finally(() => (this.starting = undefined));
    return this.starting;
  }

  /** The user does something that needs it. */
  use(): void {
    this.isQuiet = false;
    if (!this.begun) void this.start();
  }

  /** Tells of a failure: in the log, and in a message unless nobody has asked for the server. */
  async tell(message: string, ...actions: string[]): Promise<string | undefined> {
    this.output.error(message);
    return this.isQuiet ? undefined : vscode.window.showErrorMessage(unlinked(message), ...actions);
  }

  async restart(): Promise<void> {
    await this.starting;
    await this.end();
    this.crashes = [];
    await this.start();
  }

  /** Sends a request. Where the server could not be started, it says why, and does not try again. */
  async request<M extends Method>(method: M, params: Requests[M]['params'], token?: vscode.CancellationToken): Promise<Requests[M]['result']> {
    if (this.starting !== undefined || this.current.state === 'starting') await this.startQuietly();
    if (this.client === undefined) throw new Error(this.current.state === 'stopped' ? this.current.message : 'The server is not running.');
    // With a second argument that is no token, the library would send both as a list.
    return token === undefined ? this.client.sendRequest<Requests[M]['result']>(method, params) : this.client.sendRequest<Requests[M]['result']>(method, params, token);
  }

  /** Shows the server's log; where no server runs, what this extension has to say of it. */
  async openLog(): Promise<void> {
    if (this.client === undefined) {
      this.output.show();
      return;
    }
    await this.client.sendRequest('workspace/executeCommand', { command: 'azimuth.openLog', arguments: [] });
  }

  async dispose(): Promise<void> {
    vscode.Disposable.from(...this.subscriptions).dispose();
    await this.end();
  }

  private async startOnce(): Promise<void> {
    if (this.client !== undefined) return;
    this.begun = true;
    this.become({ state: 'starting' });
    const found = findServer({
      setting: configuration().get('server.path', ''),
      extension: this.context.extensionPath,
      path: process.env['PATH'] ?? '',
      platform: process.platform,
      runs,
    });
    if ('problem' in found) {
      this.fail(found.problem);
      return;
    }
    this.output.info(`starting ${found.file} (${found.source})`);
    // The client library is most of the extension's code; it is not loaded before it is needed.
    const { connect } = await import('./connection');
    const client = connect({
      file: found.file,
      environment: { ...process.env, ...(await this.keys.environment()) },
      output: this.output,
      held: this.held,
      languages: this.languages,
      inline: this.inline,
      onEvent: (params) => this.happened.fire(params),
      onTerminalOutput: (params) => this.printed.fire(params),
      onServersChanged: () => this.serversChanged.fire(),
      onModelsChanged: () => this.modelsChanged.fire(),
      onPromptPut: (params) => this.promptPut.fire(params),
      onEditChanged: (params) => this.editChanged.fire(params),
      onClosed: (closed) => this.crashed(closed),
    });
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      this.client = undefined;
      this.fail(`The server ${found.file} did not start: ${messageOf(error)}. "Azimuth: Show Output" has more.`);
      return;
    }
    const info = client.initializeResult?.serverInfo;
    const problem = misfit(info, version(this.context), found);
    if (problem !== undefined) {
      await this.end();
      this.fail(problem);
      return;
    }
    this.output.info(`running, version ${info?.version ?? 'unknown'}`);
    this.become({ state: 'running', version: info?.version ?? '' });
  }

  private async tellTrust(): Promise<void> {
    try {
      await this.request('azimuth/workspace/trust', { trusted: true, byEditor: true });
      this.trusted.fire();
    } catch (error) {
      this.output.error(`the server was not told that the workspace is trusted: ${messageOf(error)}`);
    }
  }

  /** The connection closed. Where nobody asked for that, the server crashed, and is started again. */
  private crashed(client: LanguageClient): void {
    if (this.client !== client) return;
    this.client = undefined;
    // While it starts, `start` itself says what is wrong.
    if (this.starting !== undefined) return;
    const now = Date.now();
    this.crashes = [...this.crashes.filter((at) => now - at < CRASH_SPAN_MS), now];
    this.output.error(`the server ended unexpectedly (${this.crashes.length} within three minutes)`);
    if (this.crashes.length >= CRASHES) {
      return this.fail(`The server ended unexpectedly ${CRASHES} times within three minutes and is not restarted automatically. "Azimuth: Show Log" may say why; "Azimuth: Restart Server" tries again.`);
    }
    void this.startQuietly();
  }

  private async end(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client?.needsStop() === true) {
      await client.stop().catch((error: unknown) => this.output.warn(`stopping: ${messageOf(error)}`));
    }
  }

  private configurationChanged(change: vscode.ConfigurationChangeEvent): void {
    if (change.affectsConfiguration('azimuth.server.path')) return void this.restart();
    if (!trusted.some((name) => change.affectsConfiguration(`azimuth.${name}`))) return;
    const restart = 'Restart Server';
    void vscode.window.showInformationMessage('Azimuth reads this setting when its server starts. The session continues after a restart.', restart)
      .then((chosen) => (chosen === restart ? this.restart() : undefined));
  }

  private fail(message: string): void {
    this.become({ state: 'stopped', message });
    const [retry, output] = ['Try Again', 'Show Output'];
    void this.tell(message, retry, output).then((chosen) => {
      if (chosen === retry) return this.restart();
      if (chosen === output) this.output.show();
      return undefined;
    });
  }

  private become(state: ServerFact): void {
    this.current = state;
    if (state.state === 'running') this.inline.connected();
    else if (state.state === 'starting') this.inline.starting();
    else this.inline.take(undefined);
    this.changed.fire(state);
  }
}

function configuration(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration('azimuth');
}

function version(context: vscode.ExtensionContext): string {
  return (context.extension.packageJSON as { version: string }).version;
}

function runs(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
