// How each entry of the transcript looks. An entry's element is made once and filled anew when the entry changes.

import { type Direction, type Location, type PermissionOutcome, type PermissionRequest, type PromptBlock, saidByError } from '../generated/protocol';
import { linesInWords } from '../chat/mentions';
import type { Intent } from '../chat/messages';
import { type OwnEntry, type Ran, type ToolEntry, workInWords } from '../chat/ran';
import { dollars, visible } from '../text';
import { type Child, button, h, refill } from './dom';
import type { DiffEntry, Entry } from '../chat/fold';
import { type PromptEntry, textOf } from '../chat/said';
import { type EndEntry, paidInWords, tokensOf } from '../chat/used';
import { LiveDiff } from './diff';
import { filledInWords, formOf } from './form';
import { HandoverCard } from './handover';
import type { Kept } from './kept';
import { LiveCommand } from './live';
import { Markdown } from './markdown';
import { PlanView } from './plan';

/** Longer results are shown to here; the whole opens in an editor. */
const RESULT = 4_000;
/** So many of the last lines of a command of the user's own are shown. */
const OWN_LINES = 20;

export type Post = (intent: Intent) => void;

type QuestionEntry = Extract<Entry, { kind: 'question' }>;

/** An entry on the screen. */
export class EntryView {
  readonly element: HTMLElement;
  private version = -1;
  private readonly markdown: Markdown | undefined;
  private readonly thinking: Markdown | undefined;
  private readonly handover: HandoverCard | undefined;
  private diff: LiveDiff | undefined;
  /** The line of a call or of a command. */
  private line: HTMLElement | undefined;
  private command: LiveCommand | undefined;
  private plan: PlanView | undefined;

