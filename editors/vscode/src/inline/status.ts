// The status bar item of suggestions where the user types, there only if they have, or had, a model.

import * as vscode from 'vscode';
import { visible } from '../text';
import type { Inline } from './inline';
import { wordsOf, type State } from './state';
import type { Switches } from './switches';

export class InlineStatus implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('azimuth.inline', vscode.StatusBarAlignment.Right, 86);
  private readonly subscription: vscode.Disposable;
  private isPaused: boolean | undefined;

  constructor(private readonly inline: Inline, private readonly switches: Switches) {
    this.item.name = 'Azimuth: Suggestions';
    this.item.command = 'azimuth.inline.show';
    this.subscription = inline.onChange(() => this.update());
    this.update();
  }

  dispose(): void {
    vscode.Disposable.from(this.subscription, this.item).dispose();
  }

  private update(): void {
    const state = this.inline.state(vscode.window.activeTextEditor?.document);
    this.mark(this.switches.pause > 0);
    if (state.remedy === 'suggestToo') void this.switches.tellOfOthers();
    if (state.kind === 'ready') void this.switches.tellOfPossible();
    if (!this.inline.isUsed) return this.item.hide();
    this.draw(state);
    this.item.show();
  }

  private mark(isPaused: boolean): void {
    if (this.isPaused === isPaused) return;
    this.isPaused = isPaused;
    void vscode.commands.executeCommand('setContext', 'azimuth.inlinePaused', isPaused);
  }

  private draw(state: State): void {
    const { text, tooltip } = wordsOf(state);
    if (this.item.text !== text) this.item.text = text;
    const said = visible(tooltip);
    if (this.item.tooltip !== said) this.item.tooltip = said;
    this.item.accessibilityInformation = { label: said };
    this.item.backgroundColor = state.kind === 'failing' ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
  }
}
