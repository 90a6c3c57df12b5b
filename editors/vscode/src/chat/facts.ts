// The facts that the chat shows beside the session's events.

import * as vscode from 'vscode';
import type { ModelListResult, PromptBeginningsResult, SessionInfo } from '../generated/protocol';
import type { Server } from '../server/server';
import type { Session } from '../session/session';
import { labelOf } from './attachments';
import { Chat } from './fold';
import type { Facts } from './messages';

/** Whoever goes through their tabs is asked for once, at the last. */
const SETTLED_MS = 200;

export class FactsKeeper implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[];
  private sessions: SessionInfo[] = [];
  private models: ModelListResult = { models: [] };
  private beginnings: PromptBeginningsResult | undefined;
  /** How often the beginnings were asked for. */
  private asked = 0;
  private soon: NodeJS.Timeout | undefined;
  /** True while a webview shows the chat. */
  private shown = false;
  private selection: string | undefined;

  readonly onChange = this.changed.event;

  constructor(private readonly server: Server, private readonly session: Session) {
    const tell = (): void => this.changed.fire();
    this.subscriptions = [
      server.onState((state) => {
        tell();
        if (state.state === 'running') void this.refresh();
      }),
      session.onSwitch(() => void this.refresh()),
      session.onStep(({ before, after }) => {
        if (before.model !== after.model) this.beginSoon();
        if (before.mode !== after.mode || before.acceptEdits !== after.acceptEdits) tell();
        // The list changes with titles and turns; it is asked for anew when a turn ends.
        if (before.title !== after.title || (before.runningTurn !== undefined && after.runningTurn === undefined)) void this.refresh();
      }),
      session.onMode(tell),
      vscode.window.onDidChangeTextEditorSelection(() => this.selectionChanged()),
      vscode.window.onDidChangeActiveTextEditor(() => {
        this.selectionChanged();
        this.beginSoon();
      }),
      server.onTrusted(() => this.beginSoon()),
      server.onLanguageServers(() => this.beginSoon()),
      vscode.workspace.onDidGrantWorkspaceTrust(tell),
      vscode.workspace.onDidChangeWorkspaceFolders(tell),
      vscode.workspace.onDidChangeConfiguration((change) => (change.affectsConfiguration('azimuth') ? tell() : undefined)),
      this.changed,
    ];
  }

  get current(): Facts {
    const trusted = vscode.workspace.isTrusted;
    const configuration = vscode.workspace.getConfiguration('azimuth');
    const accepts = this.session.accepts;
    return {
      server: this.server.state,
      sessions: this.sessions,
      models: this.models.models,
      ...(this.models.default === undefined ? {} : { defaultModel: this.models.default }),
      mode: this.session.mode,
      ...(accepts === undefined ? {} : { accepts }),
      folder: (vscode.workspace.workspaceFolders ?? []).length > 0,
      trusted,
      enterSends: configuration.get('chat.enterSends', true),
      ...(this.beginnings === undefined ? {} : { beginnings: this.beginnings }),
      ...(this.selection === undefined ? {} : { selection: this.selection }),
    };
  }

  /** Says whether a webview shows the chat: what an empty one offers is asked for only there. */
  show(shown: boolean): void {
    this.shown = shown;
    if (!shown) clearTimeout(this.soon);
  }

  /** Asks the server for its lists again. */
  async refresh(): Promise<void> {
    if (this.server.state.state !== 'running') return;
    void this.begin();
    try {
      [this.sessions, this.models] = await Promise.all([this.session.list(), this.server.request('azimuth/model/list', { unasked: true })]);
      this.changed.fire();
    } catch {
      // The lists stay as they were; that the server is gone is said by its state.
    }
  }

  dispose(): void {
    clearTimeout(this.soon);
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  /** Asks as `begin` does once nothing more changes. */
  private beginSoon(): void {
    clearTimeout(this.soon);
    if (this.shown) this.soon = setTimeout(() => void this.begin(), SETTLED_MS);
  }

  /** Asks what an empty chat can offer at the file that the user has before them. */
  private async begin(): Promise<void> {
    if (!this.shown || this.server.state.state !== 'running' || !this.isEmpty()) return;
    const asked = (this.asked += 1);
    const uri = vscode.window.activeTextEditor?.document.uri;
    const sessionId = this.session.id;
    const params = { ...(uri?.scheme === 'file' ? { uri: uri.toString() } : {}), ...(sessionId === undefined ? {} : { sessionId }) };
    const beginnings = await this.server.request('azimuth/prompt/beginnings', params).catch(() => undefined);
    if (asked !== this.asked) return;
    this.beginnings = beginnings;
    this.changed.fire();
  }

  private isEmpty(): boolean {
    // A session has its title from the first prompt on; one without has few events.
    return (this.session.state?.title ?? '') === '' && Chat.of(this.session.events).isEmpty;
  }

  private selectionChanged(): void {
    const editor = vscode.window.activeTextEditor;
    const selected = editor !== undefined && editor.document.uri.scheme === 'file' && !editor.selection.isEmpty;
    const selection = selected ? labelOf(editor.document.uri, editor.selection) : undefined;
    if (selection === this.selection) return;
    this.selection = selection;
    this.changed.fire();
  }
}
