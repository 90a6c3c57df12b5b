// How each entry of the transcript looks. An entry's element is made once and filled anew when the entry changes.

import type { Direction, Location, PermissionRequest, PlanEntry, PromptBlock, Usage } from '../generated/protocol';
import type { Intent } from '../chat/messages';
import { visible } from '../text';
import { type Child, button, h, refill } from './dom';
import { type DiffEntry, type Entry, type PromptEntry, type ToolEntry, textOf } from '../chat/fold';
import { LiveDiff } from './diff';
import { Markdown } from './markdown';

/** Longer results are shown to here; the whole opens in an editor. */
const RESULT = 4_000;

export type Post = (intent: Intent) => void;

/** An entry on the screen. */
export class EntryView {
  readonly element: HTMLElement;
  private version = -1;
  private readonly markdown: Markdown | undefined;
  private readonly thinking: Markdown | undefined;
  private diff: LiveDiff | undefined;

  constructor(private readonly entry: Entry, private readonly post: Post) {
    this.element = h('article', { class: `entry ${entry.kind}`, 'data-key': entry.key });
    const acts = {
      copy: (text: string): void => post({ type: 'copy', text }),
      insert: (text: string): void => post({ type: 'insert', text }),
      openLink: (href: string): void => post({ type: 'openLink', href }),
    };
    if (entry.kind === 'answer') {
      this.markdown = new Markdown(acts);
      this.thinking = new Markdown(acts);
    } else if (entry.kind === 'command') {
      this.markdown = new Markdown(acts);
    }
  }

  /** Shows the entry as it is now. */
  draw(): void {
    if (this.version === this.entry.version) return;
    this.version = this.entry.version;
    const { entry, element } = this;
    switch (entry.kind) {
      case 'prompt':
        this.drawPrompt(entry);
        break;
      case 'diff':
        this.drawDiff(entry);
        break;
      case 'files':
        this.drawFiles(entry);
        break;
      case 'answer':
        this.drawAnswer(entry);
        break;
      case 'tool':
        this.drawTool(entry);
        break;
      case 'plan':
        element.setAttribute('aria-label', 'The plan');
        element.replaceChildren(h('ol', {}, ...entry.steps.map(step)));
        break;
      case 'question':
        this.drawQuestion(entry.request, entry.outcome && outcomeInWords(entry));
        break;
      case 'note':
        element.classList.add(entry.tone);
        element.replaceChildren(visible(entry.text));
        break;
      case 'command':
        element.classList.toggle('error', entry.isError);
        this.markdown?.show(entry.message);
        element.replaceChildren(h('div', { class: 'dim' }, visible(entry.command)), ...(this.markdown ? [this.markdown.element] : []));
        break;
      case 'end':
        this.drawEnd(entry);
        break;
    }
  }

  private drawPrompt(entry: PromptEntry): void {
    const words = { prompt: 'You said', steer: 'You said meanwhile', continue: 'You let it go on' };
    this.element.setAttribute('aria-label', words[entry.said]);
    refill(this.element,
      entry.said === 'continue'
        ? h('div', { class: 'dim' }, words.continue)
        : h('div', { class: 'bubble' }, visible(textOf(entry.blocks)), ...this.mentions(entry.blocks)),
      this.turnTools(entry));
  }

  /** What the turn of a prompt did to files can be taken back here, and put again. */
  private turnTools({ turnId, files }: PromptEntry): Child {
    if (turnId === undefined) return undefined;
    const changes = Object.values(files).filter((one) => one !== undefined);
    const undone = changes.filter((one) => one.undone).length;
    const applied = changes.length - undone;
    if (changes.length === 0) return undefined;
    const count = (number: number): string => (number === 1 ? '1 file' : `${number} files`);
    const act = (label: string, direction: Direction, andLater: boolean, title: string): Child =>
      button(label, () => this.post({ type: 'restore', direction, turnId, andLater }), { class: 'link', title });
    return h('div', { class: 'turn-tools' },
      h('span', { class: 'dim' }, applied > 0 ? `changed ${count(applied)}${undone > 0 ? `, ${undone} taken back` : ''}` : `${count(undone)} taken back`),
      applied > 0 && act('Undo', 'undo', false, 'Take back what this turn did to files'),
      applied > 0 && act('Undo to here', 'undo', true, 'Take back what this turn and all later ones did to files'),
      undone > 0 && act('Redo', 'redo', false, 'Put again what was taken back of this turn'),
    );
  }

