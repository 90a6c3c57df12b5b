// "Change this": what its commands do.

import path from 'node:path';
import * as vscode from 'vscode';
import type { Range, StopReason } from '../generated/protocol';
import { isInPlainTab } from '../inline/inline';
import { place } from '../review/layout';
import type { Review } from '../review/review';
import { messageOf } from '../server/requests';
import type { Session } from '../session/session';
import { pendingHunks } from '../session/fold';
import { iconless, unlinked, visible } from '../text';
import { moved, plain, type Change, type Changes, type Question } from './changes';
import { askForInstruction } from './prompt';
import type { ChangeSigns } from './sign';
import { outcome, remembered, selectedInWords } from './state';

/** The key of the last instructions. */
const HISTORY = 'azimuth.instructions';
/** The most ranges that the server takes. */
const MOST = 100;

export class Instruct implements vscode.Disposable {
  private readonly subscriptions: vscode.Disposable[];
  /** The change that was last asked for or refined, which is the one that is refined without naming one. */
  private last: Change['sessionId'] | undefined;

  constructor(
    private readonly changes: Changes,
    private readonly signs: ChangeSigns,
    private readonly review: Review,
    private readonly session: Session,
    private readonly chat: { focus(atEnd?: boolean): Promise<void> },
    private readonly memory: vscode.Memento,
  ) {
    this.subscriptions = [
      changes.onQuestion((question) => void this.ask(question)),
      changes.onEnd((change) => this.ended(change)),
    ];
  }

  /** Asks what should change in the selections, or at the cursor. At a hunk of an earlier change that waits, it refines that. */
  async changeSelection(): Promise<void> {
    const editor = editorForChange();
    const before = this.under(editor);
    if (before !== undefined) return this.refine(before.sessionId);
    await this.give(editor, selectionsOf(editor), 'Change');
  }

  async changeFile(): Promise<void> {
    await this.give(editorForChange(), [], 'Change');
  }

  /** Asks what is not right yet in what was proposed. */
  async refine(sessionId?: string): Promise<void> {
    const editor = editorForChange();
    const change = sessionId === undefined ? (this.under(editor) ?? this.lastIn(editor)) : this.changes.get(sessionId);
    if (change === undefined) throw new Error('There is no change to refine in this file. "Azimuth: Change This…" begins one.');
    const isSelected = editor.selections.some(({ isEmpty }) => !isEmpty);
    const isOfFile = editor.document.uri.toString() === change.uri;
    // A cursor in what was proposed means that, and not something new at the cursor.
    await this.give(editor, isSelected || !isOfFile ? selectionsOf(editor) : change.selections, 'Refine', change);
  }

  async cancel(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const running = this.changes.all.filter(({ progress }) => progress.session.runningTurn !== undefined);
    const meant = running.findLast(({ uri }) => uri === editor?.document.uri.toString()) ?? running.at(-1);
    if (meant === undefined) throw new Error('No change is being made.');
    await this.changes.cancel(meant);
  }

  /** Makes a change a conversation of the chat, and shows it there. */
  async handOver(sessionId?: string): Promise<void> {
    // VS Code shows the line of actions for a moment after it has become one.
    if (sessionId !== undefined && sessionId === this.session.id) return this.chat.focus(true);
    const editor = vscode.window.activeTextEditor;
    const here = editor === undefined ? undefined : (this.under(editor) ?? this.lastIn(editor));
    const change = sessionId === undefined ? (here ?? this.changes.all.at(-1)) : this.changes.get(sessionId);
    if (change === undefined) throw new Error('There is no change to go on with. "Azimuth: Change This…" begins one.');
    await this.changes.promote(change);
    await this.session.open(change.sessionId);
    await this.chat.focus(true);
  }

