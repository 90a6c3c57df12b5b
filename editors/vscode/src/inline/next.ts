// Next edits: asked for after each change, drawn where they apply, and accepted or rejected by hunk.
//
// The server decides if there is one, keeps it in step with the document, and changes the document. Here it is only drawn.

import * as vscode from 'vscode';
import type { InlineChangedParams, InlineEdit, InlineEvent, InlineHunk, InlineTrigger, Position } from '../generated/protocol';
import { isError, messageOf, type Request } from '../server/requests';
import { iconless, visible } from '../text';
import { currentOf, hunkAt, inWords, isWithin, nextFrom, numberOf, positionOf, without } from './edit';
import { isInPlainTab, type Inline } from './inline';
import { oldText, type EditPaint } from './paint';

/** The time after a change until the cursor is where it belongs, in milliseconds. The server waits for a pause in typing. */
const SETTLE_MS = 20;
/** The time in which the server says what a change of the document makes of an edit, in milliseconds; then it goes off the screen. */
const FOLLOW_MS = 150;
/** The time that a message stays in the status bar, in milliseconds. */
const SAID_MS = 6_000;

/** The edit that waits for a decision. */
interface Pending {
  edit: InlineEdit;
  /** The document that the user was in when it was asked for. */
  from: vscode.TextDocument;
}

export class NextEdits implements vscode.Disposable {
  private readonly drew = new vscode.EventEmitter<void>();
  private readonly item = vscode.window.createStatusBarItem('azimuth.nextEdit', vscode.StatusBarAlignment.Right, 85);
  private readonly subscriptions: vscode.Disposable[];
  private pending: Pending | undefined;
  /** The names that hunks have now, by those that they had: a line above one may still have the earlier name. */
  private readonly names = new Map<string, string>();
  /** The edit as it is drawn, with its document. */
  private drawn: { document: vscode.TextDocument; edit: InlineEdit } | undefined;
  /** The edit of which the server knows that the user sees it. */
  private told: string | undefined;
  /** The last message in the status bar, which an edit makes untrue. */
  private message: vscode.Disposable | undefined;
  private asking: vscode.CancellationTokenSource | undefined;
  private soon: NodeJS.Timeout | undefined;
  private late: NodeJS.Timeout | undefined;
  /** True if the diff of a hunk was shown since the cursor or the text last moved. */
  private isHovered = false;
  /** True while the server puts an edit into a document. */
  private isAccepting = false;
  private readonly contexts = new Map<string, boolean>();

  /** Another edit is drawn, or none. */
  readonly onDraw = this.drew.event;

  constructor(private readonly inline: Inline, private readonly request: Request, private readonly paint: EditPaint, private readonly output: vscode.LogOutputChannel) {
    this.item.name = 'Azimuth: Next Edit';
    this.item.command = 'azimuth.nextEdit.go';
    inline.isEditAt = (document, line) => this.drawn?.document === document && hunkAt(this.drawn.edit, line) !== undefined;
    this.subscriptions = [
      this.drew, this.item, paint,
      vscode.workspace.onDidChangeTextDocument((event) => this.follow(event)),
      vscode.window.onDidChangeTextEditorSelection((event) => this.watch(event)),
      vscode.window.onDidChangeTextEditorVisibleRanges(() => (this.pending === undefined ? undefined : this.update())),
      vscode.window.onDidChangeActiveTextEditor((editor) => this.enter(editor)),
      inline.onChange(() => this.update()),
      inline.onMark(() => this.update()),
      inline.onEnd(({ id, event }) => this.ended(id, event)),
    ];
    // The keys may still be those of before, if the process of the extensions was started again.
    this.mark(false, false, false);
  }

  /** The edit that is drawn in a document. */
  drawnIn(document: vscode.TextDocument): InlineEdit | undefined {
    return this.drawn?.document === document ? this.drawn.edit : undefined;
  }

  /** Takes what the server says of the edit after a change. */
  take({ id, edit, reason }: InlineChangedParams): void {
    // The answer to an accept says what is left.
    if (this.pending?.edit.id !== id || this.isAccepting) return;
    if (edit === undefined) {
      this.output.debug(`the suggested edit is gone: ${reason?.words ?? 'no reason is given'}`);
      this.inline.withdraw(id);
      this.drop();
    } else {
      this.set(edit, this.pending.from);
    }
  }

