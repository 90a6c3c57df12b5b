// The texts beside documents as files of `azimuth-review:`: what is proposed, and what was there before a command changed
// it. Saving a proposed one changes the proposal.

import * as vscode from 'vscode';
import type { Proposal } from '../generated/protocol';
import { isError, messageOf, type Request } from '../server/requests';
import { parseReview, reviewUri, type Address } from './address';
import type { Review } from './review';

/** The text that was given for a proposal, so that only one that differs is told as changed. */
interface Given {
  address: Address;
  uri: vscode.Uri;
  text: string;
  revision: number;
  mtime: number;
}

export class ReviewFiles implements vscode.FileSystemProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  private readonly given = new Map<string, Given>();
  private readonly subscriptions: vscode.Disposable[];

  readonly onDidChangeFile = this.changed.event;

  constructor(private readonly request: Request, private readonly review: Review) {
    this.subscriptions = [
      review.onChange(() => void this.refresh()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document.uri.scheme === 'file' && this.given.size > 0 && review.of(document.uri).length > 0) void this.refresh();
      }),
      this.changed,
    ];
  }

  /** The proposed text's address, and that of the side without a file. */
  uri(proposal: Proposal, empty = false): vscode.Uri {
    return reviewUri(this.review.sessionOf(proposal.proposalId), proposal, empty);
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const { text, mtime, address } = await this.load(uri);
    const proposal = this.review.proposal(address.proposalId);
    const fixed = address.empty || proposal?.landed === true || proposal?.change === 'delete';
    return {
      type: vscode.FileType.File, ctime: 0, mtime, size: Buffer.byteLength(text),
      ...(fixed ? { permissions: vscode.FilePermission.Readonly } : {}),
    };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    return Buffer.from((await this.load(uri)).text);
  }

  /** The user saved the proposed text as they want it. */
  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    const { address, revision } = await this.load(uri);
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(content);
    try {
      await this.request('azimuth/review/change', { sessionId: address.sessionId, proposalId: address.proposalId, revision, text });
    } catch (error) {
      if (isError(error, 'methodNotFound')) {
        throw vscode.FileSystemError.NoPermissions('This server cannot change a proposal. Accept the hunks and change them in the file.');
      }
      if (isError(error, 'staleReview')) {
        throw vscode.FileSystemError.Unavailable('The proposal has changed since it was shown. Your text is kept here; compare it with the proposal ("Revert File" shows that), and save again.');
      }
      throw vscode.FileSystemError.Unavailable(messageOf(error));
    }
    await this.refresh();
  }

  watch(): vscode.Disposable {
    return { dispose: () => undefined };
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private async load(uri: vscode.Uri): Promise<Given> {
    const known = this.given.get(uri.toString());
    if (known !== undefined) return known;
    const address = parseReview(uri);
    if (address === undefined) throw vscode.FileSystemError.FileNotFound(uri);
    const given = { address, uri, mtime: Date.now(), ...(await this.text(address)) };
    this.given.set(uri.toString(), given);
    return given;
  }

  private async text(address: Address): Promise<{ text: string; revision: number }> {
    const { sessionId, proposalId } = address;
    const proposal = this.review.proposal(proposalId);
    if (proposal?.landed === true && !address.empty) return { text: await this.review.computeBeside(proposal), revision: proposal.revision };
    if (address.empty || proposal?.change === 'delete') return { text: '', revision: proposal?.revision ?? 0 };
    try {
      const { proposed, revision } = await this.request('azimuth/review/text', { sessionId, proposalId });
      return { text: proposed ?? '', revision };
    } catch (error) {
      if (isError(error, 'methodNotFound') && proposal !== undefined) {
        return { text: await this.review.computeBeside(proposal), revision: proposal.revision };
      }
      if (isError(error, 'notFound')) throw vscode.FileSystemError.FileNotFound('No hunk of this proposal waits for a decision any more.');
      throw error;
    }
  }

  /** Looks what has changed of what was given, and tells of that. */
  private async refresh(): Promise<void> {
    const open = new Set(vscode.workspace.textDocuments.map((document) => document.uri.toString()));
    const changes: vscode.FileChangeEvent[] = [];
    for (const [key, given] of [...this.given]) {
      const proposal = this.review.proposal(given.address.proposalId);
      if (!open.has(key) || proposal === undefined) {
        this.given.delete(key);
        continue;
      }
      // Between a change of the document and that of the hunks the two may not fit: what is shown stays until they do.
      const now = await this.text(given.address).catch(() => undefined);
      if (now === undefined) continue;
      given.revision = now.revision;
      if (now.text === given.text) continue;
      given.text = now.text;
      given.mtime = Math.max(Date.now(), given.mtime + 1);
      changes.push({ type: vscode.FileChangeType.Changed, uri: given.uri });
    }
    if (changes.length > 0) this.changed.fire(changes);
  }
}
