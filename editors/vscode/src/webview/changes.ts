// What waits below the transcript: proposed changes by file, and prompts that are queued.

import type { Decision, Proposal } from '../generated/protocol';
import { visible } from '../text';
import { button, h, refill } from './dom';
import type { Post } from './entries';
import { type Chat, size, textOf } from '../chat/fold';
import { pendingHunks } from '../session/fold';

export class Changes {
  readonly element = h('section', { class: 'changes', 'aria-label': 'What waits for you' });
  private shown = '';

  constructor(private readonly post: Post) {}

  draw(chat: Chat): void {
    const { pending } = chat;
    const now = JSON.stringify([pending.map((it) => [it.proposalId, it.revision, pendingHunks(it).length]), [...chat.queue.keys()]]);
    if (now === this.shown) return;
    this.shown = now;
    refill(this.element,
      ...(pending.length === 0 ? [] : [this.head(pending), ...pending.map((proposal) => this.file(proposal))]),
      ...[...chat.queue].map(([queueId, blocks]) =>
        h('div', { class: 'row queued' }, h('span', { class: 'dim' }, 'Waits: '), h('span', { class: 'name' }, visible(textOf(blocks))),
          button('✕', () => this.post({ type: 'unqueue', queueId }), { class: 'icon', 'aria-label': 'Take this prompt back' }))),
    );
  }

  private head(pending: readonly Proposal[]): HTMLElement {
    const hunks = pending.reduce((sum, proposal) => sum + pendingHunks(proposal).length, 0);
    const words = `${hunks} ${hunks === 1 ? 'change' : 'changes'} in ${pending.length} ${pending.length === 1 ? 'file' : 'files'}`;
    return h('div', { class: 'row head' }, h('span', { class: 'name' }, words),
      h('span', { class: 'pair' },
        button('Accept all', () => this.decide('accept', pending), { class: 'primary' }),
        button('Reject all', () => this.decide('reject', pending), { class: 'secondary' })));
  }

  private file(proposal: Proposal): HTMLElement {
    const { added, removed } = size(pendingHunks(proposal));
    const name = visible(proposal.path);
    return h('div', { class: 'row' },
      button(name, () => this.post({ type: 'openDiff', proposalId: proposal.proposalId }), { class: 'link name', title: `Show the changes of ${name}` }),
      h('span', { class: 'added' }, `+${added}`), h('span', { class: 'removed' }, `−${removed}`),
      button('✓', () => this.decide('accept', [proposal]), { class: 'icon', 'aria-label': `Accept all changes of ${name}`, title: 'Accept' }),
      button('✕', () => this.decide('reject', [proposal]), { class: 'icon', 'aria-label': `Reject all changes of ${name}`, title: 'Reject' }));
  }

  private decide(decision: Decision, proposals: readonly Proposal[]): void {
    const targets = proposals.map(({ proposalId, revision }) => ({ proposalId, revision }));
    this.post({ type: 'decide', decision, targets });
  }
}
