// The choice of a model.

import * as vscode from 'vscode';
import type { ModelInfo } from '../generated/protocol';
import type { Request } from '../server/requests';
import { iconless } from '../text';
import { modelFacts, modelGroups, nextModel } from './modelGroups';
import type { Session } from './session';

/** An event of a choice comes within this time, in milliseconds. */
const EVENT_MS = 1_000;

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

/** Takes the next one of the models that were chosen last; with fewer than two of those, the user chooses. */
export class NextModel {
  private last: Promise<unknown> = Promise.resolve();
  /** The model that was chosen last, and in which session: its event may come a moment after the next key. */
  private chosen: { session: string; model: string; before: string | undefined; at: number } | undefined;

  constructor(private readonly session: Session, private readonly request: Request, private readonly onChange: vscode.Event<void>) {}

  /** Takes the next one, after those that were asked for before. */
  take(): Promise<void> {
    const taken = this.last.then(() => this.choose());
    this.last = taken.catch(() => undefined);
    // The picker is not waited for: the next key opens another one in its place.
    return taken.then((picks) => (picks ? pickModel(this.session, this.request, this.onChange) : undefined));
  }

  /** Gives true if the user has to choose. */
  private async choose(): Promise<boolean> {
    const listed = await this.request('azimuth/model/list', {});
    const next = nextModel(listed, this.current() ?? listed.default);
    if (next === undefined) return true;
    const session = await this.session.some();
    // A new session has a model too, from which the next key goes on.
    const before = this.session.state?.model;
    const { model } = await this.request('azimuth/model/select', { model: next.id, sessionId: session });
    this.chosen = { session, model: model.id, before, at: Date.now() };
    // A message is announced by screen readers, and one in the status bar is not.
    void vscode.window.showInformationMessage(`Azimuth: the model is ${iconless(model.name)}.`);
    return false;
  }

  private current(): string | undefined {
    const now = this.session.state?.model;
    const { chosen } = this;
    const isNewer = chosen !== undefined && chosen.session === this.session.id && chosen.before === now && Date.now() - chosen.at < EVENT_MS;
    return isNewer ? chosen.model : now;
  }
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
    detail: model.available ? iconless(modelFacts(model)) + warningOf(model) : `$(circle-slash) ${iconless(model.unavailableBecause ?? 'It cannot be used now.')}`,
    model,
  };
}

/** The words about a problem with a model, if there is one. */
function warningOf({ warning }: ModelInfo): string {
  return warning === undefined ? '' : ` · $(warning) ${iconless(warning)}`;
}