  /** Has a question answered that waits in a change. False if there is none. */
  async answerFirst(): Promise<boolean> {
    const [question] = this.changes.questions;
    if (question === undefined) return false;
    const { request } = question;
    const items = request.options.map(({ name, optionId }) => ({ label: iconless(name), optionId }));
    const picked = await vscode.window.showQuickPick(items, { title: visible(`Azimuth: ${request.title}`), placeHolder: visible(`${request.detail} (${request.reason})`), ignoreFocusOut: true });
    if (picked !== undefined) await this.changes.answer(question, picked.optionId);
    return true;
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private async give(editor: vscode.TextEditor, selections: Range[], verb: 'Change' | 'Refine', before?: Change): Promise<void> {
    if (selections.length > MOST) throw new Error(`There are ${selections.length} selections, and Azimuth takes ${MOST} at most. Select less, or the whole file.`);
    if (before?.progress.session.runningTurn !== undefined) throw new Error('This change is still being made. Wait for it, or cancel it (Ctrl+K Q), and say it then.');
    const { document } = editor;
    const title = `Azimuth: ${verb} ${path.basename(document.uri.fsPath)}, ${selectedInWords(selections)}`;
    const history = this.memory.get<string[]>(HISTORY, []);
    let meant = selections;
    // The prompt leaves the editor open to the user, to formatters and to the agent.
    const moves = vscode.workspace.onDidChangeTextDocument((event) => {
      if (event.document === document) meant = moved(meant, event.contentChanges);
    });
    const instruction = await askForInstruction(title, verb, history).finally(() => void moves.dispose());
    if (instruction === undefined) return;
    // It is kept before it is sent, so that words that were not taken are there the next time.
    await this.memory.update(HISTORY, remembered(history, instruction));
    this.signs.forget();
    await this.changes.start(document, meant, instruction, before);
    this.last = before?.sessionId ?? this.changes.of(document.uri)[0]?.sessionId;
  }

  /** The change whose undecided hunk is at the cursor or in the selection. */
  private under({ document, selections }: vscode.TextEditor): Change | undefined {
    return this.changes.of(document.uri).find(({ progress }) => [...progress.session.proposals.values()]
      .filter((proposal) => vscode.Uri.parse(proposal.uri).toString() === document.uri.toString() && pendingHunks(proposal).length > 0)
      .flatMap(place)
      .some(({ document: { start, end } }) => selections.some((one) => one.end.line >= start && one.start.line < Math.max(end, start + 1))));
  }

  private lastIn({ document }: vscode.TextEditor): Change | undefined {
    const here = this.changes.of(document.uri);
    return here.find(({ sessionId }) => sessionId === this.last) ?? here[0];
  }

  private ended(change: Change): void {
    const { ended } = change.progress;
    const text = outcome(change.progress);
    if (ended !== undefined && isFailure(ended.reason) && text !== undefined) void vscode.window.showErrorMessage(unlinked(`Azimuth: ${text}`));
    // Proposals in other files are out of sight.
    const elsewhere = this.review.pending.filter(({ proposalId, uri }) => this.changes.having(proposalId) === change && vscode.Uri.parse(uri).toString() !== change.uri);
    if (elsewhere.length > 0) void this.tellOfOthers(elsewhere.map(({ path: file }) => file));
  }

  private async tellOfOthers(files: readonly string[]): Promise<void> {
    const show = 'Review Changes';
    const chosen = await vscode.window.showInformationMessage(unlinked(`Azimuth proposes changes in ${files.slice(0, 3).join(', ')}${files.length > 3 ? ` and ${files.length - 3} more files` : ''} too.`), show);
    if (chosen !== undefined) await vscode.commands.executeCommand('azimuth.review.open');
  }

  private async ask(question: Question): Promise<void> {
    const { request } = question;
    const options = request.options.map(({ name, optionId }) => ({ title: unlinked(name), optionId }));
    const chosen = await vscode.window.showWarningMessage(unlinked(`Azimuth: ${request.title} ${request.detail}`), ...options);
    if (chosen === undefined) return;
    try {
      if (!(await this.changes.answer(question, chosen.optionId))) void vscode.window.showInformationMessage('Azimuth: that question had been answered already.');
    } catch (error) {
      void vscode.window.showErrorMessage(unlinked(`Azimuth: ${messageOf(error)}`));
    }
  }
}

/** True if an end is one that the user has to hear of wherever they are by then. */
function isFailure(reason: StopReason): boolean {
  return reason === 'error' || reason === 'interrupted';
}

/** The editor that an instruction is given in. */
function editorForChange(): vscode.TextEditor {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) throw new Error('No editor is active. Open a file and select what should change.');
  if (editor.document.uri.scheme !== 'file') throw new Error('Only files can be changed. Save this document as a file first, or go to the file itself.');
  if (!isInPlainTab(editor.document)) throw new Error('This is a diff. Go to the file itself to say what should change.');
  return editor;
}

/** The selected ranges; none for the whole document. */
function selectionsOf({ document, selections }: vscode.TextEditor): Range[] {
  const whole = document.validateRange(new vscode.Range(0, 0, document.lineCount, 0));
  if (selections.some((one) => !one.isEmpty && one.contains(whole))) return [];
  // With several cursors, those that select nothing are the rest of a search.
  const chosen = selections.some(({ isEmpty }) => !isEmpty) ? selections.filter(({ isEmpty }) => !isEmpty) : selections;
  return chosen.toSorted((a, b) => a.start.compareTo(b.start)).map(plain);
}
