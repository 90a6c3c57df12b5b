// The proposals of a change, drawn where they would go: what goes away is struck, what comes is drawn behind it, and the whole of a
// hunk is in its hover.

import * as vscode from 'vscode';
import type { InlineHunk } from '../generated/protocol';
import { asDiff } from '../inline/edit';
import { marksOf } from '../inline/marks';
import { optionsOf } from '../inline/paint';
import { hunkAt, place, stands, type Placed } from '../review/layout';
import { barOf } from '../review/marks';
import type { Review } from '../review/review';
import type { Changes } from './changes';
import { isPlain, plainEditorsOf } from './tabs';

export class ChangeMarks implements vscode.HoverProvider, vscode.Disposable {
  private readonly removed = vscode.window.createTextEditorDecorationType({
    backgroundColor: new vscode.ThemeColor('diffEditor.removedTextBackground'),
    textDecoration: 'line-through',
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
  private readonly inserted = vscode.window.createTextEditorDecorationType({ rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed });
  private readonly lines = barOf('editorGutter.modifiedBackground', 'editorOverviewRuler.modifiedForeground', '0 0 0 3px');
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly changes: Changes, private readonly review: Review) {
    const update = (): void => this.update();
    this.subscriptions = [
      this.removed, this.inserted, this.lines,
      review.onChange(update),
      vscode.window.onDidChangeVisibleTextEditors(update),
      vscode.window.onDidChangeTextEditorViewColumn(update),
      vscode.window.tabGroups.onDidChangeTabs(update),
      vscode.workspace.onDidChangeTextDocument(({ document }) => (changes.of(document.uri).length > 0 ? this.update() : undefined)),
      vscode.languages.registerHoverProvider({ scheme: 'file' }, this),
    ];
    this.update();
  }

  provideHover(document: vscode.TextDocument, position: vscode.Position): vscode.Hover | undefined {
    const found = hunkAt(this.hunksIn(document), 'document', position.line);
    if (found === undefined || plainEditorsOf(document).length === 0) return undefined;
    const text = new vscode.MarkdownString().appendText('Azimuth proposes this change. It is not in the file yet.');
    text.appendCodeblock(asDiff(inlineOf(found), found.hunk.oldText), 'diff');
    return new vscode.Hover(text);
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private update(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const { document } = editor;
      if (document.uri.scheme !== 'file') continue;
      // A diff shows them itself.
      const hunks = isPlain(editor) ? this.hunksIn(document) : [];
      const widthOf = (line: number): number => document.lineAt(Math.min(line, document.lineCount - 1)).text.length;
      const { removed, inserted } = optionsOf(hunks.map((one) => marksOf(inlineOf(one), one.hunk.oldText, widthOf)));
      editor.setDecorations(this.removed, removed);
      editor.setDecorations(this.inserted, inserted);
      editor.setDecorations(this.lines, hunks.map(({ document: { start, end } }) => new vscode.Range(start, 0, Math.max(start, end - 1), 0)));
    }
  }

  /** The pending hunks of changes in a document that it has as they were made for. */
  private hunksIn(document: vscode.TextDocument): Placed[] {
    if (this.changes.all.length === 0) return [];
    const text = document.getText();
    return this.review.of(document.uri)
      .filter(({ proposal }) => this.changes.having(proposal.proposalId) !== undefined)
      .flatMap(({ proposal }) => place(proposal).filter((placed) => stands(text, proposal, placed, 'document')));
  }
}

function inlineOf({ hunk, document: { start, end } }: Placed): InlineHunk {
  return { id: hunk.hunkId, range: { start: { line: start, character: 0 }, end: { line: end, character: 0 } }, text: hunk.newText };
}
