// The report of the counters of suggestions: a read-only document, shown as VS Code's preview of Markdown, which the
// keyboard and screen readers can read row by row.

import * as vscode from 'vscode';
import { messageOf, type Request } from '../server/requests';
import { failure, reportOf } from './counts';
import type { Inline } from './inline';

const SCHEME = 'azimuth-counts';
/** The days that are counted, a column for each. */
const TIMES = [1, 30];

export class CountsReport implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly subscriptions: vscode.Disposable[];
  private readonly uri = vscode.Uri.from({ scheme: SCHEME, path: 'Suggestions.md' });

  readonly onDidChange = this.changed.event;

  constructor(private readonly inline: Inline, private readonly request: Request) {
    this.subscriptions = [this.changed, vscode.workspace.registerTextDocumentContentProvider(SCHEME, this)];
  }

  /** Shows the numbers as they are now. */
  async show(): Promise<void> {
    this.changed.fire(this.uri);
    try {
      await vscode.commands.executeCommand('markdown.showPreview', this.uri);
    } catch {
      // The preview is part of an extension of VS Code's, which can be switched off.
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(this.uri), { preview: true });
    }
  }

  /** VS Code asks for it when it is shown, and after a reload of the window that shows it. */
  async provideTextDocumentContent(): Promise<string> {
    try {
      const times = await Promise.all(TIMES.map((days) => this.request('azimuth/inline/counts', { days })));
      // The state says why there is nothing, which a server that has just started has yet to tell.
      if (times.every(({ models }) => models.length === 0)) await this.inline.settled();
      const { kind, reason } = this.inline.state();
      return reportOf(times, kind === 'ready' ? undefined : reason?.words);
    } catch (error) {
      return failure(messageOf(error));
    }
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }
}
