// Whether the active editor shows pending hunks: the keys and buttons for them are there only then.

import * as vscode from 'vscode';
import type { Review } from './review';

export function trackHunksInEditor(review: Review): vscode.Disposable {
  let told: boolean | undefined;
  const update = (): void => {
    const uri = vscode.window.activeTextEditor?.document.uri;
    const now = uri !== undefined && review.of(uri) !== undefined;
    if (now === told) return;
    told = now;
    void vscode.commands.executeCommand('setContext', 'azimuth.hunksInEditor', now);
  };
  update();
  return vscode.Disposable.from(review.onChange(update), vscode.window.onDidChangeActiveTextEditor(update));
}
