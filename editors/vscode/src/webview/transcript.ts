// The list of entries. It follows the end while the user is there, and stays where they read otherwise. A long session
// shows its end at once and its beginning a little later.

import { eachFrame, h } from './dom';
import { EntryView, type Post } from './entries';
import type { Chat, Entry } from './fold';

/** How many entries are made at once when a session is opened, and how many more each time there is time. */
const FIRST = 60;
const MORE = 200;
/** So near to the end counts as there, in pixels. */
const NEAR = 40;

export class Transcript {
  readonly element = h('main', { class: 'transcript', role: 'log', 'aria-live': 'off', 'aria-label': 'Conversation', tabindex: 0 });
  private chat: Chat | undefined;
  private readonly views = new Map<Entry, EntryView>();
  /** The entries before this one are not made yet. */
  private from = 0;
  private generation = 0;
  private readonly soon = eachFrame(() => this.draw());

  constructor(private readonly post: Post) {}

  /** Shows a session from its end. */
  open(chat: Chat): void {
    this.generation += 1;
    this.chat = chat;
    this.views.clear();
    this.element.replaceChildren();
    chat.takeChanged();
    this.from = Math.max(0, chat.entries.length - FIRST);
    this.element.append(...chat.entries.slice(this.from).map((entry) => this.make(entry)));
    this.toEnd();
    this.earlier(this.generation);
  }

  /** Something changed. */
  changed(): void {
    this.soon();
  }

  toEnd(): void {
    this.element.scrollTop = this.element.scrollHeight;
  }

  /** The entry of a question. */
  find(key: string): HTMLElement | undefined {
    const entry = this.chat?.entries.findLast((candidate) => candidate.key === key);
    return entry && this.views.get(entry)?.element;
  }

  private draw(): void {
    const { chat, element } = this;
    if (!chat) return;
    const follows = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR;
    const changed = chat.takeChanged();
    for (const entry of changed) {
      const view = this.views.get(entry);
      const at = chat.entries.lastIndexOf(entry);
      if (at < 0) {
        view?.element.remove();
        this.views.delete(entry);
      } else if (view) view.draw();
      else if (at >= this.from) this.insert(entry, at);
    }
    if (follows) this.toEnd();
  }

  private insert(entry: Entry, at: number): void {
    const next = this.chat?.entries.slice(at + 1).find((later) => this.views.has(later));
    const before = next && this.views.get(next)?.element;
    const made = this.make(entry);
    if (before) before.before(made);
    else this.element.append(made);
  }

  private make(entry: Entry): HTMLElement {
    const view = new EntryView(entry, this.post);
    this.views.set(entry, view);
    view.draw();
    return view.element;
  }

  private earlier(generation: number): void {
    if (this.from === 0) return;
    setTimeout(() => {
      if (generation !== this.generation || !this.chat) return;
      const { element } = this;
      const from = Math.max(0, this.from - MORE);
      const bottom = element.scrollHeight - element.scrollTop;
      element.prepend(...this.chat.entries.slice(from, this.from).map((entry) => this.make(entry)));
      element.scrollTop = element.scrollHeight - bottom;
      this.from = from;
      this.earlier(generation);
    }, 30);
  }
}
