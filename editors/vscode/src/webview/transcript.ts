// The list of entries. It follows the end while the user is there, and stays where they read otherwise. It holds the end of
// a long session, and asks for what was before when the user comes near to it.

import { eachFrame, h } from './dom';
import type { Chat, Entry } from '../chat/fold';
import { EntryView, type Post } from './entries';
import type { Kept } from './kept';

/** So near to the end counts as there, in pixels. */
const NEAR = 40;
/** So long after a move to the end a place near it that is farther up is not the user's doing, in milliseconds. */
const MOVED_MS = 250;
/** So long an entry that was looked for is marked, in milliseconds. */
const FOUND_MS = 2_500;
/** So many characters of it are said to a screen reader. */
const SAID = 200;
/** So near to the beginning the earlier entries are asked for, in heights of the view. */
const AHEAD = 2;

export class Transcript {
  private readonly list = h('div');
  readonly element = h('main', { class: 'transcript', role: 'log', 'aria-live': 'off', 'aria-label': 'Conversation', tabindex: 0 }, this.list);
  private chat: Chat | undefined;
  private readonly views = new Map<Entry, EntryView>();
  private follows = true;
  private lastTop = 0;
  /** When it was last moved to the end. */
  private moved = 0;
  /** The number of the entry before which earlier ones were asked for; undefined while none are on their way. */
  private askedBefore: number | undefined;
  /** The entry to show once it is here. */
  private wanted: string | undefined;
  private readonly soon = eachFrame(() => this.draw());
  /** The end of what each call's command has printed, until it is drawn. */
  private readonly printed = new Map<string, string>();
  /** The height of the content at the last move to its end. */
  private endHeight = 0;
  /** Goes to the end again if entries that came into view are taller or shorter than was assumed. */
  private readonly settle = eachFrame(() => (this.follows && this.element.scrollHeight !== this.endHeight ? this.toEnd() : undefined));

  constructor(private readonly post: Post, private readonly kept: Kept, private readonly say: (found: string) => void) {
    this.element.addEventListener('scroll', () => this.scrolled(), { passive: true });
    // Whatever changes a height, such as a text that grows or another pane that opens, the end stays in view.
    const resized = new ResizeObserver(() => (this.follows ? this.toEnd() : undefined));
    resized.observe(this.element);
    resized.observe(this.list);
  }

  /** Shows a session from its end. */
  open(chat: Chat): void {
    this.chat = chat;
    this.views.clear();
    this.printed.clear();
    this.askedBefore = undefined;
    this.wanted = undefined;
    chat.takeChanged();
    this.list.replaceChildren(...chat.entries.map((entry) => this.make(entry)));
    this.toEnd();
  }

  /** Something changed. */
  changed(): void {
    this.soon();
  }

  /** So many entries came before the others. */
  earlierCame(count: number): void {
    const { chat, element, list } = this;
    this.askedBefore = undefined;
    const bottom = element.scrollHeight - element.scrollTop;
    list.prepend(...(chat?.entries.slice(0, count) ?? []).map((entry) => this.make(entry)));
    element.scrollTop = element.scrollHeight - bottom;
    if (this.wanted !== undefined) this.reveal(this.wanted);
  }

  toEnd(): void {
    this.follows = true;
    this.moved = performance.now();
    this.endHeight = this.element.scrollHeight;
    this.element.scrollTop = this.endHeight;
    this.settle();
  }

  /** The element of an entry. */
  find(key: string): HTMLElement | undefined {
    return this.viewOf(key)?.element;
  }

  /** Scrolls to an entry and marks it for a moment. If it is among the earlier ones, they are asked for first. */
  reveal(key: string): void {
    this.wanted = undefined;
    const element = this.find(key);
    if (element === undefined) {
      const before = this.chat?.earlier ?? 0;
      if (before === 0) return;
      this.wanted = key;
      this.askedBefore = before;
      this.post({ type: 'earlier', before, key });
      return;
    }
    this.follows = false;
    for (const other of this.list.querySelectorAll('.found')) other.classList.remove('found');
    element.classList.add('found');
    // So that a screen reader and the keyboard are there, too.
    element.tabIndex = -1;
    element.focus({ preventScroll: true });
    this.say(element.textContent.replaceAll(/\s+/g, ' ').trim().slice(0, SAID));
    setTimeout(() => element.classList.remove('found'), FOUND_MS);
    // Entries that come into view get another height than was assumed, so the first move may miss.
    let moves = 3;
    const move = (): void => {
      element.scrollIntoView({ block: 'start' });
      if ((moves -= 1) > 0) requestAnimationFrame(move);
    };
    move();
  }

  /** The end of what the command of a call has printed. The command itself may still have to be drawn, and need not print again. */
  print(toolCallId: string, text: string): void {
    this.printed.set(toolCallId, text);
    this.soon();
  }

  private viewOf(key: string): EntryView | undefined {
    const entry = this.chat?.entries.findLast((candidate) => candidate.key === key);
    return entry && this.views.get(entry);
  }

  private scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.element;
    const isUp = scrollTop < this.lastTop;
    this.lastTop = scrollTop;
    // Only to scroll up leaves the end: it also gets farther away when something grows. An entry that was shorter for a moment, while it
    // was drawn after a move to the end, takes the place up a little, and no size has changed by that.
    const { moved } = this;
    if (scrollHeight - scrollTop - clientHeight >= NEAR) this.follows &&= !isUp;
    else if (this.follows && isUp && performance.now() - moved < MOVED_MS) {
      this.toEnd();
      // Not again and again, should each move take it up.
      this.moved = moved;
    } else this.follows = true;
    const before = this.chat?.earlier ?? 0;
    if (before === 0 || before === this.askedBefore || scrollTop > AHEAD * clientHeight) return;
    this.askedBefore = before;
    this.post({ type: 'earlier', before });
  }

  private draw(): void {
    const { chat } = this;
    if (!chat) return;
    for (const entry of chat.takeChanged()) {
      const view = this.views.get(entry);
      const at = chat.entries.lastIndexOf(entry);
      if (at < 0) {
        view?.element.remove();
        this.views.delete(entry);
      } else if (view) view.draw();
      else this.insert(entry, at);
    }
    for (const [toolCallId, text] of this.printed) this.viewOf(`t${toolCallId}`)?.print(text);
    this.printed.clear();
  }

  private insert(entry: Entry, at: number): void {
    const next = this.chat?.entries.slice(at + 1).find((later) => this.views.has(later));
    const before = next && this.views.get(next)?.element;
    const made = this.make(entry);
    if (before) before.before(made);
    else this.list.append(made);
  }

  private make(entry: Entry): HTMLElement {
    const view = new EntryView(entry, this.post, this.kept);
    this.views.set(entry, view);
    view.draw();
    return view.element;
  }
}
