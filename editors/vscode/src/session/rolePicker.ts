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
  const isTakenBack = model === asSet;
  const keep = isTakenBack ? false : await askToKeep();
  if (keep === undefined) return;
  const picked = await request('azimuth/model/pick', { role: role.role, ...(isTakenBack ? {} : { model }), keep });
  void vscode.window.showInformationMessage(`Azimuth: ${visible(picked.text.replaceAll('`', '"'))}.`);
}

/** The choice of what the settings say without a pick. */
const asSet = '';

/** The name of a model; empty for what the settings say. */
async function chooseName(info: RoleInfo, request: Request, onChange: vscode.Event<void>): Promise<string | undefined> {
  const title = `Azimuth: model for ${iconless(info.words)}`;
  if (ofTyping.includes(info.role)) {
    const hint = info.picked ? ' Empty: what the settings say.' : '';
    const prompt = `The id of a model that suggests text, such as "ollama/qwen2.5-coder:1.5b-base".${hint}`;
    const given = await vscode.window.showInputBox({ title, prompt, value: info.model ?? '' });
    const name = given?.trim();
    return name === asSet && !info.picked ? undefined : name;
  }
  const chosen = await chooseModel({ title, current: info.model, other: info.picked ? '$(discard) Take back what was picked' : undefined }, request, onChange);
  return chosen === 'other' ? asSet : chosen?.id;
}

/** Asks if a choice is written into the configuration. */
async function askToKeep(): Promise<boolean | undefined> {
  const items = [
    { keep: false, label: 'Until Azimuth ends', detail: 'It counts for all conversations of this window.' },
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
