// The review as a tree: the files with their hunks.

import path from 'node:path';
import * as vscode from 'vscode';
import type { Hunk, HunkState, Proposal } from '../generated/protocol';
import { conflictedHunks, landedBy, pendingHunks } from '../session/fold';
import { visible } from '../text';
import { size } from './layout';
import type { Review } from './review';

/** A file or a hunk of it. The commands of the tree get these. */
export interface Item {
  proposal: Proposal;
  hunk?: Hunk;
}

export class ReviewTree implements vscode.TreeDataProvider<Item>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  private readonly view: vscode.TreeView<Item>;
  private readonly subscriptions: vscode.Disposable[];

  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly review: Review) {
    this.view = vscode.window.createTreeView('azimuth.review', { treeDataProvider: this, showCollapseAll: true });
    this.subscriptions = [review.onChange(() => this.update()), this.view, this.changed];
    this.update();
  }

  getChildren(item?: Item): Item[] {
    if (item === undefined) return this.files().map((proposal) => ({ proposal }));
    return item.hunk === undefined ? item.proposal.hunks.map((hunk) => ({ proposal: item.proposal, hunk })) : [];
  }

  getTreeItem({ proposal, hunk }: Item): vscode.TreeItem {
    return hunk === undefined ? fileItem(proposal) : hunkItem(proposal, hunk);
  }

  getParent({ proposal, hunk }: Item): Item | undefined {
    return hunk === undefined ? undefined : { proposal };
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private update(): void {
    const count = this.review.pendingCount;
    this.view.badge = count === 0 ? undefined : { value: count, tooltip: count === 1 ? '1 hunk waits for your decision' : `${count} hunks wait for your decision` };
    for (const [key, value] of [['azimuth.hunks', this.review.open.length > 0], ['azimuth.proposed', count > 0], ['azimuth.landed', this.review.landed.length > 0]] as const) {
      void vscode.commands.executeCommand('setContext', key, value);
    }
    void vscode.commands.executeCommand('setContext', 'azimuth.proposals', this.review.all.length > 0);
    this.changed.fire(undefined);
  }

  /** The files that wait first, then those that commands changed, then those in conflict, then the decided ones. */
  private files(): Proposal[] {
    const { pending, landed, all } = this.review;
    const rest = all.filter((one) => pendingHunks(one).length === 0);
    const [lost, decided] = [rest.filter((one) => conflictedHunks(one).length > 0), rest.filter((one) => conflictedHunks(one).length === 0)];
    return [pending, landed, lost, decided].flatMap((group) => group.toSorted((a, b) => a.path.localeCompare(b.path)));
  }
}

function fileItem(proposal: Proposal): vscode.TreeItem {
  const [waiting, lost] = [pendingHunks(proposal).length, conflictedHunks(proposal).length];
  const item = new vscode.TreeItem(visible(path.posix.basename(proposal.path)), waiting + lost > 0 ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.Collapsed);
  const folder = path.posix.dirname(proposal.path);
  const change = { create: 'new', modify: '', delete: proposal.landed === true ? 'deleted' : 'delete' }[proposal.change];
  item.id = proposal.proposalId;
  const landed = proposal.landed === true ? `by ${landedBy(proposal)}` : '';
  item.description = [folder === '.' ? '' : visible(folder), change, landed, waiting > 0 ? `${waiting} pending` : '', lost > 0 ? `${lost} in conflict` : '', waiting + lost === 0 ? 'decided' : ''].filter((word) => word !== '').join(' · ');
  item.resourceUri = vscode.Uri.parse(proposal.uri);
  item.iconPath = vscode.ThemeIcon.File;
  item.tooltip = visible(proposal.path);
  item.contextValue = `file.${stateOf(proposal, waiting > 0 ? 'pending' : lost > 0 ? 'conflicted' : 'accepted')}`;
  item.command = { title: 'Review', command: 'azimuth.review.open', arguments: [{ proposal }] };
  return item;
}

function hunkItem(proposal: Proposal, hunk: Hunk): vscode.TreeItem {
  const first = (hunk.newText === '' ? hunk.oldText : hunk.newText).split('\n').find((line) => line.trim() !== '') ?? '';
  const item = new vscode.TreeItem(`${hunk.startLine + 1}: ${visible(first.trim().slice(0, 120))}`);
  const words = proposal.landed === true ? { ...states, ...landedStates } : states;
  const { icon, word } = (words as Partial<typeof words>)[hunk.state] ?? states.pending;
  item.id = `${proposal.proposalId}/${hunk.hunkId}`;
  item.description = [size(hunk), word].filter((part) => part !== '').join(' · ');
  item.iconPath = icon;
  item.tooltip = visible(`${hunk.oldText.replaceAll(/^/gm, '- ')}\n${hunk.newText.replaceAll(/^/gm, '+ ')}`.slice(0, 2_000));
  item.contextValue = `hunk.${stateOf(proposal, hunk.state)}`;
  item.command = { title: 'Review', command: 'azimuth.review.open', arguments: [{ proposal, hunk }] };
  return item;
}

/** Returns the state that the menus go by. */
function stateOf({ landed }: Proposal, state: HunkState): string {
  if (state === 'conflicted') return landed === true ? 'landedConflict' : 'conflict';
  if (state !== 'pending') return 'decided';
  return landed === true ? 'landed' : 'pending';
}

const icon = (name: string, color: string): vscode.ThemeIcon => new vscode.ThemeIcon(name, new vscode.ThemeColor(color));

const states: Record<HunkState, { icon: vscode.ThemeIcon; word: string }> = {
  pending: { icon: icon('circle-outline', 'charts.yellow'), word: '' },
  applying: { icon: new vscode.ThemeIcon('loading~spin'), word: 'is being applied' },
  accepted: { icon: icon('check', 'charts.green'), word: 'accepted' },
  unverified: { icon: icon('question', 'charts.yellow'), word: 'sent, not seen in the document' },
  rejected: { icon: icon('close', 'charts.red'), word: 'rejected' },
  conflicted: { icon: icon('warning', 'charts.orange'), word: 'no longer fits the text' },
  undone: { icon: icon('discard', 'charts.foreground'), word: 'undone' },
};

/** The states that differ if the change was made before it was decided. */
const landedStates: Partial<typeof states> = {
  accepted: { icon: icon('check', 'charts.green'), word: 'kept' },
  rejected: { icon: icon('discard', 'charts.foreground'), word: 'taken back' },
};
