// The plan of a task: its steps, which can be ticked where they stand, and changed as a list.

import type { PlanEntry } from '../generated/protocol';
import { visible } from '../text';
import { type Child, button, h, refill } from './dom';
import type { Post } from './entries';

const MARKS = { pending: ['○', 'to do'], in_progress: ['▸', 'now'], completed: ['✓', 'done'] } as const;

/** A step as the user has changed it, and its text before; undefined for one that is new. */
type Drafted = PlanEntry & { was: string | undefined };

/** A plan on the screen. While it is changed here, what the model does to it meanwhile waits. */
export class PlanView {
  private steps: PlanEntry[] = [];
  private isCurrent = false;
  /** The steps as the user has changed them so far; undefined if they are not at it. */
  private draft: Drafted[] | undefined;
  /** The texts of the steps when the user began. */
  private before = new Set<string>();

  constructor(private readonly element: HTMLElement, private readonly post: Post) {
    element.setAttribute('aria-label', 'The plan');
  }

  /** Shows the steps. Only those of the session's current plan can be changed. */
  show(steps: PlanEntry[], isCurrent: boolean): void {
    this.steps = steps;
    this.isCurrent = isCurrent;
    if (!isCurrent) this.draft = undefined;
    if (this.draft === undefined) this.draw();
  }

  private draw(): void {
    const { draft } = this;
    if (draft !== undefined) return refill(this.element, ...this.editor(draft));
    refill(this.element,
      h('ol', {}, ...this.steps.map((step, place) => this.step(step, place))),
      this.isCurrent && button('Edit the plan', () => this.edit(), { class: 'link edit-plan' }));
  }

  private step({ content, status }: PlanEntry, place: number): HTMLElement {
    const [mark, words] = MARKS[status];
    const done = status === 'completed';
    return h('li', { class: status },
      this.isCurrent
        ? button(mark, () => this.tick(place), { class: 'icon mark', 'aria-label': `${words}: ${visible(content)}; mark as ${done ? 'to do' : 'done'}`, title: done ? 'Mark as to do' : 'Mark as done', 'data-key': `tick-${place}` })
        : h('span', { class: 'mark', 'aria-hidden': true }, mark),
      h('span', { class: 'sr' }, `${words}: `), visible(content));
  }

  private tick(place: number): void {
    // At once, since another tick may follow before the server has answered.
    this.steps = this.steps.map((step, at) => (at === place ? { ...step, status: step.status === 'completed' ? 'pending' : 'completed' } : step));
    this.draw();
    this.send(this.steps);
  }

  private edit(): void {
    this.draft = this.steps.map((step) => ({ ...step, was: step.content }));
    this.before = new Set(this.steps.map(({ content }) => content));
    this.draw();
    this.element.querySelector('input')?.focus();
  }

  private editor(draft: Drafted[]): Child[] {
    const change = (act: () => void): void => {
      act();
      this.draw();
    };
    const move = (place: number, by: number): void => change(() => draft.splice(place + by, 0, ...draft.splice(place, 1)));
    const rows = draft.map((step, place) => {
      const name = visible(step.content);
      const text = h('input', { type: 'text', class: 'reason', maxlength: 200, 'aria-label': `Step ${place + 1}`, 'data-key': `step-${place}` });
      text.value = step.content;
      text.addEventListener('input', () => (step.content = text.value));
      text.addEventListener('keydown', (event) => this.key(event));
      return h('li', {}, text,
        place > 0 && button('↑', () => move(place, -1), { class: 'icon', 'aria-label': `Move up: ${name}`, title: 'Move up' }),
        place < draft.length - 1 && button('↓', () => move(place, 1), { class: 'icon', 'aria-label': `Move down: ${name}`, title: 'Move down' }),
        button('✕', () => change(() => draft.splice(place, 1)), { class: 'icon', 'aria-label': `Remove: ${name}`, title: 'Remove' }));
    });
    const add = (): void => {
      change(() => draft.push({ content: '', status: 'pending', was: undefined }));
      [...this.element.querySelectorAll('input')].at(-1)?.focus();
    };
    return [
      h('ol', {}, ...rows),
      h('div', { class: 'answers' },
        button('Save', () => this.save(), { class: 'primary' }),
        button('Add a step', add, { class: 'secondary' }),
        button('Cancel', () => this.leave(), { class: 'secondary' })),
    ];
  }

  private key(event: KeyboardEvent): void {
    if (event.isComposing || event.defaultPrevented || (event.key !== 'Enter' && event.key !== 'Escape')) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === 'Enter') this.save();
    else this.leave();
  }

  private save(): void {
    const { draft } = this;
    if (draft !== undefined) this.send(this.merged(draft));
    this.leave();
  }

  /** The draft with the progress that the model has made meanwhile, and the steps that it has added. */
  private merged(draft: readonly Drafted[]): PlanEntry[] {
    const now = new Map(this.steps.map(({ content, status }) => [content, status]));
    const changed = draft.map(({ content, status, was }) => ({ content: content.trim(), status: now.get(was ?? '') ?? status }));
    const added = this.steps.filter(({ content }) => !this.before.has(content));
    return [...changed.filter(({ content }) => content !== ''), ...added];
  }

  private leave(): void {
    this.draft = undefined;
    this.draw();
    this.element.querySelector<HTMLElement>('.edit-plan')?.focus();
  }

  private send(steps: PlanEntry[]): void {
    this.post({ type: 'plan', steps });
  }
}
