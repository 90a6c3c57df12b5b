// The code action that begins a change: for a selection, and in an empty line.

import * as vscode from 'vscode';

export class InstructActions implements vscode.CodeActionProvider, vscode.Disposable {
  private readonly subscription = vscode.languages.registerCodeActionsProvider({ scheme: 'file' }, this, { providedCodeActionKinds: [vscode.CodeActionKind.RefactorRewrite] });

  provideCodeActions(document: vscode.TextDocument, range: vscode.Range, context: vscode.CodeActionContext): vscode.CodeAction[] {
    if (!vscode.workspace.getConfiguration('azimuth').get<boolean>('codeActions', true)) return [];
    // Whoever asks for actions on their own, as the agent does, means none that begins with a prompt.
    const isAsked = vscode.window.activeTextEditor?.document === document;
    const isEmptyLine = range.isEmpty && document.lineAt(range.start.line).isEmptyOrWhitespace && context.triggerKind === vscode.CodeActionTriggerKind.Invoke;
    if (!isAsked || (range.isEmpty && !isEmptyLine)) return [];
    const action = new vscode.CodeAction(isEmptyLine ? 'Azimuth: write here…' : 'Azimuth: change this…', vscode.CodeActionKind.RefactorRewrite);
    action.command = { title: action.title, command: 'azimuth.instruct' };
    return [action];
  }

  dispose(): void {
    this.subscription.dispose();
  }
}
