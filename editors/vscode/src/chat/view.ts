// The chat's webview as VS Code holds it: made when it is shown, thrown away when it is hidden, told everything anew.

import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { SessionId } from '../generated/protocol';
import type { Server } from '../server/server';
import type { Session } from '../session/session';
import type { FactsKeeper } from './facts';
import { Chat } from './fold';
import type { Attachment, HostMessage, Intent, SentPrompt } from './messages';
import { unlinked } from '../text';

/** How many entries the webview gets when it begins, and each time it asks for earlier ones. */
const ENTRIES = 150;

export class ChatView implements vscode.WebviewViewProvider, vscode.Disposable {
  private view: vscode.WebviewView | undefined;
  private ready = false;
  private keyboard = false;
  /** The messages that are told as soon as the webview listens. */
  private later: HostMessage[] = [];
  private readonly shown = new vscode.EventEmitter<boolean>();
  private readonly subscriptions: vscode.Disposable[];

  /** The webview listens, or is gone. */
  readonly onShown = this.shown.event;

  /** `carryOut` does what the webview asks for. */
  constructor(
    private readonly extension: vscode.Uri,
    private readonly session: Session,
    private readonly facts: FactsKeeper,
    private readonly server: Server,
    private readonly carryOut: (intent: Intent) => void,
  ) {
    this.subscriptions = [
      vscode.window.registerWebviewViewProvider('azimuth.chat', this),
      session.onStep(({ sessionId, events }) => this.tell({ type: 'events', sessionId, events })),
      session.onSwitch(() => this.tellSession()),
      session.onTerminals(({ corrected }) => (corrected ? this.tellTerminals() : undefined)),
      this.shown,
      facts.onChange(() => this.tellFacts()),
    ];
  }

  get visible(): boolean {
    return this.view?.visible ?? false;
  }

  /** True if what the user types goes into the chat. */
  get hasKeyboard(): boolean {
    return this.keyboard;
  }

  /** Shows the chat with the keyboard in its prompt, and with `atEnd` what was said last. */
  async focus(atEnd = false): Promise<void> {
    await vscode.commands.executeCommand('azimuth.chat.focus');
    this.soon({ type: 'focus', atEnd });
  }

  /** Shows the chat at the entry with this key. */
  async reveal(sessionId: SessionId, key: string): Promise<void> {
    await this.focus();
    this.soon({ type: 'reveal', sessionId, key });
  }

  /** Puts a prompt that was given elsewhere and not taken into the draft, and shows it with the reason. */
  async giveBack(prompt: SentPrompt, error: string): Promise<void> {
    this.soon({ type: 'refused', prompt, error });
    await this.focus();
  }

  /** Adds to the draft, and shows it. */
  async attach(attachments: Attachment[]): Promise<void> {
    if (attachments.length > 0) await this.add({ text: '', attachments });
  }

  /** As `attach`, with what is as if typed. */
  async add(prompt: SentPrompt): Promise<void> {
    this.soon({ type: 'attach', prompt });
    await this.focus();
  }

  /** Tells the webview, if one listens. What became of a prompt is told to the next one, and a failure to the user. */
  tell(message: HostMessage): void {
    if (this.ready) return void this.view?.webview.postMessage(message);
    if (message.type !== 'promptSettled') return;
    this.later.push(message);
    if (message.error !== undefined) void vscode.window.showErrorMessage(unlinked(`Azimuth: ${message.error} The chat still has what you wrote.`));
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    this.ready = false;
    const files = vscode.Uri.joinPath(this.extension, 'dist');
    view.webview.options = { enableScripts: true, localResourceRoots: [files] };
    view.webview.onDidReceiveMessage((intent: Intent) => this.take(intent));
    view.onDidChangeVisibility(() => {
      // A hidden webview is gone; the next one says `ready` again.
      if (!view.visible) this.gone();
    });
    view.onDidDispose(() => {
      this.view = undefined;
      this.gone();
    });
    view.webview.html = page(view.webview, files);
    void this.server.start();
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private take(intent: Intent): void {
    if (intent.type === 'focused') return this.focused(intent.on);
    if (intent.type === 'earlier') return this.tellEarlier(intent.before, intent.key);
    if (intent.type !== 'ready') return this.carryOut(intent);
    this.ready = true;
    this.facts.show(true);
    this.tellFacts();
    this.tellSession();
    for (const message of this.later.splice(0)) this.tell(message);
    this.shown.fire(true);
    void this.facts.refresh();
  }

  private gone(): void {
    this.ready = false;
    this.facts.show(false);
    this.shown.fire(false);
    this.focused(false);
  }

  private focused(on: boolean): void {
    this.keyboard = on;
    void vscode.commands.executeCommand('setContext', 'azimuth.chatFocused', on);
  }

  private soon(message: HostMessage): void {
    if (this.ready) this.tell(message);
    else this.later.push(message);
  }

  /** A long session is more than a webview takes in at once: it gets the end, and asks for more when the user looks. */
  private tellSession(): void {
    const { info } = this.session;
    this.tell({ type: 'session', ...(info === undefined ? {} : { session: { info, chat: this.chat().snapshot(ENTRIES) } }) });
  }

  private tellTerminals(): void {
    const { id: sessionId, terminals } = this.session;
    if (sessionId !== undefined) this.tell({ type: 'terminals', sessionId, terminals: [...terminals.values()] });
  }

  private tellEarlier(before: number, key?: string): void {
    const { id: sessionId } = this.session;
    if (sessionId === undefined) return;
    const { entries } = this.chat();
    const wanted = key === undefined ? -1 : entries.findIndex((entry) => entry.key === key);
    const from = Math.max(0, Math.min(before, wanted < 0 ? before : wanted) - ENTRIES);
    this.tell({ type: 'earlier', sessionId, from, entries: entries.slice(from, before) });
  }

  /** The whole chat as it is. */
  private chat(): Chat {
    const chat = Chat.of(this.session.events);
    chat.correct([...this.session.terminals.values()]);
    return chat;
  }

  private tellFacts(): void {
    this.tell({ type: 'facts', facts: this.facts.current });
  }
}

/** Nothing runs or loads in it but the extension's own script and style; pictures may be inline, as pasted ones are. */
function page(webview: vscode.Webview, files: vscode.Uri): string {
  const nonce = randomBytes(16).toString('base64url');
  const uri = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(files, name)).toString();
  const policy = [
    "default-src 'none'", `script-src 'nonce-${nonce}'`, `style-src ${webview.cspSource}`, `font-src ${webview.cspSource}`,
    `img-src ${webview.cspSource} data:`, "base-uri 'none'", "form-action 'none'",
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${uri('chat.css')}">
<title>Azimuth</title>
</head>
<body>
<div id="chat"></div>
<script nonce="${nonce}" src="${uri('chat.js')}"></script>
</body>
</html>`;
}
