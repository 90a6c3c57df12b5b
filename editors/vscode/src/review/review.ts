// The review of the proposals of the session and of changes in place: decisions, and which hunk the user means.

import * as vscode from 'vscode';
import type { Decision, DecisionTarget, Hunk, Proposal, ProposalId, SessionId } from '../generated/protocol';
import type { Change, Changes } from '../instruct/changes';
import type { Held } from '../server/held';
import { pendingHunks, pendingProposals } from '../session/fold';
import type { Session } from '../session/session';
import { diffedIn, isIn, parseReview } from './address';
import { besideOf, hunkAt, place, stands, takenBackInWords, type Placed, type Side } from './layout';

/** So long VS Code may take to read a file again that changed, in milliseconds. */
const READ_MS = 3_000;

/** A pending hunk, and where it was meant. */
export interface Meant extends Placed {
  proposal: Proposal;
  side: Side;
}

/** The kind of a proposal: proposed by the agent, or landed in the file already. */
export type Kind = 'proposed' | 'landed';

export class Review implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[];

  /** A proposal came, changed or was decided, or another session is shown. */
  readonly onChange = this.changed.event;

  constructor(private readonly session: Session, private readonly held: Held, private readonly changes: Changes) {
    this.subscriptions = [
      session.onSwitch(() => this.changed.fire()),
      session.onStep(({ before, after }) => {
        if (before.proposals !== after.proposals) this.changed.fire();
      }),
      changes.onProposals(() => this.changed.fire()),
      this.changed,
    ];
  }

  /** The agent's proposals that hold a pending hunk. */
  get pending(): Proposal[] {
    return pendingProposals(this.all).proposed;
  }

  /** The changes that commands or other programs have already made in files, as far as they are not decided. */
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

  /** Every proposal of the session and of changes in place, decided ones included. */
  get all(): Proposal[] {
    return [...(this.session.state?.proposals.values() ?? []), ...this.changes.proposals];
  }

  proposal(id: ProposalId): Proposal | undefined {
    return this.session.state?.proposals.get(id) ?? this.changeOf(id)?.progress.session.proposals.get(id);
  }

  /** The change in place that a proposal is of; undefined for one of the chat's session. */
  changeOf(id: ProposalId): Change | undefined {
    return this.changes.having(id);
  }

  /** The session that a proposal is of. */
  sessionOf(id: ProposalId): SessionId {
    return this.changeOf(id)?.sessionId ?? this.session.id ?? '';
  }

  /** The pending proposals that a document belongs to, and on which side of them it is. A file can have one of each kind. */
  of(uri: vscode.Uri): { proposal: Proposal; side: Side }[] {
    const address = parseReview(uri);
    if (address !== undefined) {
      return this.open.filter((one) => one.proposalId === address.proposalId).map((proposal) => ({ proposal, side: address.empty ? emptySide(proposal) : 'beside' }));
    }
    return this.open.filter((one) => vscode.Uri.parse(one.uri).toString() === uri.toString()).map((proposal) => ({ proposal, side: 'document' }));
  }

  /** The hunks of an editor's document, of this kind or of any, and the one at its cursor. */
  at(editor: vscode.TextEditor | undefined, kind?: Kind): { hunks: Placed[]; here: Meant | undefined; proposal: Proposal; side: Side } | undefined {
    if (editor === undefined) return undefined;
    const all = this.shown(editor.document.uri).filter(({ proposal }) => kind === undefined || kindOf(proposal) === kind).map((found) => {
      const hunks = place(found.proposal);
      const here = hunkAt(hunks, found.side, editor.selection.active.line);
      return { ...found, hunks, here: here && { ...here, ...found } };
    });
    return all.find(({ here }) => here !== undefined) ?? all[0];
  }

  /** Refuses where the document does not hold the hunk at its place: then it cannot be told which one the cursor is at. */
  checkPlace({ document }: vscode.TextEditor, meant: Meant): void {
    if (stands(document.getText(), meant.proposal, meant, meant.side)) return;
    throw new Error(meant.side === 'beside' && document.isDirty
      ? 'You have changed this side and not saved it, so Azimuth cannot tell which hunk the cursor is at. Save it, or revert it ("File: Revert File").'
      : `The hunks for ${meant.proposal.path} are being located again, because its text has changed. Try again.`);
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
      throw new Error(`You have changed what is proposed for ${unsaved.path}, but not saved it. Save it in the diff to accept your version, or revert it ("File: Revert File").`);
    }
    if (decision === 'reject' && !(await this.agreesToTakeBack(targets))) return;
    const ofChanges = this.changes.all.map((change) => ({ change, own: targets.filter(({ proposalId }) => this.changeOf(proposalId) === change) }));
    await this.session.decide(decision, targets.filter(({ proposalId }) => this.changeOf(proposalId) === undefined), message);
    for (const { change, own } of ofChanges) await this.changes.decide(change, decision, own, message);
  }

  /** Says something of a hunk to the model. Nothing is decided by it. */
  async comment(proposal: Proposal, hunk: Hunk, text: string): Promise<void> {
    await this.session.comment(this.sessionOf(proposal.proposalId), proposal.proposalId, hunk.hunkId, text);
  }

  /** The text beside the document, computed here from that and the hunks. */
  async computeBeside(proposal: Proposal): Promise<string> {
    const none = proposal.change === (proposal.landed === true ? 'delete' : 'create');
    if (none) return besideOf('', proposal) ?? '';
    const document = this.held.document(proposal.uri) ?? (await this.held.open(vscode.Uri.parse(proposal.uri)));
    // A hunk that was accepted just now is in the file before VS Code has read it again.
    await this.held.fault(document, Date.now() + READ_MS);
    const text = besideOf(document.getText(), proposal);
    if (text === undefined) throw new Error(`The hunks for ${proposal.path} do not fit its current text. They are being located again; try again.`);
    return text;
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  /** Asks before what commands did to several files at once is taken back: what of it is not open has no other way back. */
  private async agreesToTakeBack(targets: readonly DecisionTarget[]): Promise<boolean> {
    const files = targets.filter(({ hunkIds }) => hunkIds === undefined).flatMap(({ proposalId }) => this.landed.find((one) => one.proposalId === proposalId) ?? []);
    if (files.length < 2) return true;
    const takeBack = 'Take Back';
    return (await vscode.window.showWarningMessage('Take back what commands changed?', { modal: true, detail: takenBackInWords(files) }, takeBack)) === takeBack;
  }

  /** As `of`. Of a document in the active diff only the proposal that the diff shows, whichever side has the keyboard. */
  private shown(uri: vscode.Uri): { proposal: Proposal; side: Side }[] {
    const { activeTab } = vscode.window.tabGroups.activeTabGroup;
    const address = isIn(activeTab, uri) ? diffedIn(activeTab) : undefined;
    return this.of(uri).filter(({ proposal }) => address === undefined || proposal.proposalId === address.proposalId);
  }
}

export function kindOf({ landed }: Proposal): Kind {
  return landed === true ? 'landed' : 'proposed';
}

/** The side that has no file: the document before a file is made or after a command deleted it, else the text beside it. */
function emptySide({ change, landed }: Proposal): Side {
  return (change === 'create') === (landed === true) ? 'beside' : 'document';
}

function isUnsaved({ proposalId }: Proposal): boolean {
  return vscode.workspace.textDocuments.some((document) => document.isDirty && parseReview(document.uri)?.proposalId === proposalId);
}

function target(proposal: Proposal): DecisionTarget {
  return { proposalId: proposal.proposalId, revision: proposal.revision };
}
