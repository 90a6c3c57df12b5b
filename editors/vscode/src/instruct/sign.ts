// The signs of a change while it is made, and the word on it when it ends without one: behind the first selected line, and in
// the status bar.

import * as vscode from 'vscode';
import { iconless, visible } from '../text';
import type { Change, Changes } from './changes';
import { barOf } from '../review/marks';
import { doing, lastLineOf, outcome } from './state';

/** The most characters of the model's words that are shown behind a line; the rest is in the hover. */
const SHOWN = 80;
/** The most characters of them in the status bar. */
const SHOWN_IN_BAR = 50;
/** The time that the words stay at least, in milliseconds; then they go with the next key or click. */
const READ_MS = 4_000;

/** The words on a change that ended. */
interface Note {
  uri: string;
  line: number;
  text: string;
  at: number;
}

export class ChangeSigns implements vscode.Disposable {
  private readonly words = vscode.window.createTextEditorDecorationType({ rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed });
  private readonly lines = barOf('editorGutter.modifiedBackground', 'editorOverviewRuler.modifiedForeground', '0 0 0 3px');
  private readonly item = vscode.window.createStatusBarItem('azimuth.instruct', vscode.StatusBarAlignment.Right, 84);
  private readonly subscriptions: vscode.Disposable[];
  private note: Note | undefined;
  private readonly contexts = new Map<string, boolean>();

  constructor(private readonly changes: Changes) {
    this.item.name = 'Azimuth: Change';
    const update = (): void => this.update();
    this.subscriptions = [
      this.words, this.lines, this.item,
      changes.onChange(update),
      changes.onEnd((change) => this.end(change)),
      vscode.window.onDidChangeVisibleTextEditors(update),
      vscode.window.onDidChangeActiveTextEditor(update),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length === 0) return;
        if (document.uri.toString() === this.note?.uri) this.note = undefined;
        if (changes.of(document.uri).length > 0) this.update();
      }),
      vscode.window.onDidChangeTextEditorSelection(({ kind }) => {
        if (this.note !== undefined && kind !== undefined && Date.now() - this.note.at > READ_MS) this.forget();
      }),
    ];
    this.update();
  }

  /** Takes the words of an earlier change off the screen. */
  forget(): void {
    this.note = undefined;
    this.update();
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private end(change: Change): void {
    const text = outcome(change.progress);
    if (text === undefined) return;
    this.note = { uri: change.uri, line: change.selections[0]?.start.line ?? 0, text, at: Date.now() };
    this.update();
  }

  private update(): void {
    const running = this.changes.all.filter(({ progress }) => progress.session.runningTurn !== undefined);
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document.uri.scheme === 'file') this.draw(editor, running.filter(({ uri }) => uri === editor.document.uri.toString()));
    }
    this.say(running);
    const active = vscode.window.activeTextEditor?.document;
    this.tell('azimuth.changeRunning', running.length > 0);
    this.tell('azimuth.changeHere', active !== undefined && this.changes.of(active.uri).length > 0);
  }

  private draw(editor: vscode.TextEditor, running: readonly Change[]): void {
    const { document } = editor;
    const isNoted = this.note?.uri === document.uri.toString();
    const behind = running.map(({ progress, selections }) => ({ line: selections[0]?.start.line ?? 0, text: doing(progress) ?? '', hover: 'Ctrl+K Q cancels it.' }));
    if (isNoted && this.note !== undefined) behind.push({ line: this.note.line, text: `Azimuth: ${short(this.note.text)}`, hover: this.note.text });
    editor.setDecorations(this.words, behind.map(({ line, text, hover }) => {
      const { end } = document.lineAt(Math.min(line, document.lineCount - 1)).range;
      return {
        range: new vscode.Range(end, end),
        hoverMessage: new vscode.MarkdownString().appendText(visible(hover)),
        renderOptions: { after: { contentText: visible(text), margin: '0 0 0 2em', color: new vscode.ThemeColor('editorCodeLens.foreground'), fontStyle: 'italic' } },
      };
    }));
    editor.setDecorations(this.lines, running.flatMap(({ selections }) => selections.map((one) => {
      const last = document.lineCount - 1;
      return new vscode.Range(Math.min(one.start.line, last), 0, Math.min(lastLineOf(one), last), 0);
    })));
  }

  /** Says the signs to those who do not see them. */
  private say([first]: readonly Change[]): void {
    const noted = this.note === undefined ? undefined : `Azimuth: ${this.note.text}`;
    const words = first === undefined ? noted : doing(first.progress);
    if (words === undefined) return this.item.hide();
    this.item.text = `$(edit) ${iconless(short(words.replace(/^Azimuth: /, ''), SHOWN_IN_BAR))}`;
    this.item.tooltip = visible(first === undefined ? words : `${words}\nChoose to cancel it.`);
    this.item.accessibilityInformation = { label: visible(words), role: 'status' };
    this.item.command = first === undefined ? 'azimuth.instruct.refine' : 'azimuth.instruct.cancel';
    this.item.show();
  }

  private tell(key: string, now: boolean): void {
    if (this.contexts.get(key) === now) return;
    this.contexts.set(key, now);
    void vscode.commands.executeCommand('setContext', key, now);
  }
}

function short(text: string, most = SHOWN): string {
  const line = text.trim().replaceAll(/\s*\n\s*/g, ' ');
  return line.length > most ? `${line.slice(0, most)}…` : line;
}
