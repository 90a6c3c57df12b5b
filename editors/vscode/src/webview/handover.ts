// The card of a handover: what replaces the earlier part of the conversation, to be read, corrected and taken back.

import { type HandoverEntry, shorterInWords } from '../chat/handover';
import type { Intent } from '../chat/messages';
import { type Child, button, h, refill } from './dom';
import { type Acts, Markdown } from './markdown';

export class HandoverCard {
  private readonly notes: Markdown;
  private readonly facts: Markdown;
  /** The text while the user corrects it. */
  private input: HTMLTextAreaElement | undefined;
  /** The text that was sent. Until the server has taken it, it stays in the input. */
  private sent: string | undefined;

  constructor(private readonly element: HTMLElement, private readonly post: (intent: Intent) => void, acts: Acts) {
    this.notes = scrolled(new Markdown(acts), 'The notes');
    this.facts = scrolled(new Markdown(acts), 'The facts');
  }

  draw(entry: HandoverEntry): void {
    const { compaction, written, takenBack, replaced, corrected } = entry;
    const stands = !takenBack && !replaced;
    if (!stands || (corrected && written === this.sent)) this.input = this.sent = undefined;
    this.element.setAttribute('aria-label', 'A handover for the earlier part of the conversation');
    this.element.classList.toggle('taken-back', takenBack);
    this.notes.show(written);
    this.facts.show(compaction.facts);
    const title = takenBack ? 'The handover is taken back'
      : replaced ? 'A handover that a later one replaces' : 'A handover replaces the earlier part of the conversation';
    refill(this.element,
      h('div', { class: 'handover-title' }, title, ' ', stands && h('span', { class: 'dim' }, shorterInWords(compaction))),
      this.input === undefined ? this.read(written, corrected) : this.correct(entry, this.input),
      h('details', {}, h('summary', {}, 'The facts, from the log'), this.facts.element),
      stands && this.input === undefined && h('div', { class: 'answers' },
        button('Correct', () => this.open(entry), { class: 'secondary', title: 'Change what the model reads of these notes' }),
        button('Take back', () => this.post({ type: 'takeHandoverBack', compactionId: compaction.compactionId }),
          { class: 'secondary', title: 'Have the model see the earlier part of the conversation again' })));
  }

  private read(written: string, corrected: boolean): Child {
    if (written.trim() === '') return h('div', { class: 'dim' }, 'No model wrote notes for it.');
    return h('details', { open: true },
      h('summary', {}, corrected ? 'Your notes' : 'Notes by the model'),
      this.notes.element);
  }

  private open(entry: HandoverEntry): void {
    this.input = h('textarea', { class: 'handover-input', rows: 12, 'aria-label': 'The notes for the model' });
    this.input.value = entry.written;
    this.draw(entry);
    this.input.focus();
  }

  private correct(entry: HandoverEntry, input: HTMLTextAreaElement): Child {
    const { compactionId } = entry.compaction;
    const close = (): void => {
      this.input = this.sent = undefined;
      this.draw(entry);
    };
    const save = (): void => {
      this.sent = input.value;
      this.post({ type: 'correctHandover', compactionId, written: this.sent });
    };
    input.onkeydown = (event): void => {
      if (event.defaultPrevented) return;
      if (event.key === 'Escape') close();
      else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) save();
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    return h('div', {}, input, h('div', { class: 'answers' },
      button('Save', save, { class: 'primary', title: 'Ctrl+Enter' }), button('Cancel', close, { class: 'secondary', title: 'Escape' })));
  }
}

/** A text that may be long, and is scrolled by keys. */
function scrolled(markdown: Markdown, label: string): Markdown {
  markdown.element.tabIndex = 0;
  markdown.element.role = 'region';
  markdown.element.ariaLabel = label;
  return markdown;
}
