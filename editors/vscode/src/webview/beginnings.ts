// The content of an empty chat: things to try, conversations to go on with, and the workspace's setup.

import type { Beginning, SessionId, SessionInfo, SetupAbout, SetupFact } from '../generated/protocol';
import type { Chat } from '../chat/fold';
import type { Facts } from '../chat/messages';
import { visible } from '../text';
import { button, type Child, h, refill } from './dom';
import type { Post } from './entries';

/** So many conversations are offered; the title above lists all. */
const RECENT = 5;

export class Beginnings {
  readonly element = h('div', { class: 'beginnings' });
  private shown = '';

  constructor(private readonly post: Post) {}

  /** Shows them while nothing was said. */
  draw(chat: Chat, facts: Facts | undefined, current: SessionId | undefined): void {
    const { beginnings = [], setup = [] } = facts?.beginnings ?? {};
    const recent = (facts?.sessions ?? []).filter(({ sessionId, title }) => title !== '' && sessionId !== current).slice(0, RECENT);
    const now = chat.isEmpty && facts?.folder === true ? JSON.stringify([beginnings, recent, setup]) : '';
    if (now === this.shown) return;
    this.shown = now;
    refill(this.element, ...(now === '' ? [] : [
      ...group('Try', beginnings.map((beginning) => this.beginning(beginning))),
      ...group('Go on with', recent.map((session) => this.session(session))),
      ...group('Set up', setup.map((fact) => this.fact(fact))),
    ]));
  }

  private beginning({ title, prompt }: Beginning): HTMLElement {
    return h('li', {}, button(visible(title), () => this.post({ type: 'draft', prompt }), { class: 'link', title: 'Put it into the input' }));
  }

  private session({ sessionId, title, updatedAt }: SessionInfo): HTMLElement {
    return h('li', { class: 'recent' },
      button(visible(title), () => this.post({ type: 'openSession', sessionId }), { class: 'link name', 'data-key': sessionId }),
      h('span', { class: 'dim' }, dayOf(updatedAt)));
  }

  private fact({ about, state, text }: SetupFact): HTMLElement {
    const [mark, look, words] = ({ inOrder: ['✓', 'done', 'in order'], lacks: ['!', 'lacks', 'needs attention'], neutral: ['·', 'dim', 'note'] } as const)[state];
    return h('li', { class: 'fact' },
      h('span', { class: `mark ${look}`, 'aria-hidden': true }, mark), h('span', { class: 'sr' }, `${words}: `),
      h('span', {}, visible(text), ...(state === 'lacks' ? this.remedies(about) : [])));
  }

  /** The buttons that remedy what is missing. */
  private remedies(about: SetupAbout): Child[] {
    const remedy = (label: string, type: 'signIn' | 'setKey' | 'pickModel' | 'manageTrust' | 'showServers'): Child[] =>
      [' ', button(label, () => this.post({ type }), { class: 'link' })];
    switch (about) {
      case 'model': return [...remedy('Sign in', 'signIn'), ...remedy('Set a key', 'setKey'), ...remedy('Choose a model', 'pickModel')];
      case 'trust': return remedy('Manage trust', 'manageTrust');
      case 'servers': return remedy('Show them', 'showServers');
      case 'rules': return [];
    }
  }
}

function group(title: string, items: HTMLElement[]): HTMLElement[] {
  return items.length === 0 ? [] : [h('section', { 'aria-label': title }, h('h2', {}, title), h('ul', {}, ...items))];
}

/** Such as `today`, `yesterday` or `3 days ago`. */
function dayOf(time: number): string {
  const midnight = (at: number): number => new Date(at).setHours(0, 0, 0, 0);
  const days = Math.round((midnight(time) - midnight(Date.now())) / 86_400_000);
  return new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(Math.min(0, days), 'day');
}
