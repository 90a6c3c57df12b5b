// A change while the model still writes it, drawn in the text: what would go away is struck, and the newest line of
// what would come is drawn behind it. Its hunks replace that once the message is complete. The hover has all that has
// come.

import * as vscode from 'vscode';
import { optionsOf } from '../inline/paint';
import { blocksOf, findBlocks, isNamed, type Arriving, type Found } from './arriving';
import type { Change, Changes } from './changes';
import { lastLineOf } from './state';
import { isPlain, plainEditorsOf } from './tabs';

/** The shortest time between two drawings of an arriving diff, in milliseconds. */
const EVERY_MS = 100;

export class ArrivingMarks implements vscode.HoverProvider, vscode.Disposable {
  private readonly removed = vscode.window.createTextEditorDecorationType({
    backgroundColor: new vscode.ThemeColor('diffEditor.removedTextBackground'),
    textDecoration: 'line-through',
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
  private readonly inserted = vscode.window.createTextEditorDecorationType({ rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed });
  private readonly subscriptions: vscode.Disposable[];
  /** The editors that have marks. */
  private drawn = new Set<vscode.TextEditor>();
  private soon: NodeJS.Timeout | undefined;

  constructor(private readonly changes: Changes) {
    const update = (): void => this.update();
    this.subscriptions = [
      this.removed, this.inserted,
      changes.onChange(update),
      vscode.window.onDidChangeVisibleTextEditors(update),
      vscode.window.onDidChangeTextEditorViewColumn(update),
      vscode.window.tabGroups.onDidChangeTabs(update),
      vscode.workspace.onDidChangeTextDocument(({ document }) => (changes.of(document.uri).length > 0 ? this.update() : undefined)),
      vscode.languages.registerHoverProvider({ scheme: 'file' }, this),
    ];
  }

  /** At lines that would change, that part of the diff; elsewhere in what is selected, all of it. */
  provideHover(document: vscode.TextDocument, { line }: vscode.Position): vscode.Hover | undefined {
    if (plainEditorsOf(document).length === 0) return undefined;
    const found = this.foundIn(document).find(({ first, last }) => line >= first && line <= last);
    const whole = this.arrivingIn(document).filter(({ change }) => change.selections.some((one) => line >= one.start.line && line <= lastLineOf(one)));
    const diff = found?.block.diff.join('\n') ?? whole.map(({ arriving }) => arriving.diff).join('\n');
    if (diff === '') return undefined;
    return new vscode.Hover(new vscode.MarkdownString().appendText('Azimuth is writing this change. It is not in the file.').appendCodeblock(diff, 'diff'));
  }

  dispose(): void {
    clearTimeout(this.soon);
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  /** Draws it in a moment; what has ended goes at once. */
  private update(): void {
    const isArriving = this.changes.all.some(isRunning);
    if (!isArriving && this.drawn.size === 0) return;
    if (isArriving) this.soon ??= setTimeout(() => this.draw(), EVERY_MS);
    else this.draw();
  }

  private draw(): void {
    clearTimeout(this.soon);
    this.soon = undefined;
    const before = this.drawn;
    this.drawn = new Set();
    for (const editor of vscode.window.visibleTextEditors) {
      const found = isPlain(editor) ? this.foundIn(editor.document) : [];
      if (found.length === 0 && !before.has(editor)) continue;
      const { removed, inserted } = optionsOf(found.map(({ marks }) => marks));
      editor.setDecorations(this.removed, removed);
      editor.setDecorations(this.inserted, inserted);
      if (found.length > 0) this.drawn.add(editor);
    }
  }

  private foundIn(document: vscode.TextDocument): Found[] {
    const arriving = this.arrivingIn(document);
    if (arriving.length === 0) return [];
    const lines = document.getText().split(/\r?\n/);
    return arriving.flatMap(({ change, arriving: one }) => findBlocks(blocksOf(one), lines, change.selections));
  }

  private arrivingIn({ uri }: vscode.TextDocument): { change: Change; arriving: Arriving }[] {
    if (uri.scheme !== 'file') return [];
    return this.changes.all.filter(isRunning).flatMap((change) => change.progress.arriving.filter(({ path }) => isNamed(path, uri.path)).map((arriving) => ({ change, arriving })));
  }
}

/** A turn that ended with the server says nothing of its last message. */
function isRunning({ progress }: Change): boolean {
  return progress.session.runningTurn !== undefined && progress.arriving.length > 0;
}
