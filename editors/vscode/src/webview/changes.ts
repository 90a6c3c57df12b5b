// The list of what waits, below the transcript: changes by file, proposed or landed, and waiting prompts.

import type { Decision, Hunk, Proposal } from '../generated/protocol';
import { visible } from '../text';
import { button, h, refill } from './dom';
import type { Post } from './entries';
import type { Chat } from '../chat/fold';
import { textOf } from '../chat/said';
import { conflictedHunks, pendingHunks } from '../session/fold';

/** The words for a group of proposals. */
interface Words {
  what: string;
  accept: string;
  reject: string;
  /** The sign of the button that rejects. */
  undo: string;
  /** True if something waits for the decision. */
  urgent: boolean;
  /** The one decision that there is for what does not fit the text any more. */
  conflicted: Decision;
}

const proposed: Words = { what: '', accept: 'Accept', reject: 'Reject', undo: '✕', urgent: true, conflicted: 'reject' };
const landed: Words = { what: 'by commands ', accept: 'Keep', reject: 'Take back', undo: '↶', urgent: false, conflicted: 'accept' };

export class Changes {
  // Each is refilled by itself, so that the keyboard does not go from a file that is accepted to a button that takes back.
  private readonly proposed = h('div');
  private readonly landed = h('div');
  private readonly queued = h('div');
  readonly element = h('section', { class: 'changes', 'aria-label': 'What waits for you' }, this.proposed, this.landed, this.queued);
  private shown = '';

  constructor(private readonly post: Post) {}

  draw(chat: Chat): void {
    const { open } = chat;
    const now = JSON.stringify([[...open.proposed, ...open.landed].map((it) => [it.proposalId, it.revision, pendingHunks(it).length, conflictedHunks(it).length]), [...chat.queue.keys()]]);
    if (now === this.shown) return;
    this.shown = now;
    refill(this.proposed, ...this.group(open.proposed, proposed));
    refill(this.landed, ...this.group(open.landed, landed));
    refill(this.queued,
      ...[...chat.queue].map(([queueId, blocks], place) =>
        h('div', { class: 'row queued' }, h('span', { class: 'dim' }, 'Waits: '), h('span', { class: 'name' }, visible(textOf(blocks))),
          place > 0 && button('↑', () => this.post({ type: 'first', queueId }), { class: 'icon', 'aria-label': 'Move this prompt to the top', title: 'Move to the top' }),
          button('✕', () => this.post({ type: 'unqueue', queueId, prompt: blocks }), { class: 'icon', 'aria-label': 'Take this prompt back into the input', title: 'Take it back into the input' }))),
    );
  }

  private group(group: readonly Proposal[], words: Words): HTMLElement[] {
    return group.length === 0 ? [] : [this.head(group, words), ...group.map((proposal) => this.file(proposal, words))];
  }

  private head(group: readonly Proposal[], { what, accept, reject, urgent, conflicted }: Words): HTMLElement {
    const hunks = group.reduce((sum, proposal) => sum + pendingHunks(proposal).length + conflictedHunks(proposal).length, 0);
    const count = `${hunks} ${hunks === 1 ? 'change' : 'changes'} ${what}in ${group.length} ${group.length === 1 ? 'file' : 'files'}`;
    const can = (decision: Decision): boolean => decision === conflicted || group.some((proposal) => pendingHunks(proposal).length > 0);
    return h('div', { class: 'row head' }, h('span', { class: 'name' }, count),
      h('span', { class: 'pair' },
        can('accept') && button(`${accept} all`, () => this.decide('accept', group), { class: urgent ? 'primary' : 'secondary' }),
        can('reject') && button(`${reject} all`, () => this.decide('reject', group), { class: 'secondary' })));
  }

  private file(proposal: Proposal, { accept, reject, undo, conflicted }: Words): HTMLElement {
    const { added, removed } = size(pendingHunks(proposal));
    const lost = conflictedHunks(proposal).length;
    const can = (decision: Decision): boolean => decision === conflicted || pendingHunks(proposal).length > 0;
    const name = visible(proposal.path);
    return h('div', { class: 'row' },
      button(name, () => this.post({ type: 'openDiff', proposalId: proposal.proposalId }), { class: 'link name', title: `Show the changes of ${name}` }),
      lost > 0 && h('span', { class: 'dim', title: 'They no longer fit the text' }, `${lost} in conflict`),
      h('span', { class: 'added' }, `+${added}`), h('span', { class: 'removed' }, `−${removed}`),
      can('accept') && button('✓', () => this.decide('accept', [proposal]), { class: 'icon', 'aria-label': `${accept} all changes of ${name}`, title: accept }),
      can('reject') && button(undo, () => this.decide('reject', [proposal]), { class: 'icon', 'aria-label': `${reject} all changes of ${name}`, title: reject }));
  }

  private decide(decision: Decision, proposals: readonly Proposal[]): void {
    const targets = proposals.map(({ proposalId, revision }) => ({ proposalId, revision }));
    this.post({ type: 'decide', decision, targets });
  }
}

/** How many lines hunks add and remove. */
function size(hunks: readonly Hunk[]): { added: number; removed: number } {
  const lines = (text: string): number => (text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0));
  return hunks.reduce(
    (sum, hunk) => ({ added: sum.added + lines(hunk.newText), removed: sum.removed + lines(hunk.oldText) }),
    { added: 0, removed: 0 },
  );
}
