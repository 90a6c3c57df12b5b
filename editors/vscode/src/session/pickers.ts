// Choices of a session, how much its model thinks, and a mode.

import * as vscode from 'vscode';
import { modes } from '../generated/modes';
import type { Mode, SessionInfo, ThinkingLevel } from '../generated/protocol';
import { isError, messageOf, type Request } from '../server/requests';
import { dollars, iconless, unlinked, visible } from '../text';
import { thinkingOf } from './fold';
import type { Session } from './session';

interface SessionItem extends vscode.QuickPickItem {
  session: SessionInfo;
}

const renameButton: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('edit'), tooltip: 'Rename' };
const deleteButton: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('trash'), tooltip: 'Delete' };

/** Shows the sessions, to open, rename or delete one. */
export async function pickSession(session: Session): Promise<void> {
  for (;;) {
    const picked = await chooseSession(await session.list(), session.id);
    switch (picked?.action) {
      case undefined: return;
      case 'open': return session.open(picked.session.sessionId);
      case 'rename': await rename(session, picked.session); break;
      case 'delete': await remove(session, picked.session); break;
    }
  }
}

interface Picked {
  action: 'open' | 'rename' | 'delete';
  session: SessionInfo;
}

function chooseSession(sessions: SessionInfo[], current: string | undefined): Promise<Picked | undefined> {
  const pick = vscode.window.createQuickPick<SessionItem>();
  pick.title = 'Azimuth: sessions of this workspace';
  pick.placeholder = sessions.length === 0 ? 'There is none yet. The first prompt makes one.' : 'Type to search. Enter opens a session.';
  pick.matchOnDescription = true;
  pick.items = sessions.map((session) => sessionItem(session, current));
  return new Promise<Picked | undefined>((resolve) => {
    pick.onDidAccept(() => {
      const [item] = pick.activeItems;
      if (item !== undefined) resolve({ action: 'open', session: item.session });
    });
    pick.onDidTriggerItemButton(({ button, item }) => resolve({ action: button === renameButton ? 'rename' : 'delete', session: item.session }));
    pick.onDidHide(() => resolve(undefined));
    pick.show();
  }).finally(() => pick.dispose());
}

export async function rename(session: Session, { sessionId, title }: { sessionId: string; title: string }): Promise<void> {
  const name = await vscode.window.showInputBox({
    title: 'Azimuth: rename the session',
    value: title,
    validateInput: (text) => (text.trim() === '' ? 'A title has at least one letter.' : undefined),
  });
  if (name !== undefined) await session.rename(sessionId, name.trim());
}

/** Asks first. True where it was deleted. */
export async function remove(session: Session, { sessionId, title }: { sessionId: string; title: string }): Promise<boolean> {
  const confirm = 'Delete';
  const chosen = await vscode.window.showWarningMessage(
    unlinked(`Delete the session "${title === '' ? sessionId : title}"?`),
    { modal: true, detail: 'Its messages and pending hunks are deleted. Files are not changed. This cannot be undone.' },
    confirm,
  );
  if (chosen !== confirm) return false;
  await session.delete(sessionId);
  return true;
}

/** Chooses how much the session's model thinks: of a list, or with `next` the level after the one that counts. */
export async function pickThinking(session: Session, request: Request, next = false): Promise<void> {
  const { models, default: usual } = await request('azimuth/model/list', { unasked: true });
  const id = session.state?.model ?? usual;
  const model = models.find((it) => it.id === id);
  const levels = model?.levels ?? [];
  if (model === undefined || levels.length === 0) {
    void vscode.window.showInformationMessage(`${visible(model?.name ?? 'The model')} cannot be told how much to think.`);
    return;
  }
  const current = thinkingOf(session.state, model) ?? byItself;
  const choices = [byItself, ...levels] as const;
  const chosen = next ? choices[(choices.findIndex((choice) => choice === current) + 1) % choices.length] : await pickLevel(model.name, choices, current);
  if (chosen === undefined) return;
  await request('azimuth/model/select', { model: `${model.id}:${chosen}`, sessionId: await session.some() });
}

