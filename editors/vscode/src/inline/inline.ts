// Suggestions of text where the user types, as VS Code's ghost text.
//
// The client library registers VS Code's provider as long as the server has a model for it, and asks here instead of sending
// LSP's own request, which has neither the document's version nor the indentation, and says nothing of why there is no suggestion.

import * as vscode from 'vscode';
import type {
  InlineCompleteParams, InlineCompleteResult, InlineDecision, InlineEvent, InlineItem, InlineStatusParams, InlineTrigger, Reason,
} from '../generated/protocol';
import { messageOf, type Request } from '../server/requests';
import { visible } from '../text';
import { noted } from './decisions';
import { followed, isVisible, rest, type Shown } from './shown';
import { isModelNamed, silenceOfEdits, silenceOfText, stateOf, type State } from './state';
import type { Switches } from './switches';

/** The command by which VS Code says that a suggestion was accepted; the server knows it. */
export const ACCEPTED = 'azimuth.inline.accepted';
/** The same for an edit that is shown as ghost text, of which the server is told here. */
const EDIT_ACCEPTED = 'azimuth.inline.editAccepted';

/** The time that the reason stays in the status bar if a suggestion was asked for and there is none, in milliseconds. */
const SAID_MS = 6_000;

/** The time in which a server that has started says if it has a model for suggestions, in milliseconds. One for which no model is named says nothing. */
const SETTLE_MS = 2_000;
/** The same where one is probably named, which the server may have to look for. */
const LONG_SETTLE_MS = 10_000;

/** Sends a request for suggestions. */
export type Ask = (params: InlineCompleteParams) => Promise<InlineCompleteResult>;

/** A suggestion that is probably on the screen. */
interface OnScreen {
  document: vscode.TextDocument;
  one: Shown;
  /** True if it is an edit, which the user accepts in another way. */
  isEdit: boolean;
}

/** The fate of a suggestion that has gone off the screen. */
export interface Ended {
  id: string;
  event: InlineEvent;
}

