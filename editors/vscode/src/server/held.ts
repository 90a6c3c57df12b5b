// Documents that Azimuth has VS Code open, and nobody shows.
//
// Who asks for code actions or a rename needs the document, and VS Code has no way to give it back: it keeps one for minutes.
// The user does not know of it, and neither shall our server, which would take the file for one that is open here: what the
// user accepts would change a text that nobody sees, and not the file.

import { createHash } from 'node:crypto';
import * as vscode from 'vscode';
import type { LanguageClient, Middleware } from 'vscode-languageclient/node';
import { messageOf } from './requests';

/** How often it is looked whether VS Code has read a file again, in milliseconds. */
const LOOK_MS = 100;

/** How a text stood: its version where the user has it open, its hash where it is held. */
export type Stand = { version: number } | { hash: string };

/** One for the window. It has to be there before any client of a server is. */
export class Held implements vscode.Disposable {
  /** The documents that were opened here, for as long as VS Code has them. */
  private readonly ours = new Set<string>();
  private readonly changed = new vscode.EventEmitter<vscode.TextDocument>();
  private readonly subscriptions: vscode.Disposable[];

  /** One that was held may be the user's now, or the other way round. */
  readonly onChange = this.changed.event;

  constructor() {
    this.subscriptions = [
      this.changed,
      vscode.window.tabGroups.onDidChangeTabs(() => this.look()),
      vscode.window.onDidChangeVisibleTextEditors(() => this.look()),
      // Without changes of the text it says that the document is dirty, or no longer.
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.tell(document)),
      // A change of its language is told as if it were closed.
      vscode.workspace.onDidCloseTextDocument(({ uri }) => (loaded(uri.toString()) === undefined ? this.ours.delete(uri.toString()) : false)),
    ];
  }

  /** Opens a document without showing it. One that was not open is held. */
  async open(uri: vscode.Uri): Promise<vscode.TextDocument> {
    const key = uri.toString();
    if (loaded(key) === undefined) this.ours.add(key);
    try {
      return await vscode.workspace.openTextDocument(uri);
    } catch (error) {
      if (loaded(key) === undefined) this.ours.delete(key);
      throw error;
    }
  }

  /** True if a document was opened here, is in no editor, and has nothing that would be lost with it. */
  isHeld(document: vscode.TextDocument): boolean {
    return this.ours.has(document.uri.toString()) && !document.isDirty && !isShown(document);
  }

  /** The document of this URI, however that is spelled, if the user has it open. */
  document(uri: string): vscode.TextDocument | undefined {
    const document = loaded(vscode.Uri.parse(uri).toString());
    return document === undefined || this.isHeld(document) ? undefined : document;
  }

  /** How the texts of all documents stand, by their URIs. */
  stands(): Map<string, Stand> {
    const standOf = (document: vscode.TextDocument): Stand => (
      this.isHeld(document) ? { hash: hashOf(document.getText()) } : { version: document.version });
    return new Map(vscode.workspace.textDocuments.map((document) => [document.uri.toString(), standOf(document)]));
  }

  /**
   * Waits until a held document has the text of its file, which VS Code reads again a little after it changed. Gives what is
   * wrong where that is not before `until`.
   */
  async fault(document: vscode.TextDocument, until: number): Promise<string | undefined> {
    while (this.isHeld(document)) {
      const text = await onDisk(document).catch(() => undefined);
      if (text === undefined) return 'There is no such file, or it cannot be read as text.';
      if (text === normal(document.getText())) return undefined;
      if (Date.now() + LOOK_MS >= until) return 'VS Code has not read this file again since it changed.';
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    return undefined;
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private look(): void {
    for (const document of vscode.workspace.textDocuments) this.tell(document);
  }

  private tell(document: vscode.TextDocument): void {
    if (this.ours.has(document.uri.toString())) this.changed.fire(document);
  }
}

/** Tells a server of documents: only of those that the user has open. One for each client. */
export class Told implements vscode.Disposable {
  /** The versions at which documents were told. */
  private readonly opened = new Map<string, number>();
  private readonly subscription: vscode.Disposable;

  constructor(private readonly held: Held, private readonly client: () => LanguageClient) {
    this.subscription = held.onChange((document) => this.settle(document));
  }

  readonly middleware: Pick<Middleware, 'didOpen' | 'didChange' | 'didSave' | 'didClose'> = {
    didOpen: async (document, next) => {
      if (this.held.isHeld(document)) return;
      this.opened.set(document.uri.toString(), document.version);
      await next(document);
    },
    didChange: async (event, next) => {
      const { uri, version } = event.document;
      const first = this.opened.get(uri.toString());
      // It may have been opened for the server just now, with this change.
      if (first !== undefined && version > first) await next(event);
    },
    didSave: async (document, next) => {
      if (this.opened.has(document.uri.toString())) await next(document);
    },
    // By what was told: one that closes is held by nobody any more.
    didClose: async (document, next) => {
      if (this.opened.delete(document.uri.toString())) await next(document);
    },
  };

  dispose(): void {
    this.subscription.dispose();
  }

  /** Opens or closes a document for the server, where it became the user's or is theirs no longer. */
  private settle(document: vscode.TextDocument): void {
    const isTold = this.opened.has(document.uri.toString());
    if (document.isClosed || isTold !== this.held.isHeld(document)) return;
    const client = this.client();
    const feature = isTold ? client.getFeature('textDocument/didClose') : client.getFeature('textDocument/didOpen');
    // One that has not begun yet is told of what is open when it does.
    feature.getProvider(document)?.send(document).catch((error: unknown) => {
      if (client.isRunning()) client.warn(`the server was not told of ${document.uri.toString()}: ${messageOf(error)}`);
    });
  }
}

/** True if a document is in an editor, in front or not. */
export function isShown({ uri }: vscode.TextDocument): boolean {
  const key = uri.toString();
  const inputs = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ input }) => input));
  return inputs.flatMap(urisOf).some((shown) => shown.toString() === key)
    // An editor that shows several files in one tab does not say which.
    || vscode.window.visibleTextEditors.some(({ document }) => document.uri.toString() === key);
}

function urisOf(input: unknown): vscode.Uri[] {
  if (input instanceof vscode.TabInputText || input instanceof vscode.TabInputCustom || input instanceof vscode.TabInputNotebook) return [input.uri];
  return input instanceof vscode.TabInputTextDiff || input instanceof vscode.TabInputNotebookDiff ? [input.original, input.modified] : [];
}

function loaded(key: string): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find((document) => !document.isClosed && document.uri.toString() === key);
}

async function onDisk({ uri, encoding }: vscode.TextDocument): Promise<string> {
  return normal(await vscode.workspace.decode(await vscode.workspace.fs.readFile(uri), { encoding }));
}

/** A text as two that differ only in how they are written down have it. */
function normal(text: string): string {
  return text.replace(/^\uFEFF/u, '').replaceAll(/\r\n|\r/g, '\n');
}

/** The hash by which the server knows a text (`LangChange`). */
function hashOf(text: string): string {
  return createHash('sha256').update(text.replace(/^\uFEFF/u, '').replaceAll(/\r+\n/g, '\n')).digest('hex');
}
