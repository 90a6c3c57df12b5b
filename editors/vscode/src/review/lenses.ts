// Accept, Reject and Show over each pending hunk in normal editors; Keep and Take back where a command has made the change
// already. In a diff there are other ways.

import * as vscode from 'vscode';
import type { Proposal, SessionId } from '../generated/protocol';
import { LensNews } from '../lenses';
import { landedBy } from '../session/fold';
import { place, size } from './layout';
import type { Review } from './review';

export class Lenses implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly news = new LensNews();
  private readonly subscriptions: vscode.Disposable[];

  readonly onDidChangeCodeLenses = this.news.event;

  constructor(private readonly review: Review) {
    this.subscriptions = [
      review.onChange(() => this.news.tell()),
      vscode.languages.registerCodeLensProvider({ scheme: 'file' }, this),
      vscode.workspace.onDidChangeConfiguration((change) => (change.affectsConfiguration('azimuth.codeLens') ? this.news.tell() : undefined)),
      this.news,
    ];
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    this.news.asked(document);
    if (!vscode.workspace.getConfiguration('azimuth').get<boolean>('codeLens', true)) return [];
    return this.review.of(document.uri).flatMap(({ proposal }) => lensesOf(proposal, this.review.changeOf(proposal.proposalId)?.sessionId));
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }
}

/** The lenses of a proposal; with a session, it is of a change in place. */
function lensesOf(proposal: Proposal, changeId: SessionId | undefined): vscode.CodeLens[] {
  return place(proposal).flatMap(({ hunk, document: { start } }, index, { length }) => {
    const range = new vscode.Range(start, 0, start, 0);
    const meant = { proposalId: proposal.proposalId, hunkId: hunk.hunkId };
    const lens = (title: string, command: string): vscode.CodeLens => new vscode.CodeLens(range, { title, command, arguments: [meant] });
    const show = (words: string): vscode.CodeLens => lens(`$(diff) ${words} ${size(hunk)}`, 'azimuth.review.open');
    const whole = (title: string, command: string): vscode.CodeLens => new vscode.CodeLens(range, { title, command, arguments: [changeId] });
    // The actions on a whole change are above its first hunk only.
    const more = changeId === undefined || index > 0 ? [] : [
      ...(length > 1 ? [lens('Accept all', 'azimuth.file.accept'), lens('Reject all', 'azimuth.file.reject')] : []),
      whole('$(edit) Refine…', 'azimuth.instruct.refine'), whole('$(comment-discussion) Chat', 'azimuth.instruct.chat'),
    ];
    return proposal.landed === true
      ? [show(`Changed by ${landedBy(proposal)}`), lens('$(check) Keep', 'azimuth.hunk.keep'), lens('$(discard) Take back', 'azimuth.hunk.takeBack')]
      : [show('Azimuth'), lens('$(check) Accept', 'azimuth.hunk.accept'), lens('$(close) Reject', 'azimuth.hunk.reject'), ...more];
  });
}