export class Inline implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly marked = new vscode.EventEmitter<void>();
  private readonly ended = new vscode.EventEmitter<Ended>();
  private readonly subscriptions: vscode.Disposable[];
  private status: InlineStatusParams | undefined;
  private isStarting = false;
  /** Ends the wait for the first word of a server that has started. */
  private silent: NodeJS.Timeout | undefined;
  /** True once VS Code knows that there is a provider. */
  private isRegistered = false;
  /** The suggestion that is probably on the screen; VS Code tells no extension what it shows. */
  private shown: OnScreen | undefined;
  /** The edit that is to be shown as ghost text as soon as VS Code asks. */
  private offered: { document: vscode.TextDocument; item: InlineItem } | undefined;
  /** Not known at first: VS Code keeps it if the process of the extensions is started again. */
  private isMarked: boolean | undefined;
  private own: InlineDecision[] = [];
  /** The warnings that the log has. */
  private readonly warned = new Set<string>();

  /** The state may be another. */
  readonly onChange = this.changed.event;
  /** A suggestion came on the screen, or went. */
  readonly onMark = this.marked.event;
  /** A suggestion has gone off the screen. */
  readonly onEnd = this.ended.event;
  /** True if a suggested edit is drawn at a line. Ghost text that was not asked for would get in its way. */
  isEditAt: (document: vscode.TextDocument, line: number) => boolean = () => false;

  constructor(private readonly switches: Switches, private readonly request: Request, private readonly output: vscode.LogOutputChannel) {
    this.subscriptions = [
      this.changed, this.marked, this.ended,
      vscode.commands.registerCommand(EDIT_ACCEPTED, (id: string) => this.editAccepted(id)),
      // The client library has a provider only while there is a model for text.
      vscode.languages.registerInlineCompletionItemProvider({ scheme: 'file' }, {
        provideInlineCompletionItems: (document, position, context, token) => (this.status?.state === 'off' ? this.provideEdit(document, position, context, token) : undefined),
      }),
      switches.onChange(() => this.changed.fire()),
      vscode.workspace.onDidChangeTextDocument((event) => this.follow(event)),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.watch(textEditor)),
      vscode.window.onDidChangeActiveTextEditor((editor) => {
        this.watch(editor);
        this.changed.fire();
      }),
    ];
    this.mark(false);
  }

  /** Takes what the server says of suggestions; undefined if it is gone. */
  take(status: InlineStatusParams | undefined): void {
    clearTimeout(this.silent);
    this.isStarting = false;
    this.status = status;
    this.isRegistered &&= status !== undefined;
    if (status === undefined) this.forget();
    else this.switches.noteModel(status);
    this.changed.fire();
  }

  /** The server starts. */
  starting(): void {
    this.take(undefined);
    this.isStarting = true;
    this.changed.fire();
  }

  /** The server runs. If it says nothing for a while, no model is named. */
  connected(): void {
    if (this.status !== undefined) return;
    clearTimeout(this.silent);
    this.silent = setTimeout(() => this.take({ state: 'off' }), this.switches.areUsed ? LONG_SETTLE_MS : SETTLE_MS);
  }

  /** The state for a document, or for any. */
  state(document?: vscode.TextDocument): State {
    return stateOf({ status: this.status, isStarting: this.isStarting, ...this.switches.facts(document) });
  }

  /** The client library has registered a provider. */
  registered(): void {
    this.isRegistered = true;
    this.changed.fire();
  }

  /** True if the user has something to do with suggestions: a model is named for them, or was the last time. */
  get isUsed(): boolean {
    return this.status === undefined ? this.switches.areUsed : isModelNamed(this.status);
  }

  /** The decisions that were made here, without the server. */
  get decisions(): readonly InlineDecision[] {
    return this.own;
  }

  /** Answers VS Code's provider. What goes on from what is shown is there at once. */
  provide(
    document: vscode.TextDocument, position: vscode.Position, context: vscode.InlineCompletionContext, token: vscode.CancellationToken, ask: Ask,
  ): vscode.ProviderResult<vscode.InlineCompletionItem[]> {
    const trigger: InlineTrigger = context.triggerKind === vscode.InlineCompletionTriggerKind.Invoke ? 'invoked' : 'automatic';
    const edit = this.takeOffered(document, position, context, token);
    if (edit !== undefined) return [edit];
    const reason = this.silenceOfText(document);
    if (reason !== undefined) {
      this.note(document, position, trigger, reason);
      return undefined;
    }
    const left = trigger === 'automatic' ? this.left(document, position, context.selectedCompletionInfo) : undefined;
    if (left === undefined && trigger === 'automatic' && this.isEditAt(document, position.line)) return undefined;
    return left === undefined ? this.ask(document, position, { trigger, selected: context.selectedCompletionInfo }, token, ask) : [left];
  }

  /** Shows an edit as ghost text. `item` is of the document as it is now, with the cursor in its range; false if VS Code could not show it. */
  offer(document: vscode.TextDocument, position: vscode.Position, item: InlineItem): boolean {
    if (item.version !== document.version || !canShow(document, position, item)) return false;
    if (this.offered?.document === document && this.offered.item.id === item.id && this.offered.item.version === item.version) return true;
    this.offered = { document, item };
    void vscode.commands.executeCommand('editor.action.inlineSuggest.trigger');
    return true;
  }

  /** Takes an edit off the screen that is shown as ghost text and that the server has withdrawn. */
  withdraw(id: string): void {
    if (this.offered?.item.id === id) this.offered = undefined;
    if (this.shown?.one.id !== id) return;
    this.forget();
    void vscode.commands.executeCommand('editor.action.inlineSuggest.hide');
  }

  /** The name of the suggestion that is probably on the screen. */
  get shownId(): string | undefined {
    return this.shown?.one.id;
  }

  /** The reason to ask for no edit. */
  silenceOfEdits(document: vscode.TextDocument): Reason | undefined {
    return silenceOfEdits(this.state(document)) ?? (isInPlainTab(document) ? undefined : outside);
  }

  /** Notes that a suggestion was accepted, of which the server hears by itself. */
  accepted(id: unknown): void {
    if (this.shown?.one.id === id) this.forget();
  }

  /** Takes the suggestion off the screen, as VS Code's own command does, and tells that the user did not want it. */
  async reject(): Promise<void> {
    this.end('rejected');
    await vscode.commands.executeCommand('editor.action.inlineSuggest.hide');
  }

  /** Asks for a suggestion by VS Code's own command, and says why if none can come. */
  async invoke(): Promise<void> {
    await this.settled();
    const document = vscode.window.activeTextEditor?.document;
    const none = document === undefined ? { words: 'No editor is active.' } : this.silenceOfText(document);
    if (none !== undefined) throw new Error(`There is no suggestion. ${none.words}`);
    await vscode.commands.executeCommand('editor.action.inlineSuggest.trigger');
  }

  /** Waits until a server that has just started has said if it has a model, and is asked. */
  async settled(): Promise<void> {
    const isSettled = (): boolean => (this.status === undefined ? !this.isStarting : this.isRegistered || this.status.state === 'off');
    if (isSettled()) return;
    let subscription: vscode.Disposable | undefined;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, LONG_SETTLE_MS);
      subscription = this.onChange(() => {
        if (!isSettled()) return;
        clearTimeout(timer);
        resolve();
      });
    });
    subscription?.dispose();
  }

  dispose(): void {
    clearTimeout(this.silent);
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  /** The reason to ask for no text. */
  private silenceOfText(document: vscode.TextDocument): Reason | undefined {
    const reason = silenceOfText(this.state(document));
    if (reason !== undefined) return reason;
    const editor = vscode.window.activeTextEditor;
    if (editor?.document !== document || !isInPlainTab(document)) return outside;
    const isSelecting = editor.selections.length > 1 || !editor.selection.isEmpty;
    return isSelecting ? { rule: 'cursors', words: 'There are several cursors, or something is selected.' } : undefined;
  }

  /** As `provide`, if only edits are suggested. */
  private provideEdit(
    document: vscode.TextDocument, position: vscode.Position, context: vscode.InlineCompletionContext, token: vscode.CancellationToken,
  ): vscode.InlineCompletionItem[] | undefined {
    const edit = this.takeOffered(document, position, context, token) ?? (this.shown?.isEdit === true ? this.left(document, position, context.selectedCompletionInfo) : undefined);
    return edit === undefined ? undefined : [edit];
  }

  private takeOffered(
    document: vscode.TextDocument, position: vscode.Position, { selectedCompletionInfo: selected }: vscode.InlineCompletionContext, token: vscode.CancellationToken,
  ): vscode.InlineCompletionItem | undefined {
    const offered = this.offered?.document === document ? this.offered.item : undefined;
    if (offered === undefined || selected !== undefined) return undefined;
    this.offered = undefined;
    if (offered.version !== document.version || !canShow(document, position, offered)) return undefined;
    this.show(document, position, offered, token, true);
    return itemOf(offered.id, offered.text, rangeOf(offered), EDIT_ACCEPTED);
  }

  /** The rest of the suggestion that is shown, if the user types into it. */
  private left(document: vscode.TextDocument, position: vscode.Position, selected?: vscode.SelectedCompletionInfo): vscode.InlineCompletionItem | undefined {
    if (this.shown?.document !== document) return undefined;
    const { one, isEdit } = this.shown;
    const between = (start: number, end: number): string => document.getText(new vscode.Range(document.positionAt(start), document.positionAt(end)));
    const at = document.offsetAt(position);
    if (at < one.start || at > one.end) return undefined;
    const before = between(one.start, at);
    const found = rest(one, before, between(at, one.end));
    if (found === undefined) return undefined;
    const range = new vscode.Range(position.translate(0, -found.back), document.positionAt(one.end));
    // The completion menu shows its entry in the text already, and VS Code shows only what goes on from it.
    if (selected !== undefined && !(range.isEqual(selected.range) && found.text.startsWith(selected.text) && found.text !== selected.text)) return undefined;
    this.shown = { document, one: { ...one, typed: before.replaceAll('\r\n', '\n').length }, isEdit };
    return itemOf(one.id, found.text, range, isEdit ? EDIT_ACCEPTED : ACCEPTED);
  }

  private async ask(
    document: vscode.TextDocument, position: vscode.Position, { trigger, selected }: { trigger: InlineTrigger; selected: vscode.SelectedCompletionInfo | undefined },
    token: vscode.CancellationToken, ask: Ask,
  ): Promise<vscode.InlineCompletionItem[] | undefined> {
    const indentation = indentationOf(vscode.window.activeTextEditor?.options);
    let result: InlineCompleteResult;
    try {
      result = await ask({
        textDocument: { uri: document.uri.toString(), version: document.version },
        position: { line: position.line, character: position.character },
        trigger,
        ...(selected === undefined ? {} : { selected: { range: plain(selected.range), text: selected.text } }),
        ...(indentation === undefined ? {} : { indentation }),
      });
    } catch (error) {
      if (token.isCancellationRequested) return undefined;
      this.warn(messageOf(error));
      if (trigger === 'invoked') this.say(`There is no suggestion. ${messageOf(error)}`);
      return undefined;
    }
    if (token.isCancellationRequested || document.isClosed) return undefined;
    // Its range is of that version, and of no other.
    const current = result.items.filter(({ version }) => version === document.version);
    const items = current.filter((item) => canShow(document, position, item));
    const [first] = items;
    if (first === undefined) {
      this.end('ignored');
      if (current.length > 0) this.note(document, position, trigger, { rule: 'mismatch', words: 'VS Code cannot show the change as ghost text.' });
      else if (result.items.length > 0) this.note(document, position, trigger, { rule: 'stale', words: 'The document has changed in the meantime.' });
      else if (trigger === 'invoked') this.say(result.reason?.words);
      return undefined;
    }
    this.show(document, position, first, token);
    return items.map((item) => itemOf(item.id, item.text, rangeOf(item), ACCEPTED));
  }

  private show(document: vscode.TextDocument, position: vscode.Position, item: InlineItem, token: vscode.CancellationToken, isEdit = false): void {
    if (this.shown !== undefined && this.shown.one.id !== item.id) this.end('replaced');
    const range = rangeOf(item);
    const [start, end] = [document.offsetAt(range.start), document.offsetAt(range.end)];
    const typed = document.offsetAt(position) - start;
    this.shown = { document, one: { id: item.id, text: item.text.replaceAll('\r\n', '\n'), start, end, typed }, isEdit };
    const { version } = document;
    // VS Code shows what it gets, unless the user has gone on in the meantime.
    setTimeout(() => {
      if (token.isCancellationRequested || document.version !== version || this.shown?.one.id !== item.id) return;
      this.tell(item.id, 'shown');
      this.mark(true);
    }, 0);
  }

  private follow({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    if (this.shown?.document !== document || contentChanges.length === 0) return;
    const one = followed(this.shown.one, contentChanges);
    if (one === undefined) this.end('ignored');
    else this.shown = { ...this.shown, one };
  }

  /** A cursor that has left the place takes the suggestion off the screen. */
  private watch(editor: vscode.TextEditor | undefined): void {
    if (this.shown === undefined || editor !== vscode.window.activeTextEditor) return;
    const { document, one } = this.shown;
    const at = editor?.document === document ? document.offsetAt(editor.selection.active) : -1;
    if (at < one.start || at > one.end) this.end('ignored');
  }

  private editAccepted(id: string): void {
    if (this.shown?.one.id === id) this.end('accepted');
    else this.tell(id, 'accepted');
  }

  private end(event: InlineEvent): void {
    if (this.shown === undefined) return;
    const { id } = this.shown.one;
    this.tell(id, event);
    this.forget();
    this.ended.fire({ id, event });
  }

  private forget(): void {
    this.shown = undefined;
    this.mark(false);
  }

  /** Tells VS Code if Escape is for a suggestion of ours. */
  private mark(isShown: boolean): void {
    if (this.isMarked === isShown) return;
    this.isMarked = isShown;
    void vscode.commands.executeCommand('setContext', 'azimuth.inlineShown', isShown);
    this.marked.fire();
  }

  private tell(id: string, event: InlineEvent): void {
    this.request('azimuth/inline/feedback', { id, event }).catch((error: unknown) => this.output.debug(`the server was not told of a suggestion: ${messageOf(error)}`));
  }

  private note(document: vscode.TextDocument, { line, character }: vscode.Position, trigger: InlineTrigger, reason: Reason): void {
    this.own = noted(this.own, { uri: document.uri.toString(), position: { line, character }, trigger, at: Date.now(), source: 'none', reason, tookMs: 0 });
    if (trigger === 'invoked') this.say(reason.words);
  }

  private say(words = 'There is no suggestion.'): void {
    vscode.window.setStatusBarMessage(visible(`Azimuth: ${words}`), SAID_MS);
  }

  /** Logs why there is no suggestion, the same once: it may go wrong with every key. */
  private warn(message: string): void {
    if (this.warned.has(message)) return;
    this.warned.add(message);
    this.output.warn(`no suggestion: ${message}`);
  }
}

const outside: Reason = { rule: 'outside', words: 'Text is suggested in editors of files only, not in diffs and other views.' };

/** True if a document is in the tab in front and that is no diff, as far as VS Code says. */
export function isInPlainTab({ uri }: vscode.TextDocument): boolean {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  return uri.scheme === 'file' && input instanceof vscode.TabInputText && input.uri.toString() === uri.toString();
}

function canShow(document: vscode.TextDocument, position: vscode.Position, item: InlineItem): boolean {
  const { start, end } = item.range;
  if (start.line !== position.line || end.line !== position.line) return false;
  return isVisible(document.lineAt(position.line).text, position.character, { start: start.character, end: end.character }, item.text);
}

function itemOf(id: string, text: string, range: vscode.Range, command: string): vscode.InlineCompletionItem {
  return new vscode.InlineCompletionItem(text, range, { command, title: 'Accepted', arguments: [id] });
}

function rangeOf({ range: { start, end } }: InlineItem): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

function plain({ start, end }: vscode.Range): InlineItem['range'] {
  return { start: { line: start.line, character: start.character }, end: { line: end.line, character: end.character } };
}

/** The editor's indentation; VS Code gives numbers and not `auto` for an open one. */
function indentationOf(options?: vscode.TextEditorOptions): InlineCompleteParams['indentation'] {
  const { tabSize, insertSpaces } = options ?? {};
  return typeof tabSize === 'number' && typeof insertSpaces === 'boolean' ? { tabSize, insertSpaces } : undefined;
}
