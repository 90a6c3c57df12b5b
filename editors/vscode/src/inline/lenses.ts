// The actions for a suggested edit, in a line above each hunk of several lines, and its diff where it is pointed at.

import * as vscode from 'vscode';
import type { InlineEdit, InlineHunk } from '../generated/protocol';
import { LensNews } from '../lenses';
import { asDiff, hunkAt, inWords, isLong, numberOf, sizeOf } from './edit';
import type { NextEdits } from './next';
import { oldText } from './paint';

export class EditLenses implements vscode.CodeLensProvider, vscode.HoverProvider, vscode.Disposable {
  private readonly news = new LensNews();
  private readonly subscriptions: vscode.Disposable[];

  readonly onDidChangeCodeLenses = this.news.event;

  constructor(private readonly edits: NextEdits) {
    this.subscriptions = [
      this.news,
      edits.onDraw(() => this.news.tell()),
      vscode.languages.registerCodeLensProvider({ scheme: 'file' }, this),
      vscode.languages.registerHoverProvider({ scheme: 'file' }, this),
    ];
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    this.news.asked(document);
    if (!vscode.workspace.getConfiguration('azimuth').get<boolean>('codeLens', true)) return [];
    const edit = this.edits.drawnIn(document);
    return edit === undefined ? [] : edit.hunks.filter(isLong).flatMap((hunk) => lensesOf(edit, hunk, document));
  }

  provideHover(document: vscode.TextDocument, position: vscode.Position): vscode.Hover | undefined {
    const edit = this.edits.drawnIn(document);
    const hunk = edit === undefined ? undefined : hunkAt(edit, position.line);
    if (edit === undefined || hunk === undefined) return undefined;
    this.edits.hovered();
    const old = oldText(document, hunk);
    const text = new vscode.MarkdownString(undefined, true);
    text.appendText(`Azimuth suggests an edit${edit.hunks.length === 1 ? '' : `, hunk ${numberOf(edit, hunk)}`}. ${summary(hunk, old)}`);
    text.appendCodeblock(asDiff(hunk, old), 'diff');
    return new vscode.Hover(text);
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }
}

function lensesOf(edit: InlineEdit, hunk: InlineHunk, document: vscode.TextDocument): vscode.CodeLens[] {
  const line = Math.min(hunk.range.start.line, document.lineCount - 1);
  const range = new vscode.Range(line, 0, line, 0);
  const lens = (title: string, command: string): vscode.CodeLens => new vscode.CodeLens(range, { title, command, arguments: [hunk.id] });
  const more = edit.hunks.length === 1 ? [] : [lens('$(arrow-down) Next', 'azimuth.nextEdit.next'), lens(numberOf(edit, hunk), '')];
  const all = lens(`$(diff) Azimuth ${sizeOf(hunk, oldText(document, hunk))}`, 'azimuth.nextEdit.show');
  return [all, lens('$(check) Accept', 'azimuth.nextEdit.accept'), lens('$(close) Reject', 'azimuth.nextEdit.reject'), ...more];
}

/** The hunk in words, without its text, which the diff shows. */
function summary(hunk: InlineHunk, old: string): string {
  return isLong(hunk) ? 'Tab at the hunk accepts it.' : `${inWords(hunk, old)}.`;
}
