// The editors that changes are drawn in: those of files in tabs of their own. A diff shows them itself.

import * as vscode from 'vscode';

/** The visible editors of a document in tabs of their own, in all groups. */
export function plainEditorsOf(document: vscode.TextDocument): vscode.TextEditor[] {
  return vscode.window.visibleTextEditors.filter((editor) => editor.document === document && isPlain(editor));
}

export function isPlain({ document: { uri }, viewColumn }: vscode.TextEditor): boolean {
  if (uri.scheme !== 'file' || viewColumn === undefined) return false;
  const input = vscode.window.tabGroups.all.find((group) => group.viewColumn === viewColumn)?.activeTab?.input;
  return input instanceof vscode.TabInputText && input.uri.toString() === uri.toString();
}
