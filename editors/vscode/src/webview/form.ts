// A form of the model's questions, filled in by keyboard alone: Tab goes from question to question, the arrows choose
// within one, Space ticks, Enter sends.

import type { FormAnswer, FormQuestion, PermissionRequest } from '../generated/protocol';
import { visible } from '../text';
import { type Child, button, h } from './dom';
import type { Post } from './entries';
import type { Kept } from './kept';

/** The form of a question that is open; the time until which it waits, if it does not wait for good. */
export function formOf(request: PermissionRequest, until: number | undefined, post: Post, kept: Kept): HTMLElement {
  const before = kept.form(request.permissionId);
  const questions = (request.form?.questions ?? []).map((question, number) => new Asked(question, `${request.permissionId}-${number}`, before?.[number]));
  const send = request.options.find(({ kind }) => kind === 'allow_once');
  const dismiss = request.options.find(({ kind }) => kind === 'reject_once');
  const answer = (optionId: string, answers?: FormAnswer[]): void =>
    post({ type: 'answer', permissionId: request.permissionId, optionId, ...(answers === undefined ? {} : { answers }) });
  const form = h('form', { class: 'form' },
    ...questions.map(({ element }) => element),
    until !== undefined && h('div', { class: 'dim' }, `If you do not answer by ${new Date(until).toLocaleTimeString()}, what is recommended is assumed.`),
    h('div', { class: 'answers', role: 'group', 'aria-label': 'Your answers' },
      send !== undefined && h('button', { type: 'submit', class: 'primary', 'data-option': send.optionId }, 'Send'),
      dismiss !== undefined && button(visible(dismiss.name), () => answer(dismiss.optionId), { class: 'secondary', 'data-option': dismiss.optionId })));
  const keep = (): void => kept.keepForm(request.permissionId, questions.map((question) => question.answer()));
  form.addEventListener('input', keep);
  form.addEventListener('change', keep);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (send !== undefined) answer(send.optionId, questions.map((question) => question.answer()));
  });
  return form;
}

/** A question of a form on the screen. What is recommended is chosen, unless it was answered before. */
class Asked {
  readonly element: HTMLElement;
  private readonly options: HTMLInputElement[];
  private readonly other: HTMLInputElement;

  constructor(private readonly question: FormQuestion, name: string, before: FormAnswer | undefined) {
    const { header, options, multiple } = question;
    this.options = options.map(({ recommended, description }, place) => {
      const described = description === '' ? undefined : `${name}-${place}`;
      const input = h('input', { type: multiple ? 'checkbox' : 'radio', name, checked: before === undefined ? recommended : before.chosen?.includes(place), 'aria-describedby': described });
      // An option takes the place of the user's own words, unless both can be given.
      input.addEventListener('change', () => {
        if (!multiple && input.checked) this.other.value = '';
      });
      return input;
    });
    this.other = h('input', { type: 'text', class: 'reason', placeholder: multiple ? 'Something else' : 'Something else, instead', 'aria-label': `${header}: in your own words` });
    this.other.value = before?.other ?? '';
    this.other.addEventListener('input', () => this.wrote());
    this.element = h('fieldset', {},
      h('legend', {}, h('span', { class: 'badge' }, visible(header)), visible(question.question)),
      ...options.map((option, place) => this.option(option, place, name)),
      this.other);
  }

  /** The answer as it is filled in. */
  answer(): FormAnswer {
    const chosen = this.options.flatMap((input, place) => (input.checked ? [place] : []));
    const other = this.other.value.trim();
    return other === '' ? { chosen } : { chosen, other };
  }

  private option({ label, description, recommended }: FormQuestion['options'][number], place: number, name: string): Child {
    const input = this.options[place];
    return h('label', {}, input,
      h('span', {},
        visible(label), recommended && h('span', { class: 'dim' }, ' (recommended)'),
        description !== '' && h('span', { class: 'dim description', id: `${name}-${place}` }, visible(description))));
  }

  private wrote(): void {
    if (this.question.multiple || this.other.value.trim() === '') return;
    for (const input of this.options) input.checked = false;
  }
}

/** Answers in words, such as `Storage: SQLite; Tests: Unit, “and a bench”`. */
export function filledInWords(request: PermissionRequest, answers: readonly FormAnswer[]): string {
  return (request.form?.questions ?? []).map((question, number) => {
    const { chosen = [], other } = answers[number] ?? {};
    const parts = chosen.map((place) => question.options[place]?.label ?? '');
    if (other !== undefined && other.trim() !== '') parts.push(`“${other.trim()}”`);
    return `${question.header}: ${parts.length === 0 ? 'left open' : parts.join(', ')}`;
  }).join('; ');
}
