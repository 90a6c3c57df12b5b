// The choice of a model.

import * as vscode from 'vscode';
import type { ModelInfo } from '../generated/protocol';
import type { Request } from '../server/requests';
import { iconless } from '../text';
import { modelFacts, modelGroups, nextModel } from './modelGroups';
import type { Session } from './session';

interface ModelItem extends vscode.QuickPickItem {
  /** None for a heading. */
  model?: ModelInfo;
}

/** Chooses the session's model. Without a session it makes one: the model of new ones may be fixed by a setting. */
export async function pickModel(session: Session, request: Request, onChange: vscode.Event<void>): Promise<void> {
  const model = await chooseModel(session.state?.model, request, onChange);
  if (model === undefined) return;
  if (!model.available) throw new Error(`${model.name}: ${model.unavailableBecause ?? 'it cannot be used now.'}`);
  await request('azimuth/model/select', { model: model.id, sessionId: await session.some() });
}

/** Chooses the next one of the models that were chosen last. */
export async function nextModelOf(session: Session, request: Request): Promise<void> {
  const listed = await request('azimuth/model/list', {});
  const next = nextModel(listed, session.state?.model ?? listed.default);
  if (next === undefined) {
    void vscode.window.showInformationMessage('Azimuth: there is no other model that can be used.');
    return;
  }
  const { model } = await request('azimuth/model/select', { model: next.id, sessionId: await session.some() });
  vscode.window.setStatusBarMessage(`Azimuth: the model is ${iconless(model.name)}`, 5_000);
}

/** Shows the models, and shows them anew when a slow provider has listed its own. */
async function chooseModel(current: string | undefined, request: Request, onChange: vscode.Event<void>): Promise<ModelInfo | undefined> {
  const pick = vscode.window.createQuickPick<ModelItem>();
  pick.title = 'Azimuth: model';
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  pick.busy = true;
  const list = async (): Promise<void> => {
    const listed = await request('azimuth/model/list', {});
    const [active] = pick.activeItems;
    pick.items = modelGroups(listed).flatMap(({ title, models }) => [
      { label: iconless(title), kind: vscode.QuickPickItemKind.Separator },
      ...models.map((model) => itemOf(model, current)),
    ]);
    const again = pick.items.find((item) => item.model !== undefined && item.model.id === active?.model?.id);
    if (again !== undefined) pick.activeItems = [again];
    pick.placeholder = iconless(listed.notes?.[0] ?? 'Type to search by name, provider or price.');
    pick.busy = false;
  };
  const subscription = onChange(() => void list().catch(() => undefined));
  try {
    return await new Promise<ModelInfo | undefined>((resolve, reject) => {
      pick.onDidAccept(() => {
        const model = pick.activeItems[0]?.model;
        if (model !== undefined) resolve(model);
      });
      pick.onDidHide(() => resolve(undefined));
      pick.show();
      list().catch(reject);
    });
  } finally {
    subscription.dispose();
    pick.dispose();
  }
}

function itemOf(model: ModelInfo, current: string | undefined): ModelItem {
  const words = [model.id, model.id === current ? 'current' : '', model.scripted ? 'scripted' : ''];
  return {
    label: iconless(model.name),
    description: iconless(words.filter((word) => word !== '').join(' · ')),
    detail: model.available ? iconless(modelFacts(model)) : `$(circle-slash) ${iconless(model.unavailableBecause ?? 'It cannot be used now.')}`,
    model,
  };
}
