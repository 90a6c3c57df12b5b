// Files and selections as blocks of the prompt.

import * as vscode from 'vscode';
import type { PromptBlock, Range } from '../generated/protocol';
import { isNamed, linesInWords, mentioning } from './mentions';
import type { Attachment, SentPrompt } from './messages';

/** The selection of the active editor, if there is one. */
export function selection(): Attachment | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || editor.selection.isEmpty) return undefined;
  const { document, selection: { start, end } } = editor;
  return {
    label: labelOf(document.uri, editor.selection),
    block: {
      type: 'selection',
      uri: document.uri.toString(),
      range: { start: { line: start.line, character: start.character }, end: { line: end.line, character: end.character } },
      text: document.getText(editor.selection),
    },
  };
}

export function file(uri: vscode.Uri): Attachment {
  return { label: labelOf(uri), block: { type: 'file', uri: uri.toString() } };
}

/** A prompt as if the user had put it together. A file or part of one that its text names is not attached beside. */
export function draftOf(prompt: readonly PromptBlock[]): SentPrompt {
  const text = prompt.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  const attachments = prompt.flatMap((block) => (block.type === 'text' ? [] : [attachment(block)]));
  return { text, attachments: attachments.filter((attached) => !isNamed(text, attached)) };
}

/** A block that is not typed, as something attached. */
function attachment(block: Exclude<PromptBlock, { type: 'text' }>): Attachment {
  if (block.type === 'image') return { label: 'image', block };
  return { label: labelOf(vscode.Uri.parse(block.uri), block.type === 'file' ? undefined : block.range), block };
}

/** A file for people, with the lines of a range. */
export function labelOf(uri: vscode.Uri, range?: Range): string {
  return `${vscode.workspace.asRelativePath(uri)}${range === undefined ? '' : linesInWords(range)}`;
}

/** A prompt with the files that its text mentions and its blocks do not hold yet. What is no file stays only text. */
export function withMentions(blocks: PromptBlock[]): Promise<PromptBlock[]> {
  return mentioning(blocks, async (path) => (await fileNamed(path))?.toString());
}

/** The file with a path, which may be relative to a workspace folder. */
async function fileNamed(path: string): Promise<vscode.Uri | undefined> {
  const folders = vscode.workspace.workspaceFolders?.map((folder) => folder.uri) ?? [];
  const candidates = path.startsWith('/') ? folders.slice(0, 1).map((uri) => uri.with({ path })) : folders.map((uri) => vscode.Uri.joinPath(uri, path));
  for (const uri of candidates) {
    const found = await Promise.resolve(vscode.workspace.fs.stat(uri)).catch(() => undefined);
    if (found !== undefined && (found.type & vscode.FileType.File) !== 0) return uri;
  }
  return undefined;
}