/** The server's word for as much as a model thinks by itself. */
const byItself = 'default';

type Choice = ThinkingLevel | typeof byItself;

async function pickLevel(name: string, choices: readonly Choice[], current: Choice): Promise<Choice | undefined> {
  const items = choices.map((choice) => ({
    choice,
    label: choice === byItself ? 'by itself' : choice,
    ...(choice === current ? { description: 'current' } : {}),
  }));
  return (await vscode.window.showQuickPick(items, { title: `Azimuth: how much ${visible(name)} thinks` }))?.choice;
}

/** Asks for the mode of the next turns. */
export async function pickMode(current: Mode): Promise<Mode | undefined> {
  if (!vscode.workspace.isTrusted) {
    const trust = 'Manage Workspace Trust';
    const chosen = await vscode.window.showInformationMessage('In an untrusted workspace Azimuth only looks and answers. Trust the workspace to let it change files and run commands.', trust);
    if (chosen === trust) await vscode.commands.executeCommand('workbench.trust.manage');
    return undefined;
  }
  const items = Object.values(modes).map(({ mode, label, words, needsConfirmation }) => ({
    mode,
    label: `$(${icons[mode]}) ${label}`,
    detail: `${words.charAt(0).toUpperCase()}${words.slice(1)}.${needsConfirmation ? ' It has to be confirmed.' : ''}`,
    ...(mode === current ? { description: 'current' } : {}),
  }));
  return (await vscode.window.showQuickPick(items, { title: 'Azimuth: mode', matchOnDetail: true }))?.mode;
}

const icons: Readonly<Record<Mode, string>> = { ask: 'eye', plan: 'list-ordered', agent: 'sparkle', accept_edits: 'check-all', bypass: 'warning' };

/** Sets the mode. What the server wants confirmed is asked in its words. */
export async function chooseMode(session: Session, mode: Mode): Promise<void> {
  try {
    await session.setMode(mode);
  } catch (error) {
    if (!isError(error, 'notConfirmed')) throw error;
    const confirm = `Switch to ${modes[mode].label}`;
    const chosen = await vscode.window.showWarningMessage('Let Azimuth act without asking?', { modal: true, detail: visible(`${messageOf(error).replaceAll('`', '"')}.`) }, confirm);
    if (chosen === confirm) await session.setMode(mode, true);
  }
}

/** Asks whether edits are accepted automatically, and for how long, and sees to it. */
export async function pickAcceptEdits(session: Session): Promise<void> {
  const { accepts } = session;
  const project = session.state?.acceptEdits?.project ?? false;
  const items = [
    { on: false, scope: 'session' as const, label: '$(eye) Review edits', detail: project ? 'They wait for your decision, in this session. In others of this project they are accepted automatically.' : 'They wait for your decision.' },
    { on: true, scope: 'session' as const, label: '$(check-all) Accept edits in this session', detail: 'Automatically, until the server ends. They stay listed and can be undone.' },
    { on: true, scope: 'project' as const, label: '$(check-all) Accept edits in this project', detail: 'Automatically, in every session of the project, permanently. The choice is kept in your own data; protected paths are not covered.' },
    ...(project ? [{ on: false, scope: 'project' as const, label: '$(eye) Review edits in this project again', detail: 'They wait for your decision, in every session of it.' }] : []),
  ].map((item) => ({ ...item, description: (item.on ? item.scope === accepts : accepts === undefined && item.scope === 'session') ? 'current' : '' }));
  const picked = await vscode.window.showQuickPick(items, { title: 'Azimuth: how edits are taken' });
  if (picked !== undefined) await session.setAcceptEdits(picked.on, picked.scope);
}

function sessionItem(session: SessionInfo, current: string | undefined): SessionItem {
  const { sessionId, title, updatedAt, cost } = session;
  const words = [new Date(updatedAt).toLocaleString(), cost > 0 ? dollars(cost) : '', sessionId === current ? 'shown now' : ''];
  return {
    label: title === '' ? 'No prompt yet' : iconless(title),
    description: words.filter((word) => word !== '').join(' · '),
    buttons: [renameButton, deleteButton],
    session,
  };
}