  /** Asks for an edit, and says why if there is none. */
  async invoke(): Promise<void> {
    await this.inline.settled();
    await this.ask('invoked');
  }

  /** Goes to the next edit; at it, accepts the hunk. */
  async go(): Promise<void> {
    const here = this.here();
    await (here === undefined ? this.jump() : this.accept(here.id));
  }

  /** Goes to the hunk that is nearest to the cursor, in this document or another one. */
  async jump(): Promise<void> {
    const edit = this.edit();
    if (edit !== undefined) await this.goTo(edit, currentOf(edit, this.line(edit)));
  }

  /** Goes to the hunk after the cursor. */
  async next(): Promise<void> {
    const edit = this.edit();
    if (edit !== undefined) await this.goTo(edit, nextFrom(edit, this.line(edit)));
  }

  /** Goes to a hunk, without a name to the nearest one, and shows all of its lines, with the keyboard in them. */
  async read(hunkId?: string): Promise<void> {
    const [edit, hunk] = [this.edit(), this.hunk(hunkId)];
    if (edit === undefined || hunk === undefined) return;
    await this.goTo(edit, hunk);
    await vscode.commands.executeCommand('editor.action.showHover', { focus: 'autoFocusImmediately' });
  }

  /** Accepts a hunk, without a name the one that is nearest to the cursor. */
  async accept(hunkId?: string): Promise<void> {
    const hunk = this.hunk(hunkId);
    if (hunk !== undefined) await this.acceptHunks([hunk.id]);
  }

  async acceptAll(): Promise<void> {
    if (this.edit() !== undefined) await this.acceptHunks();
  }

  /** Rejects a hunk, without a name the one that is nearest to the cursor. */
  reject(hunkId?: string): void {
    const hunk = this.hunk(hunkId);
    if (hunk === undefined || this.pending === undefined) return;
    const { edit, from } = this.pending;
    const rest = without(edit, hunk.id);
    if (rest === undefined) return this.end('rejected');
    this.tell(edit.id, 'rejected', hunk.id);
    this.set(rest, from);
  }

  /** Rejects the edit. The Escape that closes the diff of a hunk reaches this too, and is not meant for it. */
  rejectAll(isEscape = false): void {
    const isForHover = isEscape && this.isHovered;
    this.isHovered = false;
    if (!isForHover && this.edit() !== undefined) this.end('rejected');
  }

  /** The diff of a hunk is shown. */
  hovered(): void {
    this.isHovered = true;
  }

