// A command that runs, below its line: what it prints, whether it waits for input, who has its terminal, and its end.

import type { TerminalInfo, Waiting } from '../generated/protocol';
import type { Ran, Typed } from '../chat/ran';
import { ageInWords, waitingInWords } from '../terminal/state';
import { visible } from '../text';
import { type Child, button, h, refill } from './dom';
import type { Post } from './entries';

/** So near to the end counts as there, in pixels. */
const NEAR = 20;

export class LiveCommand {
  private readonly tail = h('pre', { class: 'tail', tabindex: 0, 'aria-label': 'What it printed last', hidden: true });
  private readonly words = h('div', { class: 'live-words' });
  private readonly input = h('input', { type: 'text', class: 'reply-text', 'aria-label': 'Type into the command', placeholder: 'Your answer', autocomplete: 'off', spellcheck: 'false' });
  private readonly form = h('form', { class: 'reply', hidden: true }, this.input, h('button', { type: 'submit', class: 'primary' }, 'Send'));
  private readonly typed = h('div', { class: 'typed dim' });
  private readonly buttons = h('div', { class: 'live-buttons' });
  readonly element = h('div', { class: 'live-command' }, this.tail, this.typed, this.words, this.form, this.buttons);
  private live: TerminalInfo | undefined;

  constructor(private readonly post: Post) {
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.reply();
    });
  }

  /** True if there is anything to show. */
  static has({ live, typed }: Ran): boolean {
    return live !== undefined || typed.length > 0;
  }

  show(ran: Ran): void {
    const { live } = ran;
    this.live = live;
    this.element.hidden = !LiveCommand.has(ran);
    const waiting = live?.alive === true ? live.waiting : undefined;
    this.element.classList.toggle('waits', waiting !== undefined && !(live?.kind === 'job' && waiting.certainty === 'probable'));
    if (live === undefined || live.kind === 'job') this.tail.hidden = true;
    const had = this.form.contains(document.activeElement);
    this.form.hidden = waiting === undefined || waiting.hidden;
    refill(this.typed, ...ran.typed.map(typedInWords));
    refill(this.words, ...(live === undefined ? [] : wordsOf(live, waiting)));
    refill(this.buttons, ...(live === undefined ? [] : this.buttonsOf(live, waiting)));
    // A hidden form cannot have the keyboard; the next question of the same command may want it.
    if (had && this.form.hidden) this.buttons.querySelector('button')?.focus({ preventScroll: true });
  }

  /** The end of what it has printed. */
  print(text: string): void {
    const { tail } = this;
    if (this.live === undefined || this.live.kind === 'job') return;
    const follows = tail.hidden || tail.scrollHeight - tail.scrollTop - tail.clientHeight < NEAR;
    tail.hidden = text === '';
    tail.textContent = visible(text);
    if (follows) tail.scrollTop = tail.scrollHeight;
  }

  private buttonsOf(live: TerminalInfo, waiting: Waiting | undefined): Child[] {
    const { terminalId, taken, alive, kind } = live;
    const ports = alive ? (live.ready?.ports ?? []) : [];
    const name = visible(live.running?.command ?? live.title);
    return [
      button(waiting === undefined ? 'Terminal' : 'Answer in the terminal', () => this.post({ type: 'openTerminal', terminalId }), {
        class: waiting?.hidden === true && !taken ? 'primary' : 'secondary', 'aria-label': `${waiting === undefined ? 'Show' : 'Answer in'} the terminal of: ${name}`,
      }),
      ...ports.map((port) => {
        const href = `http://localhost:${port}`;
        return button(`localhost:${port}`, () => this.post({ type: 'openLink', href }), { class: 'link', title: `Open ${href} in the browser` });
      }),
      alive && button(taken ? 'Hand back' : 'Take over', () => this.post({ type: 'takeTerminal', terminalId, taken: !taken }), {
        class: taken ? 'primary' : 'secondary', title: taken ? 'Let Azimuth type into it again' : 'Only you can type into it then, and its time limit pauses', 'aria-label': `${taken ? 'Hand back' : 'Take over'}: ${name}`,
      }),
      alive && (kind === 'job' || live.running !== undefined)
        && button('Kill', () => this.post({ type: 'killTerminal', terminalId }), { class: 'secondary', title: 'End it, with all that it has started', 'aria-label': `Kill: ${name}` }),
    ];
  }

  private reply(): void {
    const { live } = this;
    if (live?.waiting === undefined || live.waiting.hidden) return;
    this.post({ type: 'typeLine', terminalId: live.terminalId, text: this.input.value });
    this.input.value = '';
  }
}

function wordsOf(live: TerminalInfo, waiting: Waiting | undefined): Child[] {
  const prompt = waiting?.prompt.trim() ?? '';
  return [
    waiting !== undefined && h('span', { class: `waiting ${waiting.certainty}` }, waitingInWords(waiting)),
    prompt !== '' && h('code', {}, visible(prompt)),
    waiting?.hidden === true && h('span', {}, 'It hides what you type, as for a password. Type it in the terminal: it is neither kept nor sent to the model.'),
    live.kind === 'outside' && live.alive && h('span', { class: 'outside-words' }, 'outside the sandbox'),
    ...(live.kind === 'job' ? jobWords(live) : []),
    live.taken && live.alive && h('span', { class: 'taken' }, 'You have the terminal: only you can type into it, and its time limit pauses.'),
  ];
}

function jobWords(job: TerminalInfo): Child[] {
  const age = ageInWords(job, Date.now());
  const line = job.ready?.line?.trim() ?? '';
  if (!job.alive) return [h('span', { class: job.exitCode === 0 ? '' : 'ended' }, job.exitCode === undefined ? `was killed after ${age}` : `ended with exit code ${job.exitCode} after ${age}`)];
  const isUp = line !== '' || (job.ready?.ports.length ?? 0) > 0;
  return [h('span', { class: 'job-runs' }, isUp ? 'is up' : 'runs in the background'), line !== '' && h('code', {}, visible(line))];
}

function typedInWords({ by, text, hidden }: Typed): HTMLElement {
  const who = by === 'user' ? 'You typed' : 'Azimuth typed';
  return h('div', {}, hidden ? `${who} something that was not shown, and is not kept` : `${who}: `, !hidden && h('code', {}, visible(text === '' ? '⏎' : text)));
}
