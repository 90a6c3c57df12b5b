// The answers of VS Code's own extension for TypeScript and JavaScript beyond those of its providers.

import * as vscode from 'vscode';

const ID = 'vscode.typescript-language-features';
/** The languages that it is for. */
export const LANGUAGES: readonly string[] = ['typescript', 'typescriptreact', 'javascript', 'javascriptreact'];

/** The source of its problems. */
export const SOURCE = 'ts';

/**
 * Waits until the project of a document is loaded, and its server answers for it. While it loads, a small server answers, which
 * knows one file: references in others are missing then, and from a rename too. `untold` for what is not this extension's.
 */
export async function loading(document: vscode.TextDocument): Promise<'loaded' | 'loading' | 'untold'> {
  if (!isOurs(document)) return 'untold';
  // The large server alone answers this, after it has loaded the project. None answers where it has ended.
  return await request(document, 'syntacticDiagnosticsSync') === undefined ? 'loading' : 'loaded';
}

/**
 * The problems of a document as it is now. By itself the extension looks only at those that stand in a tab. Undefined if
 * it cannot be asked.
 */
export async function problems(document: vscode.TextDocument): Promise<vscode.Diagnostic[] | undefined> {
  if (!isOurs(document)) return undefined;
  const parts = await Promise.all(['syntacticDiagnosticsSync', 'semanticDiagnosticsSync', 'suggestionDiagnosticsSync'].map((command) => request(document, command)));
  return parts.every((part) => part !== undefined) ? parts.flat().map(diagnostic) : undefined;
}

/** True if all that a command of one of its actions does in addition to the edit is to count how often that is used. */
export function onlyCounts({ command, arguments: [given] = [] }: vscode.Command): boolean {
  const { action, followupAction } = (given ?? {}) as { action?: { commands?: readonly unknown[] }; followupAction?: unknown };
  return command === '_typescript.applyCodeActionCommand' && action !== undefined && (action.commands ?? []).length === 0 && followupAction === undefined;
}

/** A problem as tsserver writes it, with lines and offsets from 1. */
interface Problem {
  start: { line: number; offset: number };
  end: { line: number; offset: number };
  text: string;
  code?: number;
  category: string;
}

/** Another extension may be there for the languages, and this one switched off. */
function isOurs({ languageId }: vscode.TextDocument): boolean {
  return LANGUAGES.includes(languageId) && vscode.extensions.getExtension(ID)?.isActive === true;
}

async function request(document: vscode.TextDocument, command: string): Promise<Problem[] | undefined> {
  try {
    const answer = await vscode.commands.executeCommand<{ type?: string; body?: Problem[] } | undefined>('typescript.tsserverRequest', command, { file: document.uri });
    return answer?.type === 'response' ? answer.body ?? [] : undefined;
  } catch {
    // It is switched off, or its server ended meanwhile.
    return undefined;
  }
}

function diagnostic({ start, end, text, code, category }: Problem): vscode.Diagnostic {
  const range = new vscode.Range(start.line - 1, start.offset - 1, end.line - 1, end.offset - 1);
  const { Error: error, Warning, Hint } = vscode.DiagnosticSeverity;
  const found = new vscode.Diagnostic(range, text, category === 'error' ? error : category === 'warning' ? Warning : Hint);
  found.source = SOURCE;
  if (code !== undefined) found.code = code;
  return found;
}