  dispose(): void {
    this.cancel();
    clearTimeout(this.late);
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private async ask(trigger: InlineTrigger): Promise<void> {
    this.cancel();
    const editor = vscode.window.activeTextEditor;
    // Whoever asks hears why there is none; whoever types is not disturbed.
    const none = (words = ''): void => (trigger === 'invoked' ? this.say(`There is no suggested edit. ${words}`) : undefined);
    if (editor === undefined) {
      none('No editor is active.');
      return;
    }
    const { document, selection, selections } = editor;
    const silence = this.inline.silenceOfEdits(document);
    if (silence !== undefined) {
      none(silence.words);
      return;
    }
    const { token } = (this.asking = new vscode.CancellationTokenSource());
    const { line, character } = selection.active;
    try {
      const { edit, reason } = await this.request('azimuth/inline/edit', {
        textDocument: { uri: document.uri.toString(), version: document.version },
        position: { line, character },
        trigger,
        ...(selections.length > 1 || !selection.isEmpty ? { selecting: true } : {}),
      }, token);
      if (token.isCancellationRequested) return;
      if (edit !== undefined) this.set(edit, document);
      else none(reason?.words);
    } catch (error) {
      if (token.isCancellationRequested) return;
      this.output.debug(`no edit: ${messageOf(error)}`);
      none(messageOf(error));
    }
  }

  private askSoon(): void {
    this.cancel();
    this.soon = setTimeout(() => void this.ask('automatic'), SETTLE_MS);
  }

  private cancel(): void {
    clearTimeout(this.soon);
    this.asking?.cancel();
    this.asking = undefined;
  }

  private async acceptHunks(hunks?: string[]): Promise<void> {
    const { pending } = this;
    if (pending === undefined || this.isAccepting) return;
    this.cancel();
    this.isAccepting = true;
    try {
      const { uri, cursor, rest } = await this.request('azimuth/inline/accept', { id: pending.edit.id, ...(hunks === undefined ? {} : { hunks }) });
      this.isAccepting = false;
      if (rest === undefined) this.drop();
      else this.rename(pending.edit.hunks.filter(({ id }) => hunks?.includes(id) === false), rest);
      if (rest !== undefined) this.pending = { edit: rest, from: pending.from };
      await this.show(uri, cursor);
      // The rest is to be decided first.
      if (rest === undefined) this.askSoon();
      else this.update();
    } catch (error) {
      this.isAccepting = false;
      // One that has only changed can be accepted as it is now.
      if (!isError(error, 'staleReview')) this.drop();
      this.output.warn(`an edit was not accepted: ${messageOf(error)}`);
      this.say(`The edit was not accepted. ${messageOf(error)}`);
    }
  }

  private async goTo(edit: InlineEdit, hunk: InlineHunk | undefined): Promise<void> {
    if (hunk === undefined) return;
    const { line, character } = positionOf(edit, hunk);
    const document = documentOf(edit) ?? (await vscode.workspace.openTextDocument(vscode.Uri.parse(edit.uri)));
    const column = character > 0 ? character : document.lineAt(Math.min(line, document.lineCount - 1)).firstNonWhitespaceCharacterIndex;
    await this.show(edit.uri, { line, character: column });
  }

  /** Puts the cursor at a position, in an editor that is opened if need be. */
  private async show(uri: string, { line, character }: Position): Promise<void> {
    const active = vscode.window.activeTextEditor;
    const editor = active?.document.uri.toString() === normal(uri) ? active : await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(vscode.Uri.parse(uri)));
    const at = editor.document.validatePosition(new vscode.Position(line, character));
    editor.selection = new vscode.Selection(at, at);
    editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    this.update();
  }

  private set(edit: InlineEdit, from: vscode.TextDocument): void {
    this.message?.dispose();
    if (this.pending?.edit.id === edit.id) this.rename(this.pending.edit.hunks, edit);
    this.pending = { edit, from };
    this.update();
  }

  /** Notes the names that hunks have now. */
  private rename(before: readonly InlineHunk[], { hunks }: InlineEdit): void {
    if (before.length !== hunks.length) return;
    before.forEach(({ id }, index) => {
      const now = hunks[index]?.id;
      if (now !== undefined && now !== id) this.names.set(id, now);
    });
  }

