// Accept, Reject and Show over each pending hunk in normal editors. In a diff there are other ways.

import * as vscode from 'vscode';
import { place, size } from './layout';
import type { Review } from './review';

export class Lenses implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[];

  readonly onDidChangeCodeLenses = this.changed.event;

  constructor(private readonly review: Review) {
    this.subscriptions = [
      review.onChange(() => this.changed.fire()),
      vscode.languages.registerCodeLensProvider({ scheme: 'file' }, this),
      vscode.workspace.onDidChangeConfiguration((change) => (change.affectsConfiguration('azimuth.codeLens') ? this.changed.fire() : undefined)),
      this.changed,
    ];
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const found = this.review.of(document.uri);
    if (found === undefined || !vscode.workspace.getConfiguration('azimuth').get<boolean>('codeLens', true)) return [];
    const { proposal } = found;
    return place(proposal).flatMap(({ hunk, document: { start } }) => {
      const range = new vscode.Range(start, 0, start, 0);
      const meant = { proposalId: proposal.proposalId, hunkId: hunk.hunkId };
      const lens = (title: string, command: string): vscode.CodeLens => new vscode.CodeLens(range, { title, command, arguments: [meant] });
      return [
        lens(`$(diff) Azimuth ${size(hunk)}`, 'azimuth.review.open'),
        lens('$(check) Accept', 'azimuth.hunk.accept'),
        lens('$(close) Reject', 'azimuth.hunk.reject'),
      ];
    });
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }
}
