// A diff that grows. It shows its end while the user is there, as the transcript does.

import { visible } from '../text';
import { h } from './dom';

/** So many of its last lines are shown. The hunks that come of it are reviewed elsewhere. */
const LINES = 500;
/** So many characters of a line are shown. */
const WIDTH = 2_000;
/** So near to the end counts as there, in pixels. */
const NEAR = 20;

export class LiveDiff {
  readonly element = h('pre', { class: 'live', tabindex: 0, 'aria-label': 'The edit so far' });
  private readonly skipped = h('div', { class: 'line dim' });
  /** The text before the last line that is shown, which may grow. */
  private whole = 0;
  private lines = 0;

  /** Shows a text that is the last one with something added. */
  show(text: string): void {
    const { element } = this;
    const follows = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR;
    const rest = text.slice(this.whole).split('\n');
    if (this.lines > 0) element.lastElementChild?.remove();
    else this.lines = 1;
    element.append(...rest.slice(-LINES).map(lineOf));
    this.lines += rest.length - 1;
    this.whole = text.lastIndexOf('\n') + 1;
    this.shorten();
    // At first it is not on the page yet, and has no height.
    if (follows) requestAnimationFrame(() => (element.scrollTop = element.scrollHeight));
  }

  private shorten(): void {
    const { element, skipped } = this;
    skipped.remove();
    while (element.childElementCount > LINES) element.firstElementChild?.remove();
    const above = this.lines - element.childElementCount;
    if (above === 0) return;
    skipped.textContent = `… ${above} lines above`;
    element.prepend(skipped);
  }
}

function lineOf(line: string): HTMLElement {
  const kind = { '+': 'insert', '-': 'remove', '@': 'place' }[line.slice(0, 1)] ?? 'same';
  // An empty line has a height, too.
  return h('div', { class: `line ${kind}` }, shortened(line) || '\u00a0');
}

function shortened(line: string): string {
  return visible(line.length > WIDTH ? `${line.slice(0, WIDTH)}…` : line);
}
