// The list of Azimuth's own language servers: how each stands, and what can be done to it.

import * as vscode from 'vscode';
import type { ServerInfo, ServersListResult } from '../generated/protocol';
import { messageOf, type Request } from '../server/requests';
import { iconless, unlinked, visible } from '../text';
import { canRestart, iconOf, wordsOf } from './state';

/** The part of the server that the list needs. */
export interface Asked {
  readonly onLanguageServers: vscode.Event<void>;
  openLog(): Promise<void>;
}

interface Row extends vscode.QuickPickItem {
  /** None for what is wrong with a file that names servers. */
  server?: ServerInfo;
}

interface Act extends vscode.QuickPickItem {
  run: () => Promise<unknown>;
}

/** Shows them, to start one anew or to look at the log. */
export async function showLanguageServers(server: Asked, request: Request): Promise<void> {
  const chosen = await choose(server, request);
  if (chosen === undefined) return;
  const acts = actsOf(chosen.server, server, request);
  const picked = await vscode.window.showQuickPick(acts, { title: visible(`Azimuth: ${chosen.server?.name ?? 'configuration of language servers'}`) });
  await picked?.run();
}

async function choose(server: Asked, request: Request): Promise<Row | undefined> {
  const pick = vscode.window.createQuickPick<Row>();
  pick.title = 'Azimuth: language servers of its own';
  pick.placeholder = 'Looking…';
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  pick.keepScrollPosition = true;
  pick.busy = true;
  let [shown, isListed] = ['', false];
  const fill = (list: ServersListResult): void => {
    const rows = rowsOf(list);
    pick.placeholder = rows.length === 0 ? 'There is none for this workspace; your extensions are asked' : 'Your extensions are asked first. Enter: show actions';
    // A list that is set anew loses the row that is marked.
    const now = JSON.stringify(rows.map(({ label, description, detail }) => [label, description, detail]));
    if (now === shown) return;
    shown = now;
    const active = pick.activeItems[0]?.server;
    pick.items = rows;
    const again = rows.find((row) => active !== undefined && row.server?.name === active.name && row.server.root === active.root);
    if (again !== undefined) pick.activeItems = [again];
  };
  const subscriptions: vscode.Disposable[] = [pick];
  try {
    return await new Promise<Row | undefined>((resolve, reject) => {
      const refresh = async (): Promise<void> => {
        try {
          fill(await request('azimuth/servers/list', {}));
          isListed = true;
        } catch (error) {
          // The list stays if the server is away for a moment.
          if (!isListed) reject(error instanceof Error ? error : new Error(messageOf(error)));
        } finally {
          pick.busy = false;
        }
      };
      subscriptions.push(
        pick.onDidAccept(() => (pick.activeItems[0] === undefined ? undefined : resolve(pick.activeItems[0]))),
        pick.onDidHide(() => resolve(undefined)),
        server.onLanguageServers(() => void refresh()),
      );
      pick.show();
      void refresh();
    });
  } finally {
    vscode.Disposable.from(...subscriptions).dispose();
  }
}

function rowsOf({ servers, problems }: ServersListResult): Row[] {
  return [
    ...servers.map((server): Row => {
      const { label, description, detail } = wordsOf(server, vscode.workspace.asRelativePath(vscode.Uri.parse(server.root), true));
      return { label: `$(${iconOf(server.state)}) ${iconless(label)}`, description: iconless(description), detail: iconless(detail), server };
    }),
    // Behind, so that Enter is for a server.
    ...problems.map((problem): Row => ({ label: `$(warning) ${iconless(problem)}`, alwaysShow: true })),
  ];
}

function actsOf(chosen: ServerInfo | undefined, server: Asked, request: Request): Act[] {
  const restart: Act[] = chosen === undefined || !canRestart(chosen) ? [] : [{ label: '$(debug-restart) Restart', run: () => restartOne(chosen.name, request) }];
  return [...restart, { label: '$(output) Show the log', run: () => server.openLog() }];
}

async function restartOne(name: string, request: Request): Promise<void> {
  const { restarted } = await request('azimuth/servers/restart', { name });
  const done = restarted === 0 ? 'did not run; it starts' : 'was ended; it starts again';
  void vscode.window.showInformationMessage(unlinked(`Azimuth: ${name} ${done} with the next question.`));
}