  constructor(private readonly entry: Entry, private readonly post: Post, private readonly kept: Kept) {
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
    } else if (entry.kind === 'handover') {
      this.handover = new HandoverCard(this.element, post, acts);
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
      case 'own':
        this.drawOwn(entry);
        break;
      case 'plan':
        this.plan ??= new PlanView(element, this.post);
        this.plan.show(entry.steps, entry.current);
        break;
      case 'question':
        this.drawQuestion(entry);
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
      case 'handover':
        this.handover?.draw(entry);
        break;
      case 'end':
        this.drawEnd(entry);
        break;
    }
  }

  /** Shows the end of what its command has printed so far. */
  print(text: string): void {
    this.command?.print(text);
  }

  private drawPrompt(entry: PromptEntry): void {
    const words = { prompt: 'You said', steer: 'You said to the running turn', continue: 'You continued the turn' };
    this.element.setAttribute('aria-label', words[entry.said]);
    refill(this.element,
      entry.said === 'continue'
        ? h('div', { class: 'dim' }, words.continue)
        : h('div', { class: 'bubble' }, visible(textOf(entry.blocks)), ...this.mentions(entry.blocks)),
      this.turnTools(entry));
  }

  /** The turn of a prompt can be undone and redone here. */
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
      h('span', { class: 'dim' }, applied > 0 ? `changed ${count(applied)}${undone > 0 ? `, ${undone} undone` : ''}` : `${count(undone)} undone`),
      applied > 0 && act('Undo', 'undo', false, 'Undo what this turn did to files'),
      applied > 0 && act('Undo to here', 'undo', true, 'Undo what this turn and all later ones did to files'),
      undone > 0 && act('Redo', 'redo', false, 'Redo what was undone of this turn'),
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
    const { result, child } = entry;
    const running = entry.state === 'running';
    const summary = running && child !== undefined ? workInWords(child, running) : entry.summary;
    this.drawRan(entry,
      h('summary', {}, ...markOf(entry), h('span', { class: 'title' }, visible(entry.title)), h('span', { class: 'dim' }, visible(summary) + timeOf(entry))),
      false,
      h('div', { class: 'links' }, ...entry.locations.map((location) => this.location(location))),
      result !== '' && h('pre', { tabindex: 0, 'aria-label': 'Result' }, visible(result.slice(0, RESULT))),
      result.length > RESULT && this.showAll(entry.title, result),
    );
  }

  private drawOwn(entry: OwnEntry): void {
    const { command, inContext, exitCode, state } = entry;
    this.element.setAttribute('aria-label', 'You ran a command');
    const result = entry.result.trimEnd();
    const lines = result.split('\n');
    const shown = lines.slice(-OWN_LINES).join('\n').slice(-RESULT);
    const above = lines.length - OWN_LINES;
    const how = state === 'running' ? '' : exitCode === undefined ? 'stopped' : exitCode === 0 ? '' : `exit code ${exitCode}`;
    this.drawRan(entry,
      h('summary', {}, ...markOf(entry), h('code', { class: 'title' }, visible(`${inContext ? '!' : '!!'}${command}`)),
        h('span', { class: 'dim' }, [how, timeOf(entry).trim(), inContext ? '' : 'not in the context'].filter((word) => word !== '').join(' · '))),
      true,
      above > 0 && h('div', { class: 'dim' }, `… ${above} ${above === 1 ? 'line' : 'lines'} above`),
      shown !== '' && h('pre', { tabindex: 0, 'aria-label': 'What it printed' }, visible(shown)),
      shown.length < result.length && this.showAll(command, result),
    );
  }

  /** A line that unfolds, and what runs below it. */
  private drawRan(entry: ToolEntry | OwnEntry, summary: HTMLElement, open: boolean, ...detail: Child[]): void {
    if (this.line === undefined) this.element.append(this.line = h('div', { class: 'line' }));
    const { line } = this;
    const wasOpen = line.querySelector('details')?.open ?? open;
    const { terminal, live } = entry;
    const name = entry.kind === 'tool' ? entry.title : entry.command;
    const child = entry.kind === 'tool' ? entry.child : undefined;
    refill(line,
      h('details', { open: wasOpen }, summary, ...detail),
      child !== undefined
        && button('Open', () => this.post({ type: 'openSession', sessionId: child.sessionId }), { class: 'link', 'aria-label': `Open the conversation of: ${name}` }),
      // A command that runs has its own way to the terminal, below.
      terminal !== undefined && live === undefined
        && button('Terminal', () => this.post({ type: 'openTerminal', terminalId: terminal }), { class: 'link', 'aria-label': `Show the terminal of: ${name}` }));
    this.drawLive(entry);
  }

  private drawLive(ran: Ran): void {
    if (this.command === undefined) {
      if (!LiveCommand.has(ran)) return;
      this.command = new LiveCommand(this.post);
      this.element.append(this.command.element);
    }
    this.command.show(ran);
  }

  private showAll(title: string, text: string): HTMLElement {
    return button('Show all of it', () => this.post({ type: 'openText', title, text }));
  }

  /** A place that can be opened; `lines` says more of it than its line. */
  private location(location: Location, lines = location.line === undefined ? '' : `:${location.line + 1}`): HTMLElement {
    const name = decodeURIComponent(location.uri.split('/').pop() ?? location.uri);
    const { uri } = location;
    return button(visible(name + lines), () =>
      this.post(location.line === undefined ? { type: 'openFile', uri } : { type: 'openFile', uri, line: location.line }),
    { class: 'link' });
  }

  private mentions(blocks: readonly PromptBlock[]): Child[] {
    return blocks.flatMap((block) => {
      if (block.type === 'text') return [];
      return [' ', h('span', { class: 'chip' }, block.type === 'image' ? 'an image' : this.mention(block))];
    });
  }

  private mention(block: Exclude<PromptBlock, { type: 'text' | 'image' }>): HTMLElement {
    if (block.type === 'file') return this.location(block);
    return this.location({ uri: block.uri, line: block.range.start.line }, linesInWords(block.range));
  }

  private drawQuestion({ request, outcome, until }: QuestionEntry): void {
    this.element.classList.add(`about-${request.about}`);
    this.element.classList.toggle('open', outcome === undefined);
    if (outcome === undefined && request.form != null) this.drawForm(request, until);
    else if (outcome === undefined) this.drawOpenQuestion(request);
    else this.drawAnswered(request, outcome);
  }

  private drawOpenQuestion(request: PermissionRequest): void {
    const { element } = this;
    element.setAttribute('aria-label', `Azimuth asks: ${request.title}`);
    const answers = request.options.map((option) => {
      const answer = button(visible(option.name), () => {
        const said = reason.value.trim();
        const base = { type: 'answer', permissionId: request.permissionId, optionId: option.optionId } as const;
        this.post(said === '' ? base : { ...base, message: said });
      }, { class: option.kind === 'allow_once' ? 'primary' : 'secondary', 'data-option': option.optionId });
      return answer;
    });
    const reason = h('input', { type: 'text', class: 'reason', placeholder: 'Message to Azimuth (optional)', 'aria-label': 'Message to Azimuth with your answer' });
    refill(element,
      h('div', { class: 'question-title' }, badgeOf(request), visible(request.title)),
      ...detailOf(request),
      h('div', { class: 'answers', role: 'group', 'aria-label': request.title }, ...answers), reason,
    );
  }

  private drawForm(request: PermissionRequest, until: number | undefined): void {
    this.element.setAttribute('aria-label', `Azimuth asks: ${request.title}`);
    this.element.replaceChildren(h('div', { class: 'question-title' }, 'Azimuth asks you'), formOf(request, until, this.post, this.kept));
  }

  /** A line: the answer, and what it was about. What was asked unfolds below it. */
  private drawAnswered(request: PermissionRequest, outcome: PermissionOutcome): void {
    this.kept.keepForm(request.permissionId, undefined);
    const { allowed, words, message } = answerOf(request, outcome);
    const said = message === undefined ? words : `${words}: ${message}`;
    this.element.setAttribute('aria-label', `Azimuth asked: ${request.title}; the answer: ${said}`);
    const [mark, look, read] = allowed ? ['✓', 'done', 'allowed'] : ['✗', 'refused', 'not allowed'];
    refill(this.element,
      h('details', {},
        h('summary', {},
          h('span', { class: `mark ${look}`, 'aria-hidden': true }, mark), h('span', { class: 'sr' }, `${read}: `),
          h('span', { class: 'outcome' }, visible(said)),
          badgeOf(request), h('span', { class: 'title dim' }, visible(`${request.title} ${firstLine(request.detail)}`.trim()))),
        ...detailOf(request)));
  }

  private drawEnd(entry: EndEntry): void {
    const reasons: Record<string, string> = {
      cancelled: 'Cancelled', interrupted: 'Interrupted', error: 'Failed', max_tokens: 'The answer reached its maximum length',
      refusal: 'The model refused', max_turn_requests: 'Stopped to ask',
    };
    const reason = reasons[entry.reason];
    const saysItself = entry.error !== undefined && saidByError.includes(entry.reason);
    const goesOn = entry.reason !== 'end_turn' && entry.reason !== 'refusal';
    this.element.classList.toggle('error', entry.reason === 'error');
    this.element.replaceChildren(
      ...[
        reason !== undefined && !saysItself && h('span', { class: 'end-reason' }, reason),
        entry.error !== undefined && h('span', {}, visible(entry.error)),
        goesOn && button('Continue', () => this.post({ type: 'continue' })),
        h('span', { class: 'dim cost' }, costInWords(entry)),
      ].filter((child) => child !== false),
    );
  }
}

