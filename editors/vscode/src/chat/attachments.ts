// Files and selections as blocks of the prompt.

import * as vscode from 'vscode';
import type { Attachment } from './messages';

/** The selection of the active editor, if there is one. */
export function selection(): Attachment | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || editor.selection.isEmpty) return undefined;
  const { document, selection: { start, end } } = editor;
  return {
    label: labelOf(document.uri, editor.selection),
    block: {
      type: 'selection',
      uri: document.uri.toString(),
      range: { start: { line: start.line, character: start.character }, end: { line: end.line, character: end.character } },
      text: document.getText(editor.selection),
    },
  };
}

export function file(uri: vscode.Uri): Attachment {
  return { label: labelOf(uri), block: { type: 'file', uri: uri.toString() } };
}

/** A file for people, with the lines of a range, from 1. A range that ends at a line's start does not count that line. */
export function labelOf(uri: vscode.Uri, range?: vscode.Range): string {
  const path = vscode.workspace.asRelativePath(uri);
  if (range === undefined) return path;
  const last = range.end.character === 0 && range.end.line > range.start.line ? range.end.line : range.end.line + 1;
  return last === range.start.line + 1 ? `${path}:${last}` : `${path}:${range.start.line + 1}-${last}`;
}
