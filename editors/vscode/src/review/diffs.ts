// Proposals in the editor's own diff: left the live document, right the proposal. Where a command has changed the document
// already, left is what was there before, and right the live document. Closing a diff decides nothing.

import * as vscode from 'vscode';
import type { HunkId, Proposal } from '../generated/protocol';
import type { Held } from '../server/held';
import { landedBy } from '../session/fold';
import { visible } from '../text';
import { diffedIn } from './address';
import type { ReviewFiles } from './files';
import { neighbour, place, type Placed } from './layout';
import type { Review } from './review';

export class Diffs implements vscode.Disposable {
  private readonly subscription: vscode.Disposable;
  /** Diffs are closed one after the other. */
  private closing: Promise<void> = Promise.resolve();

  constructor(private readonly review: Review, private readonly files: ReviewFiles, private readonly held: Held, private readonly chat: { readonly hasKeyboard: boolean }) {
    this.subscription = review.onChange(() => (this.closing = this.closing.then(() => this.closeDecided())));
  }

  /** Shows a proposal, at a hunk or at its first one. */
  async open(proposal: Proposal, hunkId?: HunkId): Promise<void> {
    const { left, right } = this.sides(proposal);
    const placed = place(proposal);
    const at = placed.find(({ hunk }) => hunk.hunkId === hunkId) ?? placed[0];
    const side = proposal.landed === true ? 'document' : 'beside';
    const title = `${visible(proposal.path)} (${label(proposal)})`;
    await vscode.commands.executeCommand('vscode.diff', left, right, title, {
      preview: true,
      ...(at === undefined ? {} : { selection: new vscode.Range(at[side].start, 0, at[side].start, 0) }),
    } satisfies vscode.TextDocumentShowOptions);
  }

  /** Goes to the next or previous hunk of the file in the editor; from its last one to the next file's. */
  async go(direction: 'next' | 'previous'): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const at = this.review.at(editor);
    if (editor === undefined || at === undefined) {
      const [first] = this.review.open;
      if (first === undefined) throw new Error('No hunk waits for a decision.');
      return this.open(first);
    }
    const line = editor.selection.active.line;
    const next = neighbour(at.hunks, at.side, line, direction);
    const wraps = next === undefined || (direction === 'next' ? next[at.side].start <= line : next[at.side].start >= line);
    const files = this.review.open;
    const index = files.findIndex((one) => one.proposalId === at.proposal.proposalId);
    const other = files.at((index + (direction === 'next' ? 1 : -1)) % files.length);
    if (wraps && other !== undefined && other.proposalId !== at.proposal.proposalId) {
      const hunks = place(other);
      return this.open(other, (direction === 'next' ? hunks[0] : hunks.at(-1))?.hunk.hunkId);
    }
    if (next !== undefined) reveal(editor, next[at.side]);
  }

  dispose(): void {
    this.subscription.dispose();
  }

  private sides(proposal: Proposal): { left: vscode.Uri; right: vscode.Uri } {
    const document = vscode.Uri.parse(proposal.uri);
    const [none, beside] = [this.files.uri(proposal, true), this.files.uri(proposal)];
    const { change } = proposal;
    if (proposal.landed === true) return { left: change === 'create' ? none : beside, right: change === 'delete' ? none : document };
    return { left: change === 'create' ? none : document, right: change === 'delete' ? none : beside };
  }

  /** A diff of which everything is decided has nothing more to show. Where it was being looked at, its file is. */
  private async closeDecided(): Promise<void> {
    for (const tab of vscode.window.tabGroups.all.flatMap((group) => group.tabs)) {
      const address = diffedIn(tab);
      const proposal = address && this.review.proposal(address.proposalId);
      if (proposal === undefined || proposal.hunks.some(isOpen)) continue;
      const looked = tab.isActive && tab.group.isActive;
      // The unsaved text in it is the user's text of the proposal, or the document itself, which stays open beside it.
      if (tab.isDirty && !(proposal.landed === true && looked)) continue;
      // The file is shown before the diff goes: an editor that closes under the keyboard leaves it nowhere.
      if (looked) await this.showFile(proposal, !tab.isDirty);
      // The user may have closed it meanwhile, or the file has taken its place.
      await vscode.window.tabGroups.close(tab, true).then(undefined, () => false);
    }
  }

  /** Shows the file of a proposal, if there is one by now. Whoever decides in the chat keeps the keyboard there. */
  private async showFile({ uri }: Proposal, preview: boolean): Promise<void> {
    const file = vscode.Uri.parse(uri);
    const isThere = await vscode.workspace.fs.stat(file).then(() => true, () => false);
    if (isThere) await vscode.window.showTextDocument(await this.held.open(file), { preview, preserveFocus: this.chat.hasKeyboard }).then(undefined, () => undefined);
  }
}

/** Where an accepted hunk is still on its way, the diff stays. */
function isOpen({ state }: Placed['hunk']): boolean {
  return state === 'pending' || state === 'applying' || state === 'conflicted';
}

function label(proposal: Proposal): string {
  if (proposal.landed === true) return `${{ create: 'made', modify: 'changed', delete: 'deleted' }[proposal.change]} by ${landedBy(proposal)}`;
  return { create: 'new file', modify: 'proposed changes', delete: 'to be deleted' }[proposal.change];
}

function reveal(editor: vscode.TextEditor, { start }: { start: number }): void {
  const position = new vscode.Position(Math.min(start, editor.document.lineCount - 1), 0);
  editor.selection = new vscode.Selection(position, position);
  editor.revealRange(new vscode.Range(position, position), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
