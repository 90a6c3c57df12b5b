// The review of the session's proposals: decisions, and which hunk the user means.

import * as vscode from 'vscode';
import type { Decision, DecisionTarget, Hunk, Proposal, ProposalId } from '../generated/protocol';
import { openDocument } from '../server/documents';
import { pendingHunks, pendingProposals } from '../session/fold';
import type { Session } from '../session/session';
import { parseReview } from './address';
import { besideOf, hunkAt, place, type Placed, type Side } from './layout';

/** A pending hunk, and where it was meant. */
export interface Meant extends Placed {
  proposal: Proposal;
  side: Side;
}

export class Review implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[];

  /** A proposal came, changed or was decided, or another session is shown. */
  readonly onChange = this.changed.event;

  constructor(private readonly session: Session) {
    this.subscriptions = [
      session.onSwitch(() => this.changed.fire()),
      session.onStep(({ before, after }) => {
        if (before.proposals !== after.proposals) this.changed.fire();
      }),
      this.changed,
    ];
  }

  /** The agent's proposals that hold a pending hunk. */
  get pending(): Proposal[] {
    return pendingProposals(this.all).proposed;
  }

  /** What commands or other programs changed in the files already, and what is not decided of that. */
  get landed(): Proposal[] {
    return pendingProposals(this.all).landed;
  }

  /** Both, those that something waits for first. */
  get open(): Proposal[] {
    return [...this.pending, ...this.landed];
  }

  get pendingCount(): number {
    return this.pending.reduce((count, proposal) => count + pendingHunks(proposal).length, 0);
  }

  /** Every proposal of the session, decided ones included. */
  get all(): Proposal[] {
    return [...(this.session.state?.proposals.values() ?? [])];
  }

  proposal(id: ProposalId): Proposal | undefined {
    return this.session.state?.proposals.get(id);
  }

  /** The pending proposals that a document belongs to, and on which side of them it is. A file can have one of each kind. */
  of(uri: vscode.Uri): { proposal: Proposal; side: Side }[] {
    const address = parseReview(uri);
    if (address !== undefined) return this.open.filter((one) => one.proposalId === address.proposalId).map((proposal) => ({ proposal, side: 'beside' }));
    return this.open.filter((one) => vscode.Uri.parse(one.uri).toString() === uri.toString()).map((proposal) => ({ proposal, side: 'document' }));
  }

  /** The hunks of an editor's document, and the one at its cursor. */
  at(editor: vscode.TextEditor | undefined): { hunks: Placed[]; here: Meant | undefined; proposal: Proposal; side: Side } | undefined {
    if (editor === undefined) return undefined;
    const all = this.of(editor.document.uri).map((found) => {
      const hunks = place(found.proposal);
      const here = hunkAt(hunks, found.side, editor.selection.active.line);
      return { ...found, hunks, here: here && { ...here, ...found } };
    });
    return all.find(({ here }) => here !== undefined) ?? all[0];
  }

  async decideHunks(decision: Decision, proposal: Proposal, hunks: readonly Hunk[], message?: string): Promise<void> {
    await this.decide(decision, [{ ...target(proposal), hunkIds: hunks.map((hunk) => hunk.hunkId) }], message);
  }

  async decideFile(decision: Decision, proposal: Proposal): Promise<void> {
    await this.decide(decision, [target(proposal)]);
  }

  async decideAll(decision: Decision, proposals: readonly Proposal[]): Promise<void> {
    await this.decide(decision, proposals.map(target));
  }

  /** Refuses to accept what the user has changed and not saved: the server knows the text only as it was before. */
  async decide(decision: Decision, targets: DecisionTarget[], message?: string): Promise<void> {
    const unsaved = decision === 'accept' ? targets.map(({ proposalId }) => this.proposal(proposalId)).find((one) => one !== undefined && isUnsaved(one)) : undefined;
    if (unsaved !== undefined) {
      throw new Error(`You have changed what is proposed for ${unsaved.path}, and not saved that. Save it in the diff to accept it as you wrote it, or revert it ("File: Revert File").`);
    }
    await this.session.decide(decision, targets, message);
  }

  /** Says something of a hunk to the model. Nothing is decided by it. */
  async comment(proposal: Proposal, hunk: Hunk, text: string): Promise<void> {
    await this.session.comment(proposal.proposalId, hunk.hunkId, text);
  }

  /** The text beside the document, computed here from that and the hunks. */
  async computeBeside(proposal: Proposal): Promise<string> {
    const none = proposal.change === (proposal.landed === true ? 'delete' : 'create');
    if (none) return besideOf('', proposal) ?? '';
    const document = openDocument(proposal.uri) ?? (await vscode.workspace.openTextDocument(vscode.Uri.parse(proposal.uri)));
    const text = besideOf(document.getText(), proposal);
    if (text === undefined) throw new Error(`The hunks for ${proposal.path} do not fit its text now. They are being placed anew; try again.`);
    return text;
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }
}

function isUnsaved({ proposalId }: Proposal): boolean {
  return vscode.workspace.textDocuments.some((document) => document.isDirty && parseReview(document.uri)?.proposalId === proposalId);
}

function target(proposal: Proposal): DecisionTarget {
  return { proposalId: proposal.proposalId, revision: proposal.revision };
}
