// The list of models, to choose one.

import * as vscode from 'vscode';
import type { ModelInfo } from '../generated/protocol';
import type { Request } from '../server/requests';
import { iconless } from '../text';
import { modelFacts, modelGroups } from './modelGroups';

interface ModelItem extends vscode.QuickPickItem {
  /** None for a heading, and for the entry that is no model. */
  model?: ModelInfo;
  /** True for the entry that is no model. */
  isOther?: boolean;
}

/** The words of a list of models. */
export interface ModelListWords {
  readonly title: string;
  /** The id of the model that is in use. */
  readonly current: string | undefined;
  /** The entry at the end that is no model, if there is one. */
  readonly other?: string | undefined;
}

/** Shows the models, and shows them anew when a slow provider has listed its own. Gives `other` for the entry that is no model. */
export async function chooseModel({ title, current, other }: ModelListWords, request: Request, onChange: vscode.Event<void>): Promise<ModelInfo | 'other' | undefined> {
  const pick = vscode.window.createQuickPick<ModelItem>();
  pick.title = title;
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  pick.busy = true;
  const list = async (): Promise<void> => {
    const listed = await request('azimuth/model/list', {});
    const [active] = pick.activeItems;
    const models = modelGroups(listed).flatMap(({ title: heading, models: group }): ModelItem[] => [
      { label: iconless(heading), kind: vscode.QuickPickItemKind.Separator },
      ...group.map((model) => itemOf(model, current)),
    ]);
    // It stays in the list whatever is typed.
    pick.items = other === undefined ? models : [...models, { label: '', kind: vscode.QuickPickItemKind.Separator }, { label: other, isOther: true, alwaysShow: true }];
    const again = pick.items.find((item) => item.model !== undefined && item.model.id === active?.model?.id);
    if (again !== undefined) pick.activeItems = [again];
    pick.placeholder = iconless(listed.notes?.[0] ?? 'Type to search by name, provider or price.');
    pick.busy = false;
  };
  const subscription = onChange(() => void list().catch(() => undefined));
  try {
    return await new Promise<ModelInfo | 'other' | undefined>((resolve, reject) => {
      pick.onDidAccept(() => {
        const [item] = pick.activeItems;
        if (item?.isOther === true) resolve('other');
        else if (item?.model !== undefined) resolve(item.model);
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
    detail: model.available ? iconless(modelFacts(model)) + warningOf(model) : `$(circle-slash) ${iconless(model.unavailableBecause ?? 'It cannot be used now.')}`,
    model,
  };
}

/** The words about a problem with a model, if there is one. */
function warningOf({ warning }: ModelInfo): string {
  return warning === undefined ? '' : ` · $(warning) ${iconless(warning)}`;
}
