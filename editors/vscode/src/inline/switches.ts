// The switches that turn suggestions off: settings, a pause, and other extensions that suggest.

import * as vscode from 'vscode';
import { unlinked } from '../text';
import { suggesting } from './others';
import { isOn, isOnInWorkspace, listed, minutes, type Facts, type Remedy, type Switch } from './state';

/** Where the end of the pause is kept, in milliseconds since the epoch. It survives a reload of the window. */
const PAUSED = 'azimuth.inline.paused';
/** Where it is kept which others the user was told of. */
const TOLD = 'azimuth.inline.told';
/** Where it is kept when there was a model for suggestions last, in milliseconds since the epoch. */
const HAD_MODEL = 'azimuth.inline.hadModel';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Who had a model within so many days still wants one, though its server may be off just now. */
const DAYS = 14;

export class Switches implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[];
  private timer: NodeJS.Timeout | undefined;
  /** The names of other extensions that suggest, once they were looked for. */
  private others: string[] | undefined;
  private accounts = new Set<string>();

  readonly onChange = this.changed.event;

  constructor(private readonly memory: { all: vscode.Memento; workspace: vscode.Memento }) {
    const look = (): void => this.look();
    this.subscriptions = [
      this.changed,
      vscode.workspace.onDidChangeConfiguration(look),
      vscode.extensions.onDidChange(look),
      vscode.authentication.onDidChangeSessions(() => void this.lookForAccounts()),
    ];
    this.wait();
  }

  /** True if suggestions had a model lately and are on, so that the server is to start with the window. */
  get areUsed(): boolean {
    return Date.now() - this.memory.all.get(HAD_MODEL, 0) < DAYS * DAY_MS && isOn(inspected());
  }

  /** Notes that there is a model. */
  noteModel(): void {
    if (Date.now() - this.memory.all.get(HAD_MODEL, 0) > DAY_MS) void this.memory.all.update(HAD_MODEL, Date.now());
    void this.lookForAccounts();
  }

  facts(document?: vscode.TextDocument): Omit<Facts, 'status'> {
    return {
      isOn: isOn(inspected()),
      isOnForLanguage: document === undefined || isOn(inspected(document)),
      language: document?.languageId,
      isOnInEditor: vscode.workspace.getConfiguration('editor', document).get<boolean>('inlineSuggest.enabled', true),
      others: vscode.workspace.getConfiguration('azimuth').get<boolean>('inline.withOthers', false) ? [] : (this.others ??= lookForOthers(this.accounts)),
      pause: this.pause,
    };
  }

  /** The minutes of the pause that are left, rounded up. */
  get pause(): number {
    return Math.max(0, Math.ceil((this.memory.workspace.get(PAUSED, 0) - Date.now()) / MINUTE_MS));
  }

  /** Pauses suggestions for so many minutes; for none, they go on. */
  async pauseFor(count: number): Promise<void> {
    await this.memory.workspace.update(PAUSED, count > 0 ? Date.now() + count * MINUTE_MS : undefined);
    this.wait();
    this.changed.fire();
  }

  /** Turns suggestions on or off, for all languages or for the one of a document. Gives the new state. */
  async toggle(document?: vscode.TextDocument): Promise<boolean> {
    const on = !isOn(inspected(document));
    await this.turn(on, document);
    return on;
  }

  /** Does what lets suggestions come again. */
  async remedy(remedy: Remedy, document?: vscode.TextDocument): Promise<void> {
    switch (remedy) {
      case 'turnOn': return this.turn(true);
      case 'turnOnForLanguage': return this.turn(true, document);
      case 'turnOnInEditor': return set('editor', 'inlineSuggest.enabled', true);
      case 'resume': return this.pauseFor(0);
      case 'suggestToo': return set('azimuth', 'inline.withOthers', true);
    }
  }

  /** Says once that others suggest as well, so that nothing is suggested here. */
  async tellOfOthers(): Promise<void> {
    const names = this.facts().others;
    const told = this.memory.all.get<string[]>(TOLD, []);
    if (names.every((name) => told.includes(name))) return;
    await this.memory.all.update(TOLD, [...new Set([...told, ...names])]);
    const [too, settings] = ['Suggest Anyway', 'Show Settings'];
    const chosen = await vscode.window.showInformationMessage(
      unlinked(`${listed(names)} ${names.length === 1 ? 'suggests' : 'suggest'} text where you type, so Azimuth does not. Switch that off, or have both.`), too, settings);
    if (chosen === too) await this.remedy('suggestToo');
    if (chosen === settings) await vscode.commands.executeCommand('workbench.action.openSettings', 'azimuth.inline');
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  /** Switches them for all languages, or for the one of a document. A workspace that switches them off has the last word, so its value goes, too. */
  private async turn(on: boolean, document?: vscode.TextDocument): Promise<void> {
    const isForLanguage = document !== undefined;
    const settings = settingsOf(document);
    const value = inspected(document);
    await settings.update('enabled', on, vscode.ConfigurationTarget.Global, isForLanguage);
    if (!on || isOnInWorkspace(value)) return;
    if (value.workspaceFolderValue === false || value.workspaceFolderLanguageValue === false) {
      await settings.update('enabled', undefined, vscode.ConfigurationTarget.WorkspaceFolder, value.workspaceFolderLanguageValue === false);
    }
    if (value.workspaceValue === false || value.workspaceLanguageValue === false) {
      await settings.update('enabled', undefined, vscode.ConfigurationTarget.Workspace, value.workspaceLanguageValue === false);
    }
  }

  private look(): void {
    this.others = undefined;
    this.changed.fire();
  }

  private async lookForAccounts(): Promise<void> {
    // Who has no such provider has no account of it.
    const accounts = await Promise.resolve(vscode.authentication.getAccounts('github')).catch(() => []);
    this.accounts = new Set(accounts.length > 0 ? ['github'] : []);
    this.look();
  }

  /** Looks again each minute of a pause, since the minutes that are left are shown. */
  private wait(): void {
    clearTimeout(this.timer);
    if (this.pause === 0) return;
    const left = (this.memory.workspace.get(PAUSED, 0) - Date.now()) % MINUTE_MS;
    this.timer = setTimeout(() => {
      this.changed.fire();
      this.wait();
    }, left + 100);
  }
}

