// The report of costs: a read-only document, shown as VS Code's preview of Markdown, which the keyboard and screen
// readers can read row by row.

import * as vscode from 'vscode';
import { messageOf, type Request } from '../server/requests';
import type { Session } from '../session/session';
import { failure, reportOf } from './words';

const SCHEME = 'azimuth-costs';

export class CostsReport implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly subscriptions: vscode.Disposable[];
  private readonly uri = vscode.Uri.from({ scheme: SCHEME, path: 'Costs.md' });

  readonly onDidChange = this.changed.event;

  constructor(private readonly session: Session, private readonly request: Request) {
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
    const sessionId = this.session.id;
    try {
      return reportOf(await this.request('azimuth/costs/show', sessionId === undefined ? {} : { sessionId }), Date.now());
    } catch (error) {
      return failure(messageOf(error));
    }
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }
}
