// Undo and redo of what turns did to files: shown first, file by file, and nothing that was changed since is set unseen.

import * as vscode from 'vscode';
import { restoredInWords } from '../chat/news';
import type { CheckpointFile, CheckpointPreviewResult, ConfirmedFile, Direction, RestoredFile, TurnId } from '../generated/protocol';
import type { Request } from '../server/requests';
import { iconless, unlinked } from '../text';
import type { Session } from './session';

/** Which turns: without one, those that are next; with `andLater`, all from it on. */
export interface Meant {
  turnId?: TurnId;
  andLater?: boolean;
}

/** Shows what undoing or redoing would do, and does what the user agrees to. */
export async function restore(direction: Direction, meant: Meant, session: Session, request: Request): Promise<void> {
  const sessionId = session.id;
  if (sessionId === undefined) throw new Error('No session is open.');
  const preview = await request('azimuth/checkpoint/preview', { sessionId, direction, ...meant });
  if (preview.files.length === 0 && preview.pendingHunks === 0) {
    void vscode.window.showInformationMessage(direction === 'undo' ? 'Azimuth: there is nothing to take back.' : 'Azimuth: there is nothing to put again.');
    return;
  }
  const confirmed = await agree(direction, preview);
  if (confirmed === undefined) return;
  // The turn that was shown is the one that is meant, even if another window has undone it meanwhile.
  const [turnId, ...others] = preview.turnIds;
  const shown = turnId === undefined || others.length > 0 ? meant : { ...meant, turnId };
  const { files } = await request(`azimuth/checkpoint/${direction}`, { sessionId, ...shown, confirmed });
  tell(direction, files);
}

interface FileItem extends vscode.QuickPickItem {
  file: CheckpointFile;
}

/** The list of files, to be agreed to. Gives those that the user has marked of the ones that were changed since. */
async function agree(direction: Direction, preview: CheckpointPreviewResult): Promise<ConfirmedFile[] | undefined> {
  const [ready, changed, other] = sorted(direction, preview.files);
  const words = direction === 'undo' ? { done: 'taken back', doing: 'take back' } : { done: 'put again', doing: 'put again' };
  const [sure, open] = [ready.map(itemOf), changed.map(itemOf)];
  const pick = vscode.window.createQuickPick<FileItem | vscode.QuickPickItem>();
  const turns = preview.turnIds.length === 1 ? 'a turn' : `${preview.turnIds.length} turns`;
  pick.title = `Azimuth: ${direction} ${turns}${changed.length > 0 ? ' (what was changed since stays, unless you mark it)' : ''}`;
  pick.placeholder = placeholder(words, ready.length, changed.length, preview.pendingHunks);
  pick.canSelectMany = true;
  pick.ignoreFocusOut = true;
  pick.items = [
    ...group(`Will be ${words.done}`, sure),
    ...group('Changed since', open),
    ...group('Left as they are', other.map(itemOf)),
  ];
  pick.selectedItems = sure;
  try {
    return await new Promise<ConfirmedFile[] | undefined>((resolve) => {
      // Only what was changed since is a choice; a turn is taken back as a whole.
      pick.onDidChangeSelection((selected) => {
        const wanted = [...sure, ...open.filter((item) => selected.includes(item))];
        if (selected.length !== wanted.length || wanted.some((item) => !selected.includes(item))) pick.selectedItems = wanted;
      });
      pick.onDidTriggerItemButton(({ item }) => {
        if ('file' in item) void vscode.window.showTextDocument(vscode.Uri.parse(item.file.uri), { preview: true, preserveFocus: true });
      });
      const nothing = ready.length + changed.length + preview.pendingHunks === 0;
      pick.onDidAccept(() => resolve(nothing ? undefined : open.filter((item) => pick.selectedItems.includes(item)).map(({ file }) => confirmation(file))));
      pick.onDidHide(() => resolve(undefined));
      pick.show();
    });
  } finally {
    pick.dispose();
  }
}

/** The files that go, those that were changed since, and those that cannot go or need not. */
function sorted(direction: Direction, files: readonly CheckpointFile[]): [CheckpointFile[], CheckpointFile[], CheckpointFile[]] {
  const ready = direction === 'undo' ? 'applied' : 'undone';
  return [
    files.filter(({ state }) => state === ready),
    files.filter(({ state }) => state === 'changed_since'),
    files.filter(({ state }) => state !== ready && state !== 'changed_since'),
  ];
}

function placeholder({ doing, done }: { doing: string; done: string }, ready: number, changed: number, hunks: number): string {
  const sentences = [
    ready + changed === 0 ? `None of these files can be ${done}.` : `Enter: ${doing} ${ready === 1 ? '1 file' : `${ready} files`}.`,
    changed > 0 ? `Changed since: ${changed}.` : '',
    hunks > 0 ? `Pending hunks, rejected: ${hunks}.` : '',
  ];
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

function group(label: string, items: FileItem[]): (FileItem | vscode.QuickPickItem)[] {
  return items.length === 0 ? [] : [{ label, kind: vscode.QuickPickItemKind.Separator }, ...items];
}

function itemOf(file: CheckpointFile): FileItem {
  const { path, change, added, removed, state, reason, now } = file;
  const size = added + removed > 0 ? `+${added} −${removed}` : '';
  const made = { create: 'was made', modify: '', delete: 'was deleted' }[change];
  const why = reason ?? (state === 'applied' || state === 'undone' ? undefined : state.replaceAll('_', ' '));
  return {
    label: iconless(path),
    description: [made, size].filter((word) => word !== '').join(' · '),
    ...(why === undefined ? {} : { detail: iconless(why) }),
    ...(now === undefined ? {} : { buttons: [openButton] }),
    file,
  };
}

const openButton: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('go-to-file'), tooltip: 'Open the file' };

/** Of a file with another text by then, nothing is confirmed. */
function confirmation({ uri, now }: CheckpointFile): ConfirmedFile {
  return now === undefined ? { uri } : { uri, now };
}

function tell(direction: Direction, files: readonly RestoredFile[]): void {
  const problems = files.flatMap(({ path, outcome }) => ('reason' in outcome ? [`${path}: ${outcome.reason}`] : []));
  const text = unlinked(`Azimuth: ${restoredInWords(direction, files)} ${problems.slice(0, 3).join('; ')}${problems.length > 3 ? `; and ${problems.length - 3} more` : ''}`);
  void (problems.length > 0 ? vscode.window.showWarningMessage(text) : vscode.window.showInformationMessage(text));
}
