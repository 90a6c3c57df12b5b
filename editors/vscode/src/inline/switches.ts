// The switches that turn suggestions off: settings, a pause, and other extensions that suggest.

import * as vscode from 'vscode';
import type { InlineStatusParams } from '../generated/protocol';
import { unlinked } from '../text';
import { possible, suggesting, type Other, type Window } from './others';
import { areWanted, isModelNamed, isOn, isOnInWorkspace, listed, minutes, switchInWords, type Facts, type Remedy, type Switch } from './state';

/** Where the end of the pause is kept, in milliseconds since the epoch. It survives a reload of the window. */
const PAUSED = 'azimuth.inline.paused';
/** Where it is kept which others the user was told of. */
const TOLD = 'azimuth.inline.told';
/** Where it is kept that there was a model for suggestions, as long as one is named. */
const HAD_MODEL = 'azimuth.inline.hasModel';

const MINUTE_MS = 60_000;

/** A setting that switches suggestions. */
interface Setting {
  section: string;
  name: string;
}

interface Found {
  names: string[];
  possible: (Other & { setting: string })[];
}

const ours: Setting = { section: 'azimuth.inline', name: 'enabled' };
const editors: Setting = { section: 'editor', name: 'inlineSuggest.enabled' };

export class Switches implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[];
  private timer: NodeJS.Timeout | undefined;
  /** The other extensions that suggest, and those that may do so, once they were looked for. */
  private others: Found | undefined;
  private accounts = new Set<string>();

  readonly onChange = this.changed.event;

  constructor(private readonly memory: { all: vscode.Memento; workspace: vscode.Memento }) {
    const look = (): void => this.look();
    this.subscriptions = [
      this.changed,
      vscode.workspace.onDidChangeConfiguration(look),
      vscode.extensions.onDidChange(look),
      // Nothing tells that an extension has become active.
      vscode.window.onDidChangeActiveTextEditor(look),
      vscode.authentication.onDidChangeSessions(() => void this.lookForAccounts()),
    ];
    this.wait();
  }

  /** True if the user wants suggestions, so that the server is to start with the window. */
  get areUsed(): boolean {
    return areWanted({
      hadModel: this.memory.all.get<boolean>(HAD_MODEL, false),
      models: ['completionModel', 'nextEditModel'].map((name): unknown => vscode.workspace.getConfiguration('azimuth').inspect(name)?.globalValue),
      all: inspected(ours),
      languages: languages().map((languageId) => inspected(ours, { languageId })),
    });
  }

  /** Notes if there is a model. One that is named and not there just now is wanted still. */
  noteModel(status: InlineStatusParams): void {
    const had = this.memory.all.get<boolean>(HAD_MODEL, false);
    const has = status.state === 'ready' || status.editModel !== undefined || (had && isModelNamed(status));
    if (has !== had) void this.memory.all.update(HAD_MODEL, has);
    if (status.state !== 'off' || status.editModel !== undefined) void this.lookForAccounts();
  }

  facts(document?: vscode.TextDocument): Omit<Facts, 'status'> {
    return {
      isOn: isOn(inspected(ours)),
      isOnForLanguage: isOn(inspected(ours, document)),
      language: document?.languageId,
      isOnInEditor: isOn(inspected(editors, document)),
      others: isWithOthers() ? [] : this.found.names,
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

  /** Turns suggestions on or off, for all languages or for the one of a document. Says how they are then. */
  async toggle(document?: vscode.TextDocument): Promise<string> {
    await turn(ours, !isOn(inspected(ours, document)), document);
    const value = inspected(ours, document);
    const others = document === undefined ? languages().filter((languageId) => isOn(inspected(ours, { languageId })) !== isOn(value)) : [];
    return switchInWords(value, document?.languageId, others);
  }

  /** Does what lets suggestions come again. */
  async remedy(remedy: Remedy, document?: vscode.TextDocument): Promise<void> {
    switch (remedy) {
      case 'turnOn': return turn(ours, true);
      case 'turnOnForLanguage': return turn(ours, true, document);
      case 'turnOnInEditor': return turn(editors, true, document, inspected(editors, document).globalLanguageValue === false);
      case 'resume': return this.pauseFor(0);
      case 'suggestToo': return vscode.workspace.getConfiguration('azimuth').update('inline.withOthers', true, vscode.ConfigurationTarget.Global);
    }
  }

  /** Says once that others suggest as well, so that nothing is suggested here. */
  async tellOfOthers(): Promise<void> {
    const { names } = this.found;
    if (!(await this.isNews(names))) return;
    const [too, settings] = ['Suggest Anyway', 'Show Settings'];
    const chosen = await vscode.window.showInformationMessage(
      unlinked(`${listed(names)} ${names.length === 1 ? 'suggests' : 'suggest'} text where you type, so Azimuth does not. Switch that off, or have both.`), too, settings);
    if (chosen === too) await this.remedy('suggestToo');
    if (chosen === settings) await vscode.commands.executeCommand('workbench.action.openSettings', 'azimuth.inline');
  }

  /** Says once that another extension may suggest as well, where nothing proves it. */
  async tellOfPossible(): Promise<void> {
    const [other] = isWithOthers() ? [] : this.found.possible;
    if (other === undefined || !(await this.isNews([`${other.name} may`]))) return;
    const only = 'Use Azimuth only…';
    const chosen = await vscode.window.showInformationMessage(unlinked(`${other.name} may suggest text where you type, too.`), only, 'OK');
    if (chosen === only) await vscode.commands.executeCommand('workbench.action.openSettings', other.setting);
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private get found(): Found {
    return (this.others ??= lookForOthers(this.accounts));
  }

  /** True if the user was not told of all of these, and is told now. */
  private async isNews(names: readonly string[]): Promise<boolean> {
    const told = this.memory.all.get<string[]>(TOLD, []);
    if (names.every((name) => told.includes(name))) return false;
    await this.memory.all.update(TOLD, [...new Set([...told, ...names])]);
    return true;
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
  vscode.window.setStatusBarMessage(await switches.toggle(document), 4_000);
}

/** Switches a setting of the user's for all languages, or for the one of a document. A workspace that switches it off has the last word. */
async function turn(setting: Setting, on: boolean, document?: vscode.TextDocument, isForLanguage = document !== undefined): Promise<void> {
  const value = inspected(setting, document);
  await sectionOf(setting, document).update(setting.name, on, vscode.ConfigurationTarget.Global, isForLanguage);
  if (on && !isOnInWorkspace(value)) await askToRemove(setting, value, document);
}

/** Asks to remove the value by which a workspace switches a setting off: its file may be shared with others. */
async function askToRemove(setting: Setting, value: Switch, document?: vscode.TextDocument): Promise<void> {
  const id = `${setting.section}.${setting.name}`;
  const [open, remove] = ['Open Settings', 'Remove'];
  const chosen = await vscode.window.showWarningMessage(`The settings of this workspace switch ${id} off, and come before your own. Remove it from them?`, open, remove);
  if (chosen === open) await vscode.commands.executeCommand('workbench.action.openWorkspaceSettings', id);
  if (chosen !== remove) return;
  const { WorkspaceFolder, Workspace } = vscode.ConfigurationTarget;
  const places = [
    [value.workspaceFolderLanguageValue, WorkspaceFolder, true], [value.workspaceFolderValue, WorkspaceFolder, false],
    [value.workspaceLanguageValue, Workspace, true], [value.workspaceValue, Workspace, false],
  ] as const;
  for (const [there, target, isForLanguage] of places) {
    if (there === false) await sectionOf(setting, document).update(setting.name, undefined, target, isForLanguage);
  }
}

function lookForOthers(accounts: ReadonlySet<string>): Found {
  const window: Window = {
    has: (id) => vscode.extensions.getExtension(id) !== undefined,
    isActive: (id) => vscode.extensions.getExtension(id)?.isActive === true,
    setting: (name) => vscode.workspace.getConfiguration().inspect(name),
    hasAccount: (provider) => accounts.has(provider),
  };
  const names = suggesting(window);
  return { names, possible: possible(window).filter(({ name }) => !names.includes(name)) };
}

/** The languages for which the switch is set. */
function languages(): readonly string[] {
  return sectionOf(ours).inspect(ours.name)?.languageIds ?? [];
}

function isWithOthers(): boolean {
  return vscode.workspace.getConfiguration('azimuth').get('inline.withOthers', false);
}

function sectionOf({ section }: Setting, scope?: vscode.ConfigurationScope): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration(section, scope);
}

function inspected(setting: Setting, scope?: vscode.ConfigurationScope): Switch {
  return sectionOf(setting, scope).inspect(setting.name) ?? {};
}
