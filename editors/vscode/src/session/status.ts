// The status bar item: what the agent does, with which model, at what cost, and what waits for the user.

import * as vscode from 'vscode';
import { modes } from '../generated/modes';
import type { Changes } from '../instruct/changes';
import type { Review } from '../review/review';
import type { Server } from '../server/server';
import { shortCommand, waitingInWords, waitingTerminals } from '../terminal/state';
import { dollars, iconless, visible } from '../text';
import { asked } from './fold';
import type { Session } from './session';
import type { Sums } from './sums';

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('azimuth.status', vscode.StatusBarAlignment.Right, 90);
  /** The switch of the automatic acceptance, there only while that is on. */
  private readonly auto = vscode.window.createStatusBarItem('azimuth.auto', vscode.StatusBarAlignment.Right, 89);
  /** The mark of the mode in which nothing is asked. */
  private readonly bypass = vscode.window.createStatusBarItem('azimuth.bypass', vscode.StatusBarAlignment.Right, 88);
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly server: Server, private readonly session: Session, private readonly review: Review, private readonly changes: Changes, private readonly sums: Sums) {
    this.item.name = 'Azimuth';
    this.item.command = 'azimuth.chat.open';
    this.auto.name = 'Azimuth: Edits Are Accepted';
    this.auto.command = 'azimuth.acceptEdits.select';
    this.bypass.name = 'Azimuth: Nothing Is Asked';
    this.bypass.text = '$(warning) bypass';
    this.bypass.tooltip = 'Azimuth: nothing is asked except what your rules always ask. Choose another mode to be asked again.';
    this.bypass.accessibilityInformation = { label: this.bypass.tooltip };
    this.bypass.backgroundColor = new vscode.ThemeColor('statusBarItem.errorBackground');
    this.bypass.command = 'azimuth.mode.select';
    const update = (): void => this.update();
    this.subscriptions = [
      server.onState(update), session.onSwitch(update), session.onStep(update), session.onMode(update), session.onTerminals(update), review.onChange(update), changes.onChange(update), sums.onChange(update),
      vscode.workspace.onDidChangeConfiguration(update), this.item, this.auto, this.bypass,
    ];
    this.update();
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private update(): void {
    if (!this.server.hasBegun) return;
    this.item.show();
    const { state } = this.session;
    const questions = (state?.questions.size ?? 0) + this.changes.questions.length;
    const waits = waitingTerminals(this.session.terminals);
    const { icon, word } = this.doing(questions, waits.length);
    const hunks = this.review.pendingCount;
    const now = state === undefined ? undefined : asked(state);
    const name = now?.model?.split('/').at(-1);
    const model = name === undefined ? undefined : iconless(name);
    const parts = [
      word === '' && model === undefined ? 'Azimuth' : word,
      state?.scripted === true ? `${model ?? ''} (scripted)` : model,
      state !== undefined && state.cost > 0 ? dollars(state.cost) : undefined,
      hunks > 0 ? `$(diff) ${hunks}` : undefined,
    ];
    const text = `${icon} ${parts.filter((part) => part !== undefined && part !== '').join(' · ')}`;
    const tooltip = [
      `Azimuth: ${word === '' ? 'ready' : word}`,
      state?.title,
      now?.model === undefined ? undefined : `Model: ${now.model}`,
      now?.thinking === undefined ? undefined : `Thinking: ${now.thinking}`,
      state === undefined || state.cost === 0 ? undefined : `Cost of this conversation: ${dollars(state.cost)}`,
      ...this.sums.words,
      state?.context === undefined ? undefined : `Context: ${Math.round((100 * state.context.used) / state.context.limit)}% full`,
      hunks === 0 ? undefined : `${hunks} ${hunks === 1 ? 'hunk waits' : 'hunks wait'} for your decision`,
      ...waits.map((terminal) => `${shortCommand(terminal.running?.command ?? terminal.title)} ${waitingInWords(terminal.waiting)}`),
      this.server.state.state === 'stopped' ? this.server.state.message : undefined,
    ].filter((line): line is string => line !== undefined && line !== '').map(visible).join('\n');
    // Each change of an item is sent to the window; most events change nothing of it.
    if (this.item.text !== text) this.item.text = text;
    if (this.item.tooltip !== tooltip) this.item.tooltip = tooltip;
    this.item.accessibilityInformation = { label: tooltip };
    const background = this.server.state.state === 'stopped' ? 'statusBarItem.errorBackground' : questions + waits.length > 0 ? 'statusBarItem.warningBackground' : undefined;
    this.item.backgroundColor = background === undefined ? undefined : new vscode.ThemeColor(background);
    this.updateAuto();
    if (modes[this.session.mode].asks) this.bypass.hide();
    else this.bypass.show();
    void setContext('azimuth.turnRunning', state?.runningTurn !== undefined);
    void setContext('azimuth.questions', questions > 0);
    void setContext('azimuth.session', state !== undefined);
  }

  private updateAuto(): void {
    const { accepts } = this.session;
    if (accepts === undefined) return this.auto.hide();
    const long = accepts === 'project' ? 'in every session of this project' : 'in this session';
    this.auto.text = accepts === 'project' ? '$(check-all) accepts edits in project' : '$(check-all) accepts edits';
    this.auto.tooltip = `Azimuth: edits are accepted automatically, ${long}. Choose to review them again.`;
    this.auto.accessibilityInformation = { label: this.auto.tooltip };
    this.auto.show();
  }

  private doing(questions: number, waits: number): { icon: string; word: string } {
    if (this.server.state.state === 'starting') return { icon: '$(loading~spin)', word: 'Azimuth starts' };
    if (this.server.state.state === 'stopped') return { icon: '$(error)', word: 'Azimuth is not running' };
    if (questions > 0) return { icon: '$(question)', word: 'asks you' };
    if (waits > 0) return { icon: '$(keyboard)', word: 'a command waits for input' };
    if (this.session.state?.runningTurn !== undefined) return { icon: '$(loading~spin)', word: 'works' };
    return { icon: '$(sparkle)', word: '' };
  }
}

const contexts = new Map<string, boolean>();

async function setContext(key: string, value: boolean): Promise<void> {
  if (contexts.get(key) === value) return;
  contexts.set(key, value);
  await vscode.commands.executeCommand('setContext', key, value);
}
