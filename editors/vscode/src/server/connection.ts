// The connection to a server that was found: what this client says of itself, asks and answers.

import { spawn } from 'node:child_process';
import * as vscode from 'vscode';
import {
  CancellationToken, CloseAction, DidChangeConfigurationNotification, ErrorAction, InlineCompletionRequest, LanguageClient, State, type LanguageClientOptions,
  type StaticFeature,
} from 'vscode-languageclient/node';
import type { ClientCapabilities, ClientRequests, Notifications, Requests } from '../generated/protocol';
import { ACCEPTED, type Inline } from '../inline/inline';
import type { Languages } from '../lang/languages';
import * as documents from './documents';
import { format } from './format';
import { Told, type Held } from './held';
import { initializationOptions, settings, type Inspect } from './settings';

type CompleteResult = Requests['azimuth/inline/complete']['result'];
type ChangedParams = Notifications['azimuth/inline/changed']['params'];
type EventParams = Notifications['azimuth/event']['params'];
type PutParams = Notifications['azimuth/prompt/put']['params'];
type OutputParams = Notifications['azimuth/terminal/output']['params'];

/** The parts of a connection. */
export interface Ends {
  /** The server's program. */
  file: string;
  environment: NodeJS.ProcessEnv;
  output: vscode.LogOutputChannel;
  /** The documents that nobody shows. */
  held: Held;
  /** Answers questions about code. */
  languages: Languages;
  /** Suggests text where the user types. */
  inline: Inline;
  onEvent: (params: EventParams) => void;
  onTerminalOutput: (params: OutputParams) => void;
  onServersChanged: () => void;
  onModelsChanged: () => void;
  onPromptPut: (params: PutParams) => void;
  onEditChanged: (params: ChangedParams) => void;
  /** The server has ended, asked to or not. */
  onClosed: (client: LanguageClient) => void;
}

/** A client, not started yet. It does not start its server again by itself. */
export function connect(ends: Ends): LanguageClient {
  const { held } = ends;
  const told = new Told(held, () => client);
  const options: LanguageClientOptions = {
    documentSelector: [{ scheme: 'file' }],
    outputChannel: ends.output,
    initializationOptions: () => initializationOptions(inspect, vscode.workspace.isTrusted),
    initializationFailedHandler: () => false,
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => {
        ends.onClosed(client);
        return { action: CloseAction.DoNotRestart, handled: true };
      },
    },
    middleware: {
      ...told.middleware,
      provideInlineCompletionItems: (document, position, context, token) => ends.inline.provide(document, position, context, token, (params) => (
        client.sendRequest<CompleteResult>('azimuth/inline/complete', params, token))),
      handleRegisterCapability: async (params, next) => {
        await next(params, CancellationToken.None);
        if (params.registrations.some(({ method }) => method === InlineCompletionRequest.method)) ends.inline.registered();
      },
      executeCommand: (command, args, next): vscode.ProviderResult<unknown> => {
        if (command === ACCEPTED) ends.inline.accepted((args as unknown[])[0]);
        return next(command, args);
      },
      provideCodeActions: (document, range, context, token, next) => (ends.languages.isAsking(document.uri) ? [] : next(document, range, context, token)),
      workspace: {
        configuration: (asked) => asked.items.map(({ section }) => (section === 'azimuth' ? settings(inspect) : null)),
        // The settings as they are hold names that are none of the server's; it asks again for what it knows.
        didChangeConfiguration: () => client.sendNotification(DidChangeConfigurationNotification.type, { settings: null }).catch((error: unknown) => {
          // Another path of the server has stopped this one meanwhile.
          if (client.isRunning()) throw error;
        }),
      },
    },
  };
  const run = () => Promise.resolve(spawn(ends.file, ['lsp'], { env: ends.environment, stdio: 'pipe' }));
  const client = new LanguageClient('azimuth', 'Azimuth', run, options);
  client.registerFeature(advertise);
  client.onNotification('azimuth/event', ends.onEvent);
  client.onNotification('azimuth/terminal/output', ends.onTerminalOutput);
  client.onNotification('azimuth/servers/changed', ends.onServersChanged);
  client.onNotification('azimuth/model/changed', ends.onModelsChanged);
  client.onNotification('azimuth/prompt/put', ends.onPromptPut);
  client.onNotification('azimuth/inline/status', (params: Notifications['azimuth/inline/status']['params']) => ends.inline.take(params));
  client.onNotification('azimuth/inline/changed', ends.onEditChanged);
  client.onDidChangeState(({ newState }) => (newState === State.Stopped ? told.dispose() : undefined));
  client.onRequest('azimuth/editor/save', (params: ClientRequests['azimuth/editor/save']['params']) => documents.save(params, held));
  client.onRequest('azimuth/editor/text', (params: ClientRequests['azimuth/editor/text']['params']) => documents.text(params, held));
  client.onRequest('azimuth/editor/format', (params: ClientRequests['azimuth/editor/format']['params']) => format(params, held));
  client.onRequest('azimuth/editor/query', (params: ClientRequests['azimuth/editor/query']['params'], token: vscode.CancellationToken) => ends.languages.query(params, token));
  return client;
}

const capabilities: ClientCapabilities = { panel: true, save: true, text: true, format: true, query: true };

/** Says in `initialize` what this client can do beyond LSP. */
const advertise: StaticFeature = {
  fillClientCapabilities: (all) => {
    const experimental = all.experimental as Record<string, unknown> | undefined;
    all.experimental = { ...experimental, azimuth: capabilities };
    // Our own status bar item says what the agent does; VS Code's progress would say it a second time.
    all.window = { ...all.window, workDoneProgress: false };
  },
  initialize: () => undefined,
  getState: () => ({ kind: 'static' }),
  clear: () => undefined,
};

const inspect: Inspect = (name) => {
  const of = (folder?: vscode.Uri) => vscode.workspace.getConfiguration('azimuth', folder).inspect(name);
  const folderValues = (vscode.workspace.workspaceFolders ?? []).map(({ uri }): unknown => of(uri)?.workspaceFolderValue).filter((value) => value !== undefined);
  return { ...of(), folderValues };
};
