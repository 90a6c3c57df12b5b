// A comment thread at each pending hunk of a diff: Accept, Reject, room for a word to the model, and what was said of it.

import * as vscode from 'vscode';
import type { Proposal } from '../generated/protocol';
import { SCHEME, parseReview } from './address';
import { place, size, type Placed } from './layout';
import type { Review } from './review';

interface Shown {
  thread: vscode.CommentThread;
  proposal: Proposal;
  placed: Placed;
}

export class Threads implements vscode.Disposable {
  private readonly controller = vscode.comments.createCommentController('azimuth.review', 'Azimuth');
  /** By document and hunk. */
  private readonly shown = new Map<string, Shown>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly review: Review) {
    this.controller.options = { prompt: 'A message to the model, with your decision or before it', placeHolder: 'A message to the model (optional)' };
    this.subscriptions = [
      review.onChange(() => this.update()),
      vscode.workspace.onDidOpenTextDocument(({ uri }) => (uri.scheme === SCHEME ? this.update() : undefined)),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => (uri.scheme === SCHEME ? this.update() : undefined)),
      this.controller,
    ];
    this.update();
  }

  /** The hunk that a thread belongs to. */
  find(thread: vscode.CommentThread): Shown | undefined {
    return [...this.shown.values()].find((one) => one.thread === thread);
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private update(): void {
    const wanted = new Set<string>();
    for (const document of vscode.workspace.textDocuments) {
      const address = parseReview(document.uri);
      const [found] = address === undefined || address.empty ? [] : this.review.of(document.uri);
      // A change that landed stands in the file itself, where threads would be in the way of every editor.
      if (found === undefined || found.proposal.landed === true) continue;
      const hunks = place(found.proposal);
      for (const [index, placed] of hunks.entries()) {
        const key = `${document.uri.toString()}#${placed.hunk.hunkId}`;
        wanted.add(key);
        this.show(key, document.uri, found.proposal, placed, `Hunk ${index + 1} of ${hunks.length}`);
      }
    }
    for (const [key, { thread }] of this.shown) {
      if (wanted.has(key)) continue;
      thread.dispose();
      this.shown.delete(key);
    }
  }

  private show(key: string, uri: vscode.Uri, proposal: Proposal, placed: Placed, label: string): void {
    const { start, end } = placed.beside;
    // The thread stands below the hunk's last line; where only lines go away, below the line above them.
    const line = Math.max(0, end > start ? end - 1 : start - 1);
    const range = new vscode.Range(line, 0, line, 0);
    const known = this.shown.get(key);
    const thread = known?.thread ?? this.controller.createCommentThread(uri, range, []);
    if (known === undefined) {
      thread.contextValue = 'hunk';
      thread.canReply = true;
      thread.collapsibleState = vscode.CommentThreadCollapsibleState.Collapsed;
    }
    if (thread.range?.start.line !== line) thread.range = range;
    thread.label = `${label}: ${size(placed.hunk)}`;
    const comments = [about(placed), ...(placed.hunk.comments ?? []).map(said)];
    if (!isSame(thread.comments, comments)) thread.comments = comments;
    this.shown.set(key, { thread, proposal, placed });
  }
}

/**
 * VS Code throws a thread without comments away when it is closed, so it gets one that nobody can edit. With a body it
 * would also open the panel of comments, which nobody asked for.
 */
function about({ hunk }: Placed): vscode.Comment {
  return { author: { name: size(hunk) }, body: '', mode: vscode.CommentMode.Preview };
}

/** A body that is no Markdown is shown as it was written. */
function said(text: string): vscode.Comment {
  return { author: { name: 'You' }, body: text, mode: vscode.CommentMode.Preview };
}

function isSame(shown: readonly vscode.Comment[], wanted: readonly vscode.Comment[]): boolean {
  return shown.length === wanted.length && wanted.every(({ author, body }, index) => shown[index]?.author.name === author.name && shown[index].body === body);
}
