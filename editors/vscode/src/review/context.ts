// Whether the active editor shows pending hunks: the keys and buttons for them are there only then.

import * as vscode from 'vscode';
import type { Review } from './review';

export function trackHunksInEditor(review: Review): vscode.Disposable {
  const told = new Map<string, boolean>();
  const tell = (key: string, now: boolean): void => {
    if (told.get(key) === now) return;
    told.set(key, now);
    void vscode.commands.executeCommand('setContext', key, now);
  };
  const update = (): void => {
    const uri = vscode.window.activeTextEditor?.document.uri;
    const found = uri === undefined ? [] : review.of(uri);
    tell('azimuth.hunksInEditor', found.length > 0);
    tell('azimuth.landedInEditor', found.some(({ proposal }) => proposal.landed === true));
  };
  update();
  return vscode.Disposable.from(review.onChange(update), vscode.window.onDidChangeActiveTextEditor(update));
}
