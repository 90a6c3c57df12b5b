// What VS Code's own extension for TypeScript and JavaScript tells beyond its providers.

import * as vscode from 'vscode';

const LANGUAGES = ['typescript', 'typescriptreact', 'javascript', 'javascriptreact'];

/**
 * Waits until the project of a document is loaded. While it loads, a small server answers, which knows one file: references
 * in others are missing then, and from a rename too. Gives whether it is loaded; false where that cannot be known.
 */
export async function isLoaded(document: vscode.TextDocument): Promise<boolean> {
  // The large server alone answers this, after it has loaded the project.
  return await request(document, 'syntacticDiagnosticsSync') !== undefined;
}

/**
 * The problems of a document. The extension looks by itself only at those that stand in a tab. Undefined where it cannot be
 * asked.
 */
export async function problems(document: vscode.TextDocument): Promise<vscode.Diagnostic[] | undefined> {
  const parts = await Promise.all(['syntacticDiagnosticsSync', 'semanticDiagnosticsSync', 'suggestionDiagnosticsSync'].map((command) => request(document, command)));
  return parts.every((part) => part !== undefined) ? parts.flat().map(diagnostic) : undefined;
}

/** A problem as tsserver writes it, with lines and offsets from 1. */
interface Problem {
  start: { line: number; offset: number };
  end: { line: number; offset: number };
  text: string;
  code?: number;
  category: string;
}

async function request(document: vscode.TextDocument, command: string): Promise<Problem[] | undefined> {
  if (!LANGUAGES.includes(document.languageId)) return undefined;
  try {
    const answer = await vscode.commands.executeCommand<{ type?: string; body?: Problem[] } | undefined>('typescript.tsserverRequest', command, { file: document.uri });
    return answer?.type === 'response' ? answer.body ?? [] : undefined;
  } catch {
    // Another extension may be there for the language.
    return undefined;
  }
}

function diagnostic({ start, end, text, code, category }: Problem): vscode.Diagnostic {
  const range = new vscode.Range(start.line - 1, start.offset - 1, end.line - 1, end.offset - 1);
  const { Error: error, Warning, Hint } = vscode.DiagnosticSeverity;
  const found = new vscode.Diagnostic(range, text, category === 'error' ? error : category === 'warning' ? Warning : Hint);
  found.source = 'ts';
  if (code !== undefined) found.code = code;
  return found;
}
