// Tracks whether the active editor shows pending hunks, and whether it is the diff of what has landed: the keys and
// buttons for them are there only then.

import * as vscode from 'vscode';
import { diffedIn } from './address';
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
    tell('azimuth.hunksInEditor', uri !== undefined && review.of(uri).length > 0);
    const diffed = diffedIn(vscode.window.tabGroups.activeTabGroup.activeTab);
    tell('azimuth.landedDiff', diffed !== undefined && review.proposal(diffed.proposalId)?.landed === true);
  };
  update();
  return vscode.Disposable.from(review.onChange(update), vscode.window.onDidChangeActiveTextEditor(update), vscode.window.tabGroups.onDidChangeTabs(update), vscode.window.tabGroups.onDidChangeTabGroups(update));
}
