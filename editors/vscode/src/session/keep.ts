// To keep a session elsewhere: a file with all of it, and its last answer in the clipboard.

import * as vscode from 'vscode';
import type { ExportFormat } from '../generated/protocol';
import type { Request } from '../server/requests';
import type { Session } from './session';

const formats: readonly (vscode.QuickPickItem & { format: ExportFormat })[] = [
  { format: 'html', label: 'HTML', detail: 'A page in one file, which loads and runs nothing.' },
  { format: 'markdown', label: 'Markdown', detail: 'To be read, and to be edited.' },
  { format: 'jsonl', label: 'JSON Lines', detail: 'All events, for other programs and for "azimuth sessions import".' },
];

/** Writes the session into a file that the user chooses. */
export async function exportSession(session: Session, request: Request): Promise<void> {
  const sessionId = session.id;
  if (sessionId === undefined) throw new Error('No session is open.');
  const picked = await vscode.window.showQuickPick(formats, { title: 'Azimuth: export the session', placeHolder: 'Placeholders stand for the secrets that models do not see.' });
  if (picked === undefined) return;
  const { name, text } = await request('azimuth/session/export', { sessionId, format: picked.format });
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  const file = await vscode.window.showSaveDialog({ title: 'Azimuth: export the session', ...(folder === undefined ? {} : { defaultUri: vscode.Uri.joinPath(folder.uri, name) }) });
  if (file === undefined) return;
  await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(text));
  const open = 'Open';
  const chosen = await vscode.window.showInformationMessage(`The session is in ${vscode.workspace.asRelativePath(file)}.`, open);
  if (chosen === open) await vscode.env.openExternal(file);
}

/** Copies the last answer, as Markdown. */
export async function copyLastAnswer(session: Session): Promise<void> {
  const said = session.events.flatMap(({ event }) => {
    if (event.type !== 'messageCompleted') return [];
    const text = event.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n').trim();
    return text === '' ? [] : [text];
  }).at(-1);
  if (said === undefined) throw new Error('Nothing was answered yet.');
  await vscode.env.clipboard.writeText(said);
  void vscode.window.setStatusBarMessage('Azimuth: the last answer is copied.', 3_000);
}