  private drawDiff(entry: DiffEntry): void {
    if (!this.diff) {
      this.diff = new LiveDiff();
      this.element.setAttribute('aria-label', `An edit of ${entry.path} is being written`);
      this.element.replaceChildren(h('div', { class: 'dim' }, visible(entry.path)), this.diff.element);
    }
    this.diff.show(entry.text);
  }

  private drawFiles({ title, files, more }: Extract<Entry, { kind: 'files' }>): void {
    const problems = files.some(({ problem }) => problem !== undefined);
    const details = h('details', { open: problems },
      h('summary', {}, title),
      h('ul', {}, ...files.map((file) => h('li', { class: file.problem === undefined ? '' : 'problem-line' },
        button(visible(file.path), () => this.post({ type: 'openFile', uri: file.uri }), { class: 'link' }),
        h('span', { class: 'dim' }, file.words),
        file.problem !== undefined && h('span', { class: 'reason-words' }, visible(file.problem)))),
      more > 0 && h('li', { class: 'dim' }, `and ${more} more`)));
    this.element.replaceChildren(details);
  }

  private drawAnswer(entry: Extract<Entry, { kind: 'answer' }>): void {
    const { element, markdown, thinking } = this;
    if (!markdown || !thinking) return;
    element.setAttribute('aria-label', 'Azimuth says');
    element.classList.toggle('streaming', !entry.done);
    if (entry.thinking !== '' && !thinking.element.isConnected) {
      const details = h('details', { class: 'thinking' }, h('summary', {}, 'Thinking'), thinking.element);
      element.prepend(details);
    }
    if (entry.thinking !== '') thinking.show(entry.thinking);
    if (!markdown.element.isConnected) element.append(markdown.element);
    markdown.show(entry.text);
    if (entry.done && entry.text !== '' && !element.querySelector('.answer-tools')) {
      const copy = button('Copy', () => this.post({ type: 'copy', text: entry.text }), { 'aria-label': 'Copy this answer' });
      element.append(h('div', { class: 'answer-tools' }, copy));
    }
  }

  private drawTool(entry: ToolEntry): void {
    const marks = { running: ['◌', 'runs'], done: ['✓', 'done'], failed: ['✗', 'failed'] } as const;
    const [mark, words] = marks[entry.state];
    const wasOpen = this.element.querySelector('details')?.open ?? false;
    const time = entry.milliseconds !== undefined && entry.milliseconds >= 1000
      ? ` ${(entry.milliseconds / 1000).toFixed(1)} s` : '';
    const summary = h(
      'summary', {},
      h('span', { class: `mark ${entry.state}`, 'aria-hidden': true }, mark),
      h('span', { class: 'sr' }, `${words}: `),
      h('span', { class: 'title' }, visible(entry.title)),
      h('span', { class: 'dim' }, visible(entry.summary) + time),
    );
    const { result } = entry;
    const detail: Child[] = [
      h('div', { class: 'links' }, ...entry.locations.map((location) => this.location(location))),
      result !== '' && h('pre', { tabindex: 0, 'aria-label': 'Result' }, visible(result.slice(0, RESULT))),
      result.length > RESULT
        && button('Show all of it', () => this.post({ type: 'openText', title: entry.title, text: result })),
    ];
    const details = h('details', { open: wasOpen }, summary, ...detail);
    const { terminal } = entry;
    const open = terminal !== undefined
      && button('Terminal', () => this.post({ type: 'openTerminal', terminalId: terminal }), {
        class: 'link', 'aria-label': `Show the terminal of: ${entry.title}`,
      });
    refill(this.element, details, open);
  }

  private location(location: Location): HTMLElement {
    const name = decodeURIComponent(location.uri.split('/').pop() ?? location.uri);
    const line = location.line === undefined ? '' : `:${location.line + 1}`;
    const { uri } = location;
    return button(visible(name + line), () =>
      this.post(location.line === undefined ? { type: 'openFile', uri } : { type: 'openFile', uri, line: location.line }),
    { class: 'link' });
  }

