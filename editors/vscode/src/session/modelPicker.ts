// The choice of a model.

import * as vscode from 'vscode';
import type { Request } from '../server/requests';
import { iconless } from '../text';
import { nextModel } from './modelGroups';
import { chooseModel } from './modelList';
import { pickRole } from './rolePicker';
import type { Session } from './session';

/** An event of a choice comes within this time, in milliseconds. */
const EVENT_MS = 1_000;

/** Chooses the session's model. Without a session it makes one: the model of new ones may be fixed by a setting. */
export async function pickModel(session: Session, request: Request, onChange: vscode.Event<void>): Promise<void> {
  const chosen = await chooseModel({ title: 'Azimuth: model', current: session.state?.model, other: '$(list-tree) Choose the model for other work…' }, request, onChange);
  if (chosen === undefined) return;
  if (chosen === 'other') return pickRole(request, onChange);
  const model = chosen;
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
