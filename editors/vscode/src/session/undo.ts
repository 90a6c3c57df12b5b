// Undo and redo of what turns did to files: shown first, file by file, and nothing that was changed since is set unseen.

import * as vscode from 'vscode';
import { restoredInWords } from '../chat/news';
import type { CheckpointFile, CheckpointPreviewResult, ConfirmedFile, Direction, RestoredFile, TurnId } from '../generated/protocol';
import type { Request } from '../server/requests';
import { iconless, unlinked } from '../text';
import { isSameView, marksAfter, placeholder, sorted, titleOf, whyInWords, words } from './agreement';
import type { Session } from './session';

/** Which turns: without one, those that are next; with `andLater`, all from it on. */
export interface Meant {
  turnId?: TurnId;
  andLater?: boolean;
}

/** Shows what undoing or redoing would do, and does what the user agrees to. While a turn runs, it is refused. */
export async function restore(direction: Direction, meant: Meant, session: Session, request: Request): Promise<void> {
  const sessionId = session.id;
  if (sessionId === undefined) throw new Error('No session is open.');
  if (session.state?.runningTurn !== undefined) {
    throw new Error(`A turn is running and may change these files. ${direction === 'undo' ? 'Undo' : 'Redo'} when it has ended, or cancel it ("Azimuth: Cancel Turn").`);
  }
  const look = (which: Meant): Promise<CheckpointPreviewResult> => request('azimuth/checkpoint/preview', { sessionId, direction, ...which });
  const list = new List(direction, session);
  try {
    let shown = await list.whileOpen(look(meant));
    for (let anew = false; shown !== undefined; anew = true) {
      if (shown.files.length === 0 && shown.pendingHunks === 0) {
        void vscode.window.showInformationMessage(direction === 'undo' ? 'Azimuth: there is nothing to undo.' : 'Azimuth: there is nothing to redo.');
        return;
      }
      const confirmed = await list.agree(shown, anew);
      if (confirmed === undefined) break;
      // The turn that was shown is the one that is meant, even if another window has undone it meanwhile. Of several, another
      // look says whether they are the same.
      const [turnId, ...others] = shown.turnIds;
      const exactly = turnId === undefined || others.length > 0 ? meant : { ...meant, turnId };
      const now = await list.whileOpen(look(exactly));
      if (now !== undefined && isSameView(shown, now)) {
        list.dispose();
        const { files } = await request(`azimuth/checkpoint/${direction}`, { sessionId, ...exactly, confirmed });
        tell(direction, files);
        return;
      }
      shown = now;
    }
    if (list.overtaken) {
      void vscode.window.showWarningMessage(`Azimuth: a turn has begun. Nothing was ${words[direction].done}; look again when it has ended.`);
    }
  } finally {
    list.dispose();
  }
}

interface FileItem extends vscode.QuickPickItem {
  file: CheckpointFile;
}

/** The list of files, to be agreed to. It opens at once, so that no key is meant for anything else when it is filled. */
class List {
  /** True if a turn that began has closed it. */
  overtaken = false;

  private readonly pick = vscode.window.createQuickPick<FileItem | vscode.QuickPickItem>();
  private readonly closed: Promise<undefined>;
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly direction: Direction, session: Session) {
    const { pick } = this;
    this.closed = new Promise((resolve) => pick.onDidHide(() => resolve(undefined)));
    this.subscriptions = [
      pick,
      // The text of the list is true no longer.
      session.onStep(({ after }) => {
        if (after.runningTurn === undefined) return;
        this.overtaken = true;
        pick.hide();
      }),
      session.onSwitch(() => pick.hide()),
      pick.onDidTriggerItemButton(({ item }) => {
        // Not as a text: it may be none.
        if ('file' in item) void vscode.commands.executeCommand('vscode.open', vscode.Uri.parse(item.file.uri), { preview: true, preserveFocus: true });
      }),
    ];
    pick.title = `Azimuth: ${direction}`;
    pick.placeholder = 'Looking at the files…';
    pick.canSelectMany = true;
    pick.ignoreFocusOut = true;
    pick.busy = true;
    pick.show();
  }

  /** Returns the result of `work`; undefined if the list was closed before. */
  async whileOpen<T>(work: Promise<T>): Promise<T | undefined> {
    this.pick.busy = true;
    return Promise.race([work, this.closed]).finally(() => (this.pick.busy = false));
  }

  /** Gives those files that the user has marked of the ones that were changed since; undefined if nothing is to be done. */
  async agree(preview: CheckpointPreviewResult, anew: boolean): Promise<ConfirmedFile[] | undefined> {
    const { pick, direction } = this;
    const [ready, changed, other] = sorted(direction, preview.files);
    const [sure, open] = [ready.map(itemOf), changed.map(itemOf)];
    pick.title = titleOf(direction, preview, changed.length, anew);
    pick.placeholder = placeholder(direction, ready.length, changed.length, preview);
    // Text that was typed before anything stood there is no filter.
    pick.value = '';
    pick.items = [
      ...group(`Will be ${words[direction].done}`, sure),
      ...group('Changed since', open),
      ...group('Left as they are', other.map(itemOf)),
    ];
    pick.selectedItems = sure;
    let marked: FileItem[] = [];
    const nothing = ready.length + changed.length + preview.pendingHunks === 0;
    const listeners: vscode.Disposable[] = [];
    const agreed = new Promise<ConfirmedFile[] | undefined>((resolve) => listeners.push(
      // Only what was changed since is a choice; a turn is taken back as a whole.
      pick.onDidChangeSelection((selected) => {
        marked = marksAfter(open, marked, selected);
        pick.placeholder = placeholder(direction, ready.length + marked.length, changed.length, preview);
        const wanted = [...sure, ...marked];
        if (selected.length !== wanted.length || wanted.some((item) => !selected.includes(item))) pick.selectedItems = wanted;
      }),
      pick.onDidAccept(() => resolve(nothing ? undefined : marked.map(({ file }) => confirmation(file)))),
    ));
    return Promise.race([agreed, this.closed]).finally(() => {
      vscode.Disposable.from(...listeners).dispose();
    });
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }
}

function group(label: string, items: FileItem[]): (FileItem | vscode.QuickPickItem)[] {
  return items.length === 0 ? [] : [{ label, kind: vscode.QuickPickItemKind.Separator }, ...items];
}

function itemOf(file: CheckpointFile): FileItem {
  const { path, change, added, removed, now } = file;
  const size = added + removed > 0 ? `+${added} −${removed}` : '';
  const made = { create: 'was made', modify: '', delete: 'was deleted' }[change];
  const detail = whyInWords(file);
  return {
    label: iconless(path),
    description: [made, size].filter((word) => word !== '').join(' · '),
    ...(detail === '' ? {} : { detail: iconless(detail) }),
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
  const done = files.length === 0 ? 'what was undecided is rejected.' : restoredInWords(direction, files);
  const text = unlinked(`Azimuth: ${done} ${problems.slice(0, 3).join('; ')}${problems.length > 3 ? `; and ${problems.length - 3} more` : ''}`);
  void (problems.length > 0 ? vscode.window.showWarningMessage(text) : vscode.window.showInformationMessage(text));
}
