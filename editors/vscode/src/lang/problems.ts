// Whether the problems that VS Code knows are those of the texts as they are.

import * as vscode from 'vscode';

/** Reports come in parts, syntax before types: so long after the last they are taken for all, in milliseconds. */
const QUIET_MS = 1_000;
/** Nobody reports that nothing changed: so long after the last change what is known is taken for what there is. */
const SETTLED_MS = 4_000;

/** Knows when texts changed and when their problems were reported; VS Code does not say for which version they are. */
export class Problems implements vscode.Disposable {
  private readonly reported = new Map<string, number>();
  private readonly subscriptions: vscode.Disposable[];
  private changed = 0;
  private reportedLast = 0;

  constructor() {
    this.subscriptions = [
      vscode.workspace.onDidOpenTextDocument((document) => this.change(document)),
      // A change in one text may be a problem in another.
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => (contentChanges.length > 0 ? this.change(document) : undefined)),
      // Some look only at what stands in a tab, and begin then.
      vscode.window.tabGroups.onDidChangeTabs(({ opened }) => {
        if (opened.length > 0) this.changed = Date.now();
      }),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.reported.delete(uri.toString())),
      vscode.languages.onDidChangeDiagnostics(({ uris }) => {
        this.reportedLast = Date.now();
        for (const uri of uris) this.reported.set(uri.toString(), this.reportedLast);
      }),
    ];
  }

  /** Waits until the problems of a document, or of all, can be taken for those of the texts as they are. False where that is not before `until`. */
  async settled(uri: vscode.Uri | undefined, awake: number, until: number): Promise<boolean> {
    for (;;) {
      const now = Date.now();
      const since = Math.max(this.changed, awake);
      if (this.isReported(uri, since) ? now - this.last(uri) >= QUIET_MS : now - since >= SETTLED_MS) return true;
      if (now >= until) return false;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Whether the problems of a document were reported after all that was changed. */
  isCurrent(uri: vscode.Uri): boolean {
    return this.isReported(uri, this.changed);
  }

  /** Whether the problems of a document were ever reported since it was opened, if only that it has none. */
  isKnown(uri: vscode.Uri): boolean {
    return this.reported.has(uri.toString());
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private isReported(uri: vscode.Uri | undefined, since: number): boolean {
    return this.last(uri) > since;
  }

  private last(uri: vscode.Uri | undefined): number {
    return uri === undefined ? this.reportedLast : this.reported.get(uri.toString()) ?? 0;
  }

  private change({ uri: { scheme } }: vscode.TextDocument): void {
    // What VS Code writes itself, such as output, has no problems.
    if (scheme === 'file' || scheme === 'untitled') this.changed = Date.now();
  }
}
