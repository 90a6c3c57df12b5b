// A suggested edit as it is drawn in an editor: what goes away is struck, what comes is drawn behind it, and a hunk that is out of
// sight is pointed at from the cursor's line.

import * as vscode from 'vscode';
import type { InlineEdit, InlineHunk } from '../generated/protocol';
import { visible } from '../text';
import { linesOf } from './edit';
import { marksOf, type Marks } from './marks';

export class EditPaint implements vscode.Disposable {
  private readonly removed = vscode.window.createTextEditorDecorationType({
    backgroundColor: new vscode.ThemeColor('diffEditor.removedTextBackground'),
    textDecoration: 'line-through',
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
  private readonly inserted = vscode.window.createTextEditorDecorationType({ rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed });
  private readonly gutter: vscode.TextEditorDecorationType;
  private readonly hint = vscode.window.createTextEditorDecorationType({ rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed });
  /** The editor that has marks. */
  private drawn: vscode.TextEditor | undefined;

  constructor(extension: vscode.Uri) {
    const icon = (theme: string): { gutterIconPath: vscode.Uri } => ({ gutterIconPath: vscode.Uri.joinPath(extension, 'media', `next-edit-${theme}.svg`) });
    this.gutter = vscode.window.createTextEditorDecorationType({
      dark: icon('dark'),
      light: icon('light'),
      gutterIconSize: 'contain',
      overviewRulerColor: new vscode.ThemeColor('diffEditorOverview.insertedForeground'),
      overviewRulerLane: vscode.OverviewRulerLane.Center,
    });
  }

  /** Draws an edit of the editor's document. */
  draw(editor: vscode.TextEditor, edit: InlineEdit): void {
    this.over(editor);
    const { document } = editor;
    const { removed, inserted } = optionsOf(edit.hunks.map((hunk) => marksOf(hunk, oldText(document, hunk), (line) => document.lineAt(line).text.length)));
    editor.setDecorations(this.removed, removed);
    editor.setDecorations(this.inserted, inserted);
    editor.setDecorations(this.gutter, edit.hunks.map((hunk) => {
      const line = Math.min(linesOf(hunk).first, document.lineCount - 1);
      return new vscode.Range(line, 0, line, 0);
    }));
  }

  /** Says behind the cursor's line where a hunk is that is out of sight. */
  point(editor: vscode.TextEditor, words: string): void {
    this.over(editor);
    const { range } = editor.document.lineAt(editor.selection.active.line);
    const after: vscode.ThemableDecorationAttachmentRenderOptions = {
      contentText: words, margin: '0 0 0 2em', color: new vscode.ThemeColor('editorCodeLens.foreground'), fontStyle: 'italic',
    };
    editor.setDecorations(this.hint, [{ range: new vscode.Range(range.end, range.end), renderOptions: { after } }]);
  }

  /** Takes what points at a hunk off the screen. */
  unpoint(): void {
    this.drawn?.setDecorations(this.hint, []);
  }

  clear(): void {
    for (const type of [this.removed, this.inserted, this.gutter, this.hint]) this.drawn?.setDecorations(type, []);
    this.drawn = undefined;
  }

  dispose(): void {
    vscode.Disposable.from(this.removed, this.inserted, this.gutter, this.hint).dispose();
  }

  private over(editor: vscode.TextEditor): void {
    if (this.drawn !== editor) this.clear();
    this.drawn = editor;
  }
}

/** The marks of hunks as VS Code draws them: what is struck, and what is drawn behind it. */
export function optionsOf(marks: readonly Marks[]): { removed: vscode.Range[]; inserted: vscode.DecorationOptions[] } {
  return {
    removed: marks.flatMap(({ removed }) => removed.map(({ line, start, end }) => new vscode.Range(line, start, line, end))),
    inserted: marks.flatMap(({ inserted }) => inserted.map(({ line, column, text, isLines }) => ({
      range: new vscode.Range(line, column, line, column),
      renderOptions: { after: behind(`${isLines ? '↵ ' : ''}${drawable(text)}`, isLines) },
    }))),
  };
}

/** The text that a hunk replaces, with LF line ends. */
export function oldText(document: vscode.TextDocument, { range: { start, end } }: InlineHunk): string {
  return document.getText(new vscode.Range(start.line, start.character, end.line, end.character)).replaceAll('\r\n', '\n');
}

function behind(contentText: string, isLines: boolean): vscode.ThemableDecorationAttachmentRenderOptions {
  return {
    contentText,
    backgroundColor: new vscode.ThemeColor('diffEditor.insertedTextBackground'),
    color: new vscode.ThemeColor('editor.foreground'),
    fontStyle: 'italic',
    ...(isLines ? { margin: '0 0 0 1em' } : {}),
  };
}

/** A text as VS Code draws it: it draws a tab as one space, and blank space at an end not at all. */
function drawable(text: string): string {
  return visible(text.replaceAll('\t', '    ')).replaceAll(' ', '\u00a0');
}