  private mentions(blocks: readonly PromptBlock[]): Child[] {
    return blocks.flatMap((block) => {
      if (block.type === 'text') return [];
      if (block.type === 'image') return [h('span', { class: 'chip' }, 'an image')];
      const line = block.type === 'file' ? undefined : block.range.start.line;
      return [h('span', { class: 'chip' }, this.location(line === undefined ? { uri: block.uri } : { uri: block.uri, line }))];
    });
  }

  private drawQuestion(request: PermissionRequest, outcome: string | undefined): void {
    const { element } = this;
    element.setAttribute('aria-label', `Azimuth asks: ${request.title}`);
    element.classList.toggle('open', outcome === undefined);
    const answers = request.options.map((option) => {
      const answer = button(visible(option.name), () => {
        const said = reason.value.trim();
        const base = { type: 'answer', permissionId: request.permissionId, optionId: option.optionId } as const;
        this.post(said === '' ? base : { ...base, message: said });
      }, { class: option.kind.startsWith('allow') ? 'primary' : 'secondary', 'data-option': option.optionId });
      return answer;
    });
    const reason = h('input', { type: 'text', class: 'reason', placeholder: 'A word to Azimuth (optional)', 'aria-label': 'A word to Azimuth with your answer' });
    refill(element,
      h('div', { class: 'question-title' }, visible(request.title)),
      h('pre', { tabindex: 0, 'aria-label': 'What would be done' }, visible(request.detail)),
      h('div', { class: 'dim' }, visible(request.reason)),
      ...(outcome === undefined
        ? [h('div', { class: 'answers', role: 'group', 'aria-label': request.title }, ...answers), reason]
        : [h('div', { class: 'outcome' }, `→ ${visible(outcome)}`)]),
    );
  }

  private drawEnd(entry: Extract<Entry, { kind: 'end' }>): void {
    const reasons: Record<string, string> = {
      cancelled: 'Cancelled', interrupted: 'Interrupted', error: 'Failed', max_tokens: 'The answer reached its longest length',
      refusal: 'The model refused', max_turn_requests: 'Stopped to ask',
    };
    const reason = reasons[entry.reason];
    const goesOn = entry.reason === 'interrupted' || entry.reason === 'error';
    this.element.classList.toggle('error', entry.reason === 'error');
    this.element.replaceChildren(
      ...[
        reason !== undefined && h('span', { class: 'end-reason' }, reason),
        entry.error !== undefined && h('span', {}, visible(entry.error)),
        goesOn && button('Go on', () => this.post({ type: 'continue' })),
        h('span', { class: 'dim cost' }, costInWords(entry.usage, entry.cost)),
      ].filter((child) => child !== false),
    );
  }
}

/** A step of a plan. */
function step({ content, status }: PlanEntry): HTMLElement {
  const marks = { pending: ['○', 'to do'], in_progress: ['▸', 'now'], completed: ['✓', 'done'] } as const;
  const [mark, words] = marks[status];
  return h('li', { class: status }, h('span', { class: 'mark', 'aria-hidden': true }, mark), h('span', { class: 'sr' }, `${words}: `), visible(content));
}

function outcomeInWords(entry: Extract<Entry, { kind: 'question' }>): string {
  const { outcome, request } = entry;
  if (outcome?.type !== 'selected') return outcome?.type === 'cancelled' ? 'not answered' : 'settled otherwise';
  const option = request.options.find((candidate) => candidate.optionId === outcome.optionId);
  const words = option?.name ?? outcome.optionId;
  return outcome.message === undefined ? words : `${words}: ${outcome.message}`;
}

/** Such as `12,345 tokens (9,000 cached), $0.0123`. */
export function costInWords(usage: Usage, cost: number | undefined): string {
  const tokens = usage.input + usage.cacheRead + usage.cacheWrite + usage.output;
  const cached = usage.cacheRead > 0 ? ` (${usage.cacheRead.toLocaleString('en')} cached)` : '';
  return `${tokens.toLocaleString('en')} tokens${cached}, ${money(cost)}`;
}

export function money(cost: number | undefined): string {
  if (cost === undefined) return 'cost unknown';
  return `$${cost.toFixed(cost > 0 && cost < 0.1 ? 4 : 2)}`;
}
