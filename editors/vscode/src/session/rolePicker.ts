// The choice of the models for other work than conversations.

import * as vscode from 'vscode';
import type { Role, RoleInfo } from '../generated/protocol';
import type { Request } from '../server/requests';
import { iconless, visible } from '../text';
import { chooseModel } from './modelList';

/** The roles whose models are none for conversations, so that they are not in the list of those. */
const ofTyping: readonly Role[] = ['completion', 'next_edit'];

/** Chooses a role, then its model, and for how long. */
export async function pickRole(request: Request, onChange: vscode.Event<void>): Promise<void> {
  const listed = request('azimuth/model/roles', {}).then(({ roles }) => roles.map(itemOf));
  const item = await vscode.window.showQuickPick(listed, { title: 'Azimuth: models for different work', matchOnDescription: true, matchOnDetail: true });
  if (item === undefined) return;
  const { role } = item;
  const model = await chooseName(role, request, onChange);
  if (model === undefined) return;
  const isTakenBack = model === takenBack;
  // A pick counts before a setting, so it goes first.
  const keep = isTakenBack ? !role.picked : await askToKeep(role);
  if (keep === undefined) return;
  const picked = await request('azimuth/model/pick', { role: role.role, ...(isTakenBack ? {} : { model }), keep });
  const now = `${picked.role.role}: ${picked.role.model ?? 'no model of its own'}; ${picked.role.why}`;
  void vscode.window.showInformationMessage(`Azimuth: ${visible(`${picked.text}. ${now}`.replaceAll('`', '"'))}.`);
}

/** The choice of what holds without the model that was picked or kept. */
const takenBack = '';

/** The words for that choice; none if there is nothing to take back. */
function takeBackWords(info: RoleInfo): string | undefined {
  if (info.picked) return 'Take back what was picked';
  return info.kept === true ? 'Take the setting out of config.toml' : undefined;
}

/** The name of a model; empty to take back what was picked or kept. */
async function chooseName(info: RoleInfo, request: Request, onChange: vscode.Event<void>): Promise<string | undefined> {
  const title = `Azimuth: model for ${iconless(info.words)}`;
  if (ofTyping.includes(info.role)) {
    const words = takeBackWords(info);
    const hint = words === undefined ? '' : ` Leave it empty to ${words.charAt(0).toLowerCase()}${words.slice(1)}.`;
    const prompt = `The id of a model that suggests text, such as "ollama/qwen2.5-coder:1.5b-base".${hint}`;
    const given = await vscode.window.showInputBox({ title, prompt, value: info.model ?? '' });
    const name = given?.trim();
    return name === takenBack && words === undefined ? undefined : name;
  }
  const words = takeBackWords(info);
  const chosen = await chooseModel({ title, current: info.model, other: words === undefined ? undefined : `$(discard) ${words}` }, request, onChange);
  if (chosen === undefined || chosen === 'other') return chosen === 'other' ? takenBack : undefined;
  if (!chosen.available) throw new Error(`${chosen.name}: ${chosen.unavailableBecause ?? 'it cannot be used now.'}`);
  return chosen.id;
}

/** Asks if a choice is written into the configuration. */
async function askToKeep({ role }: RoleInfo): Promise<boolean | undefined> {
  const but = role === 'plan' ? ', but for those in which you chose a model' : '';
  const items = [
    { keep: false, label: 'Until Azimuth ends', detail: `It counts in all conversations that this window's Azimuth runs${but}.` },
    { keep: true, label: 'Keep as default', detail: 'It is written into your config.toml.' },
  ];
  return (await vscode.window.showQuickPick(items, { title: 'Azimuth: for how long?' }))?.keep;
}

function itemOf(role: RoleInfo): vscode.QuickPickItem & { role: RoleInfo } {
  return {
    label: iconless(`${role.words.charAt(0).toUpperCase()}${role.words.slice(1)}`),
    description: iconless([role.role, role.model ?? 'no model of its own'].join(' · ')),
    detail: iconless(role.why.replaceAll('`', '"')),
    role,
  };
}
