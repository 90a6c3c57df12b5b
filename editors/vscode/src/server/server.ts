// The server: found, started, watched, and started again when it crashes.

import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import * as vscode from 'vscode';
import {
  CloseAction, DidChangeConfigurationNotification, ErrorAction, ExecuteCommandRequest, LanguageClient, State,
  type LanguageClientOptions, type StaticFeature,
} from 'vscode-languageclient/node';
import type { ServerFact } from '../chat/messages';
import type { ClientCapabilities, Notifications } from '../generated/protocol';
import * as documents from './documents';
import { findServer, misfit, type Found } from './find';
import type { Keys } from './keys';
import { messageOf, type AllRequests, type Method } from './requests';
import { initializationOptions, settings, trusted, type Inspect } from './settings';

/** So many crashes within this time, and it is not started again by itself. */
const CRASHES = 4;
const CRASH_SPAN_MS = 3 * 60_000;

const capabilities: ClientCapabilities = { panel: true, save: true, text: true };

/** One server at a time. */
export class Server implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<ServerFact>();
  private readonly happened = new vscode.EventEmitter<Notifications['azimuth/event']['params']>();
  private readonly printed = new vscode.EventEmitter<Notifications['azimuth/terminal/output']['params']>();
  private readonly subscriptions: vscode.Disposable[] = [];
  private client: LanguageClient | undefined;
  private starting: Promise<void> | undefined;
  private crashes: number[] = [];
  private current: ServerFact = { state: 'starting' };

  /** The state of the server, each time it changes. */
  readonly onState = this.changed.event;
  readonly onEvent = this.happened.event;
  readonly onTerminalOutput = this.printed.event;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly output: vscode.LogOutputChannel,
    private readonly keys: Keys,
  ) {
    this.subscriptions.push(vscode.workspace.onDidChangeConfiguration((change) => this.configurationChanged(change)));
  }

  get state(): ServerFact {
    return this.current;
  }

  /** Starts it, or waits for it where it starts already. What goes wrong is in `state`. */
  start(): Promise<void> {
    this.starting ??= this.startOnce().finally(() => (this.starting = undefined));
    return this.starting;
  }

  async restart(): Promise<void> {
    await this.starting;
    await this.end();
    this.crashes = [];
    await this.start();
  }

  /** Sends a request. Starts the server where it does not run. */
  async request<M extends Method>(method: M, params: AllRequests[M]['params']): Promise<AllRequests[M]['result']> {
    if (this.starting !== undefined || this.client === undefined) await this.start();
    if (this.client === undefined) {
      throw new Error(this.current.state === 'stopped' ? this.current.message : 'The server of Azimuth does not run.');
    }
    return this.client.sendRequest<AllRequests[M]['result']>(method, params);
  }

  /** Shows the server's log; where no server runs, what this extension has to say of it. */
  async openLog(): Promise<void> {
    if (this.client === undefined) { this.output.show(); return; }
    await this.client.sendRequest(ExecuteCommandRequest.type, { command: 'azimuth.openLog', arguments: [] });
  }

  async dispose(): Promise<void> {
    vscode.Disposable.from(...this.subscriptions).dispose();
    await this.end();
  }

  private async startOnce(): Promise<void> {
    if (this.client !== undefined) return;
    this.become({ state: 'starting' });
    const found = findServer({
      setting: configuration().get('server.path', ''),
      extension: this.context.extensionPath,
      path: process.env['PATH'] ?? '',
      platform: process.platform,
      runs,
    });
    if ('problem' in found) { this.fail(found.problem); return; }
    this.output.info(`starting ${found.file} (${found.source})`);
    const client = await this.makeClient(found);
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      this.client = undefined;
      this.fail(`The server ${found.file} did not start: ${messageOf(error)}. "Azimuth: Show Output" has more.`); return;
    }
    const info = client.initializeResult?.serverInfo;
    const problem = misfit(info, version(this.context), found);
    if (problem !== undefined) {
      await this.end();
      this.fail(problem); return;
    }
    this.output.info(`running, version ${info?.version ?? 'unknown'}`);
    this.become({ state: 'running', version: info?.version ?? '' });
  }

  private async makeClient(found: Found): Promise<LanguageClient> {
    const environment = { ...process.env, ...(await this.keys.environment()) };
    const options: LanguageClientOptions = {
      documentSelector: [{ scheme: 'file' }],
      outputChannel: this.output,
      initializationOptions: () => initializationOptions(inspect),
      initializationFailedHandler: () => false,
      connectionOptions: { maxRestartCount: 0 },
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          this.crashed(client);
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
      middleware: {
        workspace: {
          configuration: (asked) => asked.items.map(({ section }) => (section === 'azimuth' ? settings(inspect) : null)),
          // The settings as they are hold names that are none of the server's; it asks again for what it knows.
          didChangeConfiguration: () => client.sendNotification(DidChangeConfigurationNotification.type, { settings: null }),
        },
      },
    };
    const run = () => Promise.resolve(spawn(found.file, ['lsp'], { env: environment, stdio: 'pipe' }));
    const client = new LanguageClient('azimuth', 'Azimuth', run, options);
    client.registerFeature(advertise);
    client.onNotification('azimuth/event', (params: Notifications['azimuth/event']['params']) => this.happened.fire(params));
    client.onNotification('azimuth/terminal/output', (params: Notifications['azimuth/terminal/output']['params']) => this.printed.fire(params));
    client.onRequest('azimuth/editor/save', documents.save);
    client.onRequest('azimuth/editor/text', documents.text);
    return client;
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
      return this.fail(`The server ended unexpectedly ${CRASHES} times within three minutes and is not started again by itself. "Azimuth: Show Log" may say why; "Azimuth: Restart Server" tries again.`);
    }
    void this.start();
  }

  private async end(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client !== undefined && client.state !== State.Stopped) {
      await client.stop().catch((error: unknown) => this.output.warn(`stopping: ${messageOf(error)}`));
    }
  }

  private configurationChanged(change: vscode.ConfigurationChangeEvent): void {
    if (change.affectsConfiguration('azimuth.server.path')) return void this.restart();
    if (!trusted.some((name) => change.affectsConfiguration(`azimuth.${name}`))) return;
    const restart = 'Restart Server';
    void vscode.window.showInformationMessage('Azimuth reads this setting when its server starts. The session goes on after a restart.', restart)
      .then((chosen) => (chosen === restart ? this.restart() : undefined));
  }

  private fail(message: string): void {
    this.output.error(message);
    this.become({ state: 'stopped', message });
    const [retry, output] = ['Try Again', 'Show Output'];
    void vscode.window.showErrorMessage(message, retry, output).then((chosen) => {
      if (chosen === retry) return this.restart();
      if (chosen === output) this.output.show();
      return undefined;
    });
  }

  private become(state: ServerFact): void {
    this.current = state;
    this.changed.fire(state);
  }
}

/** Says in `initialize` what this client can do beyond LSP. */
const advertise: StaticFeature = {
  fillClientCapabilities: (all) => {
    const experimental = all.experimental as Record<string, unknown> | undefined;
    all.experimental = { ...experimental, azimuth: capabilities };
  },
  initialize: () => undefined,
  getState: () => ({ kind: 'static' }),
  clear: () => undefined,
};

const inspect: Inspect = (name) => configuration().inspect(name);

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