/** Asks for how long to pause, unless that is given. */
export async function pickPause(switches: Switches, given?: unknown): Promise<void> {
  const choices = [5, 15, 30, 60, 480].map((count) => ({ label: count < 60 ? minutes(count) : count === 60 ? '1 hour' : `${count / 60} hours`, count }));
  const resume = switches.pause === 0 ? [] : [{ label: '$(debug-continue) Resume now', count: 0 }];
  const count = typeof given === 'number' && given >= 0 ? given : (await vscode.window.showQuickPick([...resume, ...choices], { title: 'Azimuth: pause suggestions' }))?.count;
  if (count !== undefined) await switches.pauseFor(count);
}

/** Turns suggestions on or off, for all languages or for the one of the active editor, and says so. */
export async function toggle(switches: Switches, isForLanguage: boolean): Promise<void> {
  const document = isForLanguage ? vscode.window.activeTextEditor?.document : undefined;
  if (isForLanguage && document === undefined) throw new Error('No editor is active, so it is not known which language is meant.');
  const on = await switches.toggle(document);
  const where = document === undefined ? '' : ` for ${document.languageId}`;
  vscode.window.setStatusBarMessage(`Azimuth: suggestions are ${on ? 'on' : 'off'}${where}.`, 4_000);
}

function lookForOthers(accounts: ReadonlySet<string>): string[] {
  const setting = (name: string): unknown => vscode.workspace.getConfiguration().get(name);
  return suggesting({ has: (id) => vscode.extensions.getExtension(id) !== undefined, setting, hasAccount: (provider) => accounts.has(provider) });
}

function settingsOf(document?: vscode.TextDocument): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration('azimuth.inline', document);
}

function inspected(document?: vscode.TextDocument): Switch {
  return settingsOf(document).inspect('enabled') ?? {};
}

async function set(section: string, name: string, value: boolean): Promise<void> {
  await vscode.workspace.getConfiguration(section).update(name, value, vscode.ConfigurationTarget.Global);
}
