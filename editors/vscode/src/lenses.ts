// The news that code lenses have changed, told so that VS Code asks for them.

import * as vscode from 'vscode';

/**
 * The time in which VS Code asks for lenses after it was told, in milliseconds. It waits for a quarter of a second, and
 * longer if it is busy.
 */
const ASKED_MS = 1_500;

/**
 * VS Code waits a moment before it asks for lenses again, and forgets to ask if the editor loses the keyboard in the
 * meantime, as it does to the chat. The lenses that it shows are then of before, so it is told once more.
 */
export class LensNews implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  /** The documents in sight of which VS Code has not asked since. */
  private waiting = new Set<vscode.TextDocument>();
  private timer: NodeJS.Timeout | undefined;

  readonly event = this.changed.event;

  /** The lenses have changed. */
  tell(): void {
    this.waiting = new Set(vscode.window.visibleTextEditors.map(({ document }) => document).filter(({ uri }) => uri.scheme === 'file'));
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (this.waiting.size > 0 ? this.changed.fire() : undefined), ASKED_MS);
    this.changed.fire();
  }

  /** VS Code asks for those of a document. */
  asked(document: vscode.TextDocument): void {
    this.waiting.delete(document);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.changed.dispose();
  }
}
