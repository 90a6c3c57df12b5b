// Marks at the lines that commands or other programs changed in a file, until that is decided.

import * as vscode from 'vscode';
import { place } from './layout';
import type { Review } from './review';

export class LandedMarks implements vscode.Disposable {
  private readonly added = barOf('editorGutter.addedBackground', 'editorOverviewRuler.addedForeground', '0 0 0 3px');
  /** Where lines went away, the line below them. */
  private readonly removed = barOf('editorGutter.deletedBackground', 'editorOverviewRuler.deletedForeground', '1px 0 0 3px');
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly review: Review) {
    const update = (): void => this.update();
    this.subscriptions = [review.onChange(update), vscode.window.onDidChangeVisibleTextEditors(update), this.added, this.removed];
    this.update();
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private update(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document.uri.scheme !== 'file') continue;
      const landed = this.review.of(editor.document.uri).flatMap(({ proposal }) => (proposal.landed === true ? place(proposal) : []));
      const lines = landed.map(({ document }) => document);
      editor.setDecorations(this.added, lines.filter(({ start, end }) => end > start).map(({ start, end }) => new vscode.Range(start, 0, end - 1, 0)));
      editor.setDecorations(this.removed, lines.filter(({ start, end }) => end === start).map(({ start }) => new vscode.Range(start, 0, start, 0)));
    }
  }
}

/** A bar at the left of whole lines, with a mark in the overview ruler. */
export function barOf(border: string, ruler: string, width: string): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    borderStyle: 'solid',
    borderWidth: width,
    borderColor: new vscode.ThemeColor(border),
    overviewRulerColor: new vscode.ThemeColor(ruler),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  });
}