/** How a call or a command stands. */
function markOf({ state }: Ran): Child[] {
  const [mark, words] = ({ running: ['◌', 'runs'], done: ['✓', 'done'], failed: ['✗', 'failed'] } as const)[state];
  return [h('span', { class: `mark ${state}`, 'aria-hidden': true }, mark), h('span', { class: 'sr' }, `${words}: `)];
}

/** How long it took, where that is worth a word. */
function timeOf({ milliseconds }: Ran): string {
  return milliseconds !== undefined && milliseconds >= 1000 ? ` ${(milliseconds / 1000).toFixed(1)} s` : '';
}

/** The answer to a question: whether it allows, in which words, and what the user said with it. */
function answerOf(request: PermissionRequest, outcome: PermissionOutcome): { allowed: boolean; words: string; message?: string } {
  if (outcome.type === 'timedOut') return { allowed: true, words: 'Not answered in time: what is recommended is assumed' };
  if (outcome.type !== 'selected') return { allowed: false, words: outcome.type === 'cancelled' ? 'Not answered' : 'Settled in another way' };
  if (outcome.answers !== undefined && outcome.answers.length > 0) return { allowed: true, words: filledInWords(request, outcome.answers) };
  const option = request.options.find((candidate) => candidate.optionId === outcome.optionId);
  const answer = { allowed: option?.kind === 'allow_once' || option?.kind === 'allow_always', words: option?.name ?? outcome.optionId };
  return outcome.message === undefined ? answer : { ...answer, message: outcome.message };
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

/** A badge if something is asked to happen outside the sandbox. */
function badgeOf({ about }: PermissionRequest): Child {
  return about === 'outside' && h('span', { class: 'badge' }, 'outside the sandbox');
}

/** The lines that say what would be done, and why it is asked. */
function detailOf({ detail, reason }: PermissionRequest): Child[] {
  return [
    detail !== '' && h('pre', { tabindex: 0, 'aria-label': 'What would be done' }, visible(detail)),
    reason !== '' && h('div', { class: 'dim' }, visible(reason)),
  ];
}

/** Such as `12,345 tokens (9,000 cached), $0.012`; a price that is not known is said where the entry says so. */
export function costInWords({ usage, cost, unpriced }: Pick<EndEntry, 'usage' | 'cost' | 'unpriced'>): string {
  const tokens = tokensOf(usage);
  if (tokens === 0) return '';
  const cached = usage.cacheRead > 0 ? ` (${usage.cacheRead.toLocaleString('en')} cached)` : '';
  return [`${tokens.toLocaleString('en')} tokens${cached}`, ...paidInWords(cost === undefined ? undefined : dollars(cost), unpriced?.map(visible) ?? [])].join(', ');
}

