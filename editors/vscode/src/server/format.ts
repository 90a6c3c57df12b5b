// The text of a document, formatted by whatever formats it for the user.

import * as vscode from 'vscode';
import type { ClientRequests, LineRange } from '../generated/protocol';
import type { Held } from './held';
import { splice } from './splice';

type Format = ClientRequests['azimuth/editor/format'];

/** The text of a document, formatted; nothing where it is at another version, before or after, or nothing formats it. */
export async function format({ uri, version, lines = [] }: Format['params'], held: Held): Promise<Format['result']> {
  const document = held.document(uri);
  if (document?.version !== version) return {};
  const edits = lines.length === 0 ? await ofDocument(document) : await ofLines(document, lines);
  // Whoever types meanwhile makes another version.
  if (edits.length === 0 || document.isClosed || document.version !== version) return {};
  const text = splice(document.getText(), edits.map(({ range, newText }) => (
    { start: document.offsetAt(range.start), end: document.offsetAt(range.end), text: newText })));
  return text === undefined ? {} : { text: text.replaceAll(/\r\n|\r|\n/g, document.eol === vscode.EndOfLine.CRLF ? '\r\n' : '\n') };
}

// Without options VS Code indents as it does in an editor of the document, shown or not, which may be what the text told.

async function ofDocument(document: vscode.TextDocument): Promise<vscode.TextEdit[]> {
  return (await vscode.commands.executeCommand<vscode.TextEdit[] | undefined>('vscode.executeFormatDocumentProvider', document.uri)) ?? [];
}

async function ofLines(document: vscode.TextDocument, lines: readonly LineRange[]): Promise<vscode.TextEdit[]> {
  const all: vscode.TextEdit[] = [];
  for (const { start, end } of lines) {
    const range = document.validateRange(new vscode.Range(start, 0, end - 1, Number.MAX_SAFE_INTEGER));
    const edits = (await vscode.commands.executeCommand<vscode.TextEdit[] | undefined>('vscode.executeFormatRangeProvider', document.uri, range)) ?? [];
    // A formatter that goes beyond the lines may come to the same lines twice.
    all.push(...edits.filter((edit) => !all.some((known) => known.range.isEqual(edit.range) && known.newText === edit.newText)));
  }
  return all;
}