  /** The document has changed, so the edit of it is out of step until the server has said what is left of it. */
  private follow({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    if (contentChanges.length === 0) return;
    this.isHovered = false;
    if (this.pending !== undefined && normal(this.pending.edit.uri) === document.uri.toString()) {
      clearTimeout(this.late);
      this.late = setTimeout(() => this.update(true), FOLLOW_MS);
    }
    if (vscode.window.activeTextEditor?.document === document && !this.isAccepting) this.askSoon();
  }

  /** A click elsewhere is a decision against the edit; a key that moves the cursor may be on its way to it. */
  private watch({ textEditor, kind }: vscode.TextEditorSelectionChangeEvent): void {
    if (this.pending === undefined || textEditor !== vscode.window.activeTextEditor) return;
    this.isHovered = false;
    const { edit } = this.pending;
    const isIn = textEditor.document.uri.toString() === normal(edit.uri) && isWithin(edit, textEditor.selection.active.line);
    if (kind === vscode.TextEditorSelectionChangeKind.Mouse && textEditor.selection.isEmpty && !isIn && this.told === edit.id) this.end('ignored');
    else this.update();
  }

  private enter(editor: vscode.TextEditor | undefined): void {
    if (editor === undefined) return this.update();
    this.cancel();
    const uri = editor.document.uri.toString();
    const isAway = this.pending !== undefined && uri !== normal(this.pending.edit.uri) && editor.document !== this.pending.from;
    if (isAway && !this.isAccepting) this.end('ignored');
    else this.update();
  }

  /** An edit that was shown as ghost text has gone off the screen, and the server knows. */
  private ended(id: string, event: InlineEvent): void {
    if (this.pending?.edit.id === id && event !== 'replaced') this.drop();
  }

  private end(event: InlineEvent): void {
    if (this.pending === undefined) return;
    this.tell(this.pending.edit.id, event);
    this.drop();
  }

  private drop(): void {
    clearTimeout(this.late);
    this.pending = undefined;
    this.names.clear();
    this.update();
  }

  /** Draws what there is to draw. An edit that is out of step with its document stays as it was drawn, unless that has been so for long. */
  private update(isLate = false): void {
    const { pending } = this;
    const editor = vscode.window.activeTextEditor;
    if (pending !== undefined && editor !== undefined && this.inline.silenceOfEdits(editor.document) !== undefined && isInPlainTab(editor.document)) return this.end('ignored');
    if (pending === undefined || editor === undefined || !this.isReady(editor, pending.edit)) return this.wipe();
    const isOpenHere = editor.document.uri.toString() === normal(pending.edit.uri);
    const document = documentOf(pending.edit);
    if (document !== undefined && document.version !== pending.edit.version) return isLate ? this.wipe() : undefined;
    clearTimeout(this.late);
    if (isOpenHere && this.offer(editor, pending.edit)) return this.wipe();
    this.draw(editor, pending.edit, isOpenHere);
  }

  /** True if an edit may be drawn now. */
  private isReady({ document, selections, selection }: vscode.TextEditor, edit: InlineEdit): boolean {
    if (!isInPlainTab(document) || selections.length > 1 || !selection.isEmpty) return false;
    const { shownId } = this.inline;
    // Ghost text that is there stays, and an edit of the same lines waits for its end.
    return shownId === undefined || shownId === edit.id || document.uri.toString() !== normal(edit.uri) || hunkAt(edit, selection.active.line) === undefined;
  }

  /** Shows an edit as ghost text, if it can be. True if that is so. */
  private offer({ document, selection }: vscode.TextEditor, edit: InlineEdit): boolean {
    if (this.inline.shownId === edit.id) return true;
    const { ghost, version } = edit;
    if (ghost === undefined || version === undefined || this.inline.shownId !== undefined) return false;
    return this.inline.offer(document, selection.active, { id: edit.id, range: ghost.range, text: ghost.text, version });
  }

  private draw(editor: vscode.TextEditor, edit: InlineEdit, isOpenHere: boolean): void {
    if (!isSame(this.drawn?.edit, isOpenHere ? edit : undefined) || (isOpenHere && this.drawn?.document !== editor.document)) {
      if (isOpenHere) this.paint.draw(editor, edit);
      else this.paint.clear();
      this.drawn = isOpenHere ? { document: editor.document, edit } : undefined;
      this.drew.fire();
    }
    const line = isOpenHere ? editor.selection.active.line : undefined;
    const hunk = currentOf(edit, line);
    if (hunk === undefined) return;
    const at = positionOf(edit, hunk).line;
    const isSeen = isOpenHere && isVisible(editor, at);
    const isHere = line !== undefined && hunkAt(edit, line) !== undefined && isVisible(editor, line);
    const where = isOpenHere ? `line ${at + 1}` : `${iconless(vscode.workspace.asRelativePath(vscode.Uri.parse(edit.uri)))}, line ${at + 1}`;
    if (isSeen) this.paint.unpoint();
    else this.paint.point(editor, `${arrow(isOpenHere ? at - editor.selection.active.line : undefined)} Next edit: ${where} (Tab)`);
    this.describe(edit, hunk, where, isHere);
    this.mark(true, isHere, isHere || !isInIndentation(editor));
    if (this.told !== edit.id) this.tell((this.told = edit.id), 'shown');
  }

  /** The status bar says it in words, which a screen reader reads out. */
  private describe(edit: InlineEdit, hunk: InlineHunk, where: string, isHere: boolean): void {
    const document = documentOf(edit);
    const change = document === undefined ? '' : ` ${inWords(hunk, oldText(document, hunk))}.`;
    const count = edit.hunks.length === 1 ? '' : ` (${numberOf(edit, hunk)})`;
    const said = visible(`Azimuth suggests an edit in ${where}${count}.${change} ${isHere ? 'Tab accepts it' : 'Tab goes there'}, Escape rejects it.`);
    const text = `$(edit) Next edit: ${where}${count}`;
    if (this.item.text !== text) this.item.text = text;
    if (this.item.tooltip !== said) {
      this.item.tooltip = said;
      this.item.accessibilityInformation = { label: said, role: 'status' };
    }
    this.item.show();
  }

  private wipe(): void {
    this.paint.clear();
    this.item.hide();
    this.mark(false, false, false);
    if (this.drawn === undefined) return;
    this.drawn = undefined;
    this.drew.fire();
  }

  /** Tells VS Code which keys are for the edit. */
  private mark(isDrawn: boolean, isHere: boolean, isTab: boolean): void {
    const all = { 'azimuth.nextEditVisible': isDrawn, 'azimuth.nextEditAtCursor': isHere, 'azimuth.nextEditTab': isTab };
    for (const [key, value] of Object.entries(all)) {
      if (this.contexts.get(key) === value) continue;
      this.contexts.set(key, value);
      void vscode.commands.executeCommand('setContext', key, value);
    }
  }

  /** The edit that waits, if the user can see it. */
  private edit(): InlineEdit | undefined {
    if (this.contexts.get('azimuth.nextEditVisible') === true && this.pending !== undefined) return this.pending.edit;
    this.say('There is no suggested edit.');
    return undefined;
  }

  /** The hunk with a name, or the one that is nearest to the cursor. Hunks get other names when their document changes. */
  private hunk(hunkId: string | undefined): InlineHunk | undefined {
    const edit = this.edit();
    if (edit === undefined || hunkId === undefined) return edit && currentOf(edit, this.line(edit));
    let name = hunkId;
    for (let steps = this.names.size; steps > 0; steps -= 1) name = this.names.get(name) ?? name;
    const found = edit.hunks.find(({ id }) => id === name);
    if (found === undefined) this.say('The suggested edit has changed. Look at it again.');
    return found;
  }

  /** The hunk at the cursor, if it is in sight. */
  private here(): InlineHunk | undefined {
    const { activeTextEditor: editor } = vscode.window;
    if (editor === undefined || this.drawn?.document !== editor.document || this.contexts.get('azimuth.nextEditAtCursor') !== true) return undefined;
    return hunkAt(this.drawn.edit, editor.selection.active.line);
  }

  /** The line of the cursor, if it is in the document of the edit. */
  private line(edit: InlineEdit): number | undefined {
    const { activeTextEditor: editor } = vscode.window;
    return editor?.document.uri.toString() === normal(edit.uri) ? editor.selection.active.line : undefined;
  }

  private tell(id: string, event: InlineEvent, hunk?: string): void {
    this.request('azimuth/inline/feedback', { id, event, ...(hunk === undefined ? {} : { hunk }) })
      .catch((error: unknown) => this.output.debug(`the server was not told of an edit: ${messageOf(error)}`));
  }

  private say(words: string): void {
    this.message?.dispose();
    this.message = vscode.window.setStatusBarMessage(visible(`Azimuth: ${words.trim()}`), SAID_MS);
  }
}

function isSame(one: InlineEdit | undefined, other: InlineEdit | undefined): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

function documentOf({ uri }: InlineEdit): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find((document) => document.uri.toString() === normal(uri));
}

/** An address as VS Code writes it. */
function normal(uri: string): string {
  return vscode.Uri.parse(uri).toString();
}

function isVisible({ visibleRanges }: vscode.TextEditor, line: number): boolean {
  return visibleRanges.some(({ start, end }) => line >= start.line && line <= end.line);
}

/** True if there is only blank space before the cursor, where Tab indents. */
function isInIndentation({ document, selection: { active } }: vscode.TextEditor): boolean {
  return document.lineAt(active.line).text.slice(0, active.character).trim() === '';
}

function arrow(distance: number | undefined): string {
  return distance === undefined ? '→' : distance < 0 ? '↑' : '↓';
}
