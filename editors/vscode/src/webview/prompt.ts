// The prompt: what is typed, what is attached, completion, history, and how it is sent.

import { holdsWord, isCommand } from '../chat/mentions';
import type { Attachment, Draft, Facts, SentPrompt } from '../chat/messages';
import { modes } from '../generated/modes';
import type { PromptBlock, PromptCompleteResult, SessionId } from '../generated/protocol';
import { asked, thinkingOf, type Fill } from '../session/fold';
import { dollars, visible } from '../text';
import { button, h, refill } from './dom';
import type { Post } from './entries';
import type { Chat } from '../chat/fold';

/** The tallest that the prompt grows, as a part of the view. */
const TALLEST = 0.4;

/** So many prompts on their way are kept over the end of the page: of some it may never be told what became of them. */
const MOST_SENT = 5;

/** The parts of what may be filled before old results are removed, from which the fill is shown as a warning, and as a danger. */
const [FILLING, FULL] = [0.6, 0.85];

interface State {
  getState(): Draft | undefined;
  setState(state: Draft): void;
}

/** The slash commands that are picked from a list where nothing is said with them. */
const PICKERS: ReadonlyMap<string, 'pickModel' | 'pickThinking' | 'pickMode' | 'pickSession'> = new Map([
  ['/model', 'pickModel'], ['/thinking', 'pickThinking'], ['/mode', 'pickMode'], ['/resume', 'pickSession'],
]);

export class Prompt {
  readonly element: HTMLElement;
  private readonly text = h('textarea', {
    rows: 2, placeholder: 'Ask Azimuth to do something. @ mentions a file, / is a slash command, ! runs a shell command.', 'aria-label': 'Prompt',
    'aria-autocomplete': 'list', 'aria-controls': 'completions', spellcheck: 'true',
  });
  private readonly chips = h('div', { class: 'chips' });
  private readonly list = h('ul', { id: 'completions', role: 'listbox', 'aria-label': 'Completions', hidden: true });
  private readonly problem = h('div', { class: 'problem', role: 'alert' });
  /** The hint on what becomes of a command that is typed here. */
  private readonly hint = h('div', { class: 'hint dim', role: 'status' });
  private readonly buttons = h('div', { class: 'buttons' });
  private readonly status = h('div', { class: 'status' });
  private attachments: Attachment[] = [];
  private chat: Chat | undefined;
  private facts: Facts | undefined;
  private session: SessionId | undefined;
  /** The prompts on their way, by their ids, so that one that is not taken comes back. */
  private readonly sent = new Map<string, SentPrompt>();
  /** The files that were completed, by what stands for them in the text. */
  private readonly mentioned = new Map<string, string>();
  private completion: { requestId: number; result?: PromptCompleteResult; chosen: number } = { requestId: 0, chosen: 0 };
  /** Where in the history the user is; -1 for what they type. */
  private past = -1;
  private typed = '';
  private shown = '';
  /** Counts the seconds until the model is asked again. */
  private ticking: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly post: Post, private readonly state: State) {
    this.element = h('form', { class: 'prompt', 'aria-label': 'Say something' },
      this.list, this.chips, this.text, this.hint, this.problem, this.buttons, this.status);
    this.element.addEventListener('submit', (event) => event.preventDefault());
    this.text.addEventListener('input', () => this.typing());
    this.text.addEventListener('keydown', (event) => this.key(event));
    this.text.addEventListener('blur', () => this.close());
    this.text.addEventListener('paste', (event) => this.paste(event));
    for (const name of ['dragover', 'drop'] as const) {
      this.element.addEventListener(name, (event) => this.drop(event));
    }
    const draft = state.getState();
    if (draft) {
      this.text.value = draft.text;
      this.attachments = draft.attachments;
      for (const [promptId, sent] of draft.sent ?? []) this.sent.set(promptId, sent);
    }
  }

  open(chat: Chat, session: SessionId | undefined): void {
    this.chat = chat;
    this.session = session;
    this.past = -1;
    this.draw();
  }

  take(facts: Facts): void {
    this.facts = facts;
    this.shown = '';
    this.draw();
  }

  focus(): void {
    this.text.focus();
  }

  /** Adds to what stands here, behind it. */
  add({ text, attachments }: SentPrompt): void {
    this.text.value = [this.text.value, text].filter((part) => part !== '').join('\n');
    this.attach(attachments);
  }

  /** A prompt was taken, or not. */
  settled(promptId: string, error: string | undefined): void {
    const sent = this.sent.get(promptId);
    this.sent.delete(promptId);
    if (error === undefined) return this.keep();
    if (sent) return this.giveBack(sent, error);
    // It was none of the draft.
    this.problem.textContent = error;
  }

  /** A prompt that was not taken comes back into the draft. */
  giveBack(sent: SentPrompt, error: string): void {
    // Whatever was typed since stays behind it.
    this.text.value = [sent.text, this.text.value].filter((text) => text !== '').join('\n');
    this.attachments = [...sent.attachments, ...this.attachments];
    this.problem.textContent = error;
    this.keep();
    this.draw();
  }

  completions(requestId: number, result: PromptCompleteResult | undefined): void {
    if (requestId !== this.completion.requestId || document.activeElement !== this.text) return;
    this.completion = result ? { requestId, result, chosen: 0 } : { requestId, chosen: 0 };
    this.drawCompletions();
  }

  /** Shows what can be done now. */
  draw(): void {
    refill(this.chips, ...this.attachments.map((attachment) =>
      h('span', { class: 'chip' }, visible(attachment.label), button('✕', () => {
        this.attachments = this.attachments.filter((it) => it !== attachment);
        this.keep();
        this.draw();
      }, { class: 'icon', 'aria-label': `Take away ${attachment.label}` }))));
    this.grow();
    const { chat, facts } = this;
    const running = chat?.runningTurn !== undefined;
    const now = JSON.stringify([running, chat?.model, chat?.session.scripted, chat?.session.thinking, chat?.session.turnModel, chat?.cost, chat?.session.context, chat?.doing, chat?.waits]);
    if (now === this.shown) return;
    this.shown = now;
    refill(this.buttons,
      ...(running
        ? [button('Say now', () => this.send(), { class: 'primary', title: 'Tell the running turn after this step (Enter)' }),
          button('Queue', () => this.queue(), { class: 'secondary', title: 'For after this turn (Alt+Enter)' }),
          button('Interrupt', () => this.interrupt(), { class: 'secondary', title: 'Stop the turn and send this (Shift+Alt+Enter)' }),
          ...(chat.waits === undefined ? [] : [button('Try now', () => this.retry(), { class: 'secondary', title: 'Ask the model again now' })]),
          button('Stop', () => this.cancel(), { class: 'secondary', title: 'Cancel the turn (Escape)' })]
        : [button('Send', () => this.send(), { class: 'primary', title: facts?.enterSends === false ? 'Send (Ctrl+Enter)' : 'Send (Enter)' })]),
      button('Attach', () => this.post({ type: 'attachFile' }), { class: 'secondary' }),
      ...(facts?.selection === undefined ? []
        : [button(`+ ${visible(facts.selection)}`, () => this.post({ type: 'attachSelection' }), { class: 'secondary', title: 'Attach the selection' })]),
    );
    this.drawStatus(running);
  }

  private drawStatus(running: boolean): void {
    const { chat, facts } = this;
    if (!facts) return;
    const model = chat?.model !== undefined && chat.model !== '' ? chat.model : (facts.defaultModel ?? 'no model');
    const known = facts.models.find((it) => it.id === model);
    const thinks = (known?.levels ?? []).length > 0;
    const thinking = thinkingOf(chat === undefined ? undefined : asked(chat.session), known) ?? 'by itself';
    const context = chat?.session.context;
    refill(this.status,
      button(`${visible(model)}${chat?.session.scripted === true ? ' (scripted)' : ''}`, () => this.post({ type: 'pickModel' }), { class: 'link', title: 'Choose a model' }),
      ...(thinks ? [button(`thinking: ${thinking}`, () => this.post({ type: 'pickThinking' }), { class: 'link', title: 'Choose how much the model thinks' })] : []),
      button(`mode: ${facts.mode.replace('_', ' ')}`, () => this.post({ type: 'pickMode' }), {
        class: `link${modes[facts.mode].asks ? '' : ' danger'}`, title: 'Choose what Azimuth may do', disabled: !facts.trusted,
      }),
      button(`edits: ${howEditsAreTaken(facts)}`, () => this.post({ type: 'pickAcceptEdits' }), {
        class: `link${facts.accepts === undefined && !modes[facts.mode].acceptsEdits ? '' : ' warn'}`, title: 'Choose if edits are accepted automatically, and for how long',
      }),
      ...(context ? [this.filled(context, running)] : []),
      ...(chat && chat.cost > 0 ? [button(dollars(chat.cost), () => this.post({ type: 'showCosts' }), { class: 'link', title: 'Show what models cost' })] : []),
      ...(running && chat ? [this.doing(chat)] : []),
    );
  }

  /** How full the context is. What fills it is told by a command, which would be said to a running turn. */
  private filled({ used, limit, full }: Fill, running: boolean): HTMLElement {
    const words = `context ${Math.round((100 * used) / Math.max(1, limit))}%`;
    const fill = used / Math.max(1, full ?? limit);
    const color = fill >= FULL ? ' danger' : fill >= FILLING ? ' warn' : '';
    const title = `${used.toLocaleString('en')} of ${limit.toLocaleString('en')} tokens`;
    if (running) return h('span', { class: color.trim(), title }, words);
    const tell = (): void => this.post({ type: 'send', promptId: crypto.randomUUID(), blocks: [{ type: 'text', text: '/context' }] });
    return button(words, tell, { class: `link${color}`, title: `${title}. Show what fills the context` });
  }

  /** The action of the turn. The seconds of a wait are only seen: the transcript has said once how long it is. */
  private doing({ doing, waits }: Chat): HTMLElement {
    clearInterval(this.ticking);
    if (waits === undefined) return h('span', { class: 'doing' }, visible(doing));
    const seconds = h('span', { class: 'countdown', 'aria-hidden': 'true' });
    const which = waits.of === undefined ? `Retry ${waits.attempt}` : `Retry ${waits.attempt} of ${waits.of}`;
    const tick = (): void => {
      const left = Math.ceil((waits.until - Date.now()) / 1000);
      if (left <= 0 || !seconds.isConnected) clearInterval(this.ticking);
      seconds.textContent = left > 0 ? ` in ${left} s` : ' now';
    };
    this.ticking = setInterval(tick, 1000);
    seconds.textContent = ` in ${Math.max(0, Math.ceil((waits.until - Date.now()) / 1000))} s`;
    return h('span', { class: 'doing waiting' }, which, seconds);
  }

  private attach(attachments: Attachment[]): void {
    const known = new Set(this.attachments.map((it) => it.label));
    this.attachments.push(...attachments.filter((it) => !known.has(it.label)));
    this.keep();
    this.draw();
  }

  private blocks(): PromptBlock[] {
    const text = this.text.value.trim();
    const typed: PromptBlock[] = text === '' ? [] : [{ type: 'text', text }];
    // Those that are typed in full are found where the files are.
    const files = [...this.mentioned].filter(([word]) => holdsWord(text, word)).map(([, uri]): PromptBlock => ({ type: 'file', uri }));
    return [...typed, ...files, ...this.attachments.map((it) => it.block)];
  }

  private send(): void {
    if (this.picks()) return;
    // A command of the user's own runs at once, and is no word to the turn.
    const turnId = isCommand(this.text.value) ? undefined : this.chat?.runningTurn;
    this.submit((promptId, blocks) =>
      turnId === undefined ? { type: 'send', promptId, blocks } : { type: 'steer', promptId, turnId, blocks });
  }

  /** Has a command whose argument is missing ask for it. Gives whether it is one. */
  private picks(): boolean {
    const type = PICKERS.get(this.text.value.trim());
    if (type === undefined || this.attachments.length > 0) return false;
    this.text.value = '';
    this.close();
    this.keep();
    this.draw();
    this.post({ type });
    return true;
  }

  private queue(): void {
    this.submit((promptId, blocks) => ({ type: 'queue', promptId, blocks }));
  }

  private interrupt(): void {
    this.submit((promptId, blocks) => ({ type: 'now', promptId, blocks }));
  }

  private submit(make: (promptId: string, blocks: PromptBlock[]) => Parameters<Post>[0]): void {
    const blocks = this.blocks();
    if (!blocks.some((block) => block.type === 'text' || block.type === 'image')) {
      if (blocks.length > 0) this.problem.textContent = 'Say what to do with the attachments.';
      return;
    }
    const promptId = crypto.randomUUID();
    this.sent.set(promptId, { text: this.text.value, attachments: this.attachments });
    this.text.value = '';
    this.attachments = [];
    this.problem.textContent = '';
    this.past = -1;
    this.close();
    this.keep();
    this.draw();
    this.post(make(promptId, blocks));
  }

  private retry(): void {
    const turnId = this.chat?.runningTurn;
    this.post(turnId === undefined ? { type: 'retry' } : { type: 'retry', turnId });
  }

  private cancel(): void {
    const turnId = this.chat?.runningTurn;
    this.post(turnId === undefined ? { type: 'cancel' } : { type: 'cancel', turnId });
  }

  private typing(): void {
    this.past = -1;
    this.problem.textContent = '';
    this.keep();
    this.grow();
    const cursor = this.text.selectionStart;
    const before = this.text.value.slice(0, cursor);
    // The paths of a shell command are no mentions.
    if (isCommand(this.text.value) || !/(^|\s)[@/]\S*$/.test(before)) return this.close();
    this.completion = { requestId: this.completion.requestId + 1, chosen: 0 };
    this.post({ type: 'complete', requestId: this.completion.requestId, text: this.text.value, cursor });
  }

  private key(event: KeyboardEvent): void {
    if (event.isComposing || event.defaultPrevented) return;
    const items = this.completion.result?.items ?? [];
    if (items.length > 0 && !this.list.hidden) {
      if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
        const step = event.key === 'ArrowDown' ? 1 : items.length - 1;
        this.completion.chosen = (this.completion.chosen + step) % items.length;
        this.drawCompletions();
        return event.preventDefault();
      }
      if (event.key === 'Tab' || (event.key === 'Enter' && !event.shiftKey)) {
        this.accept(this.completion.chosen);
        return event.preventDefault();
      }
      if (event.key === 'Escape') {
        this.close();
        return event.preventDefault();
      }
    }
    if (event.key === 'Enter' && event.altKey) {
      if (event.shiftKey) this.interrupt();
      else this.queue();
      return event.preventDefault();
    }
    const enterSends = this.facts?.enterSends ?? true;
    if (event.key === 'Enter' && !event.shiftKey && (enterSends || event.ctrlKey || event.metaKey)) {
      this.send();
      return event.preventDefault();
    }
    if (event.key === 'Escape' && (this.chat?.runningTurn !== undefined || this.chat?.runsOwn === true)) {
      this.cancel();
      return event.preventDefault();
    }
    const { value, selectionStart } = this.text;
    const alone = !value.includes('\n');
    if (event.key === 'ArrowUp' && (alone || selectionStart === 0)) this.recall(this.past + 1, event);
    if (event.key === 'ArrowDown' && this.past >= 0 && (alone || selectionStart === value.length)) this.recall(this.past - 1, event);
  }

  private recall(at: number, event: Event): void {
    const history = this.chat?.history ?? [];
    if (at >= history.length || at < -1) return;
    if (this.past === -1) this.typed = this.text.value;
    this.past = at;
    this.text.value = at === -1 ? this.typed : (history[at] ?? '');
    this.keep();
    this.grow();
    event.preventDefault();
  }

  private drawCompletions(): void {
    const items = this.completion.result?.items ?? [];
    this.list.hidden = items.length === 0;
    this.list.replaceChildren(...items.map((item, at) => {
      const chosen = at === this.completion.chosen;
      const element = h('li', { id: `completion-${at}`, role: 'option', 'aria-selected': chosen ? 'true' : 'false' },
        h('span', {}, visible(item.label)), h('span', { class: 'dim' }, visible(item.detail)));
      element.addEventListener('mousedown', (event) => {
        event.preventDefault();
        this.accept(at);
      });
      if (chosen) queueMicrotask(() => element.scrollIntoView({ block: 'nearest' }));
      return element;
    }));
    if (items.length > 0) this.text.setAttribute('aria-activedescendant', `completion-${this.completion.chosen}`);
    else this.text.removeAttribute('aria-activedescendant');
  }

  private accept(at: number): void {
    const { result } = this.completion;
    const item = result?.items[at];
    if (!result || !item) return;
    this.text.setRangeText(item.insert, result.start, result.end, 'end');
    if (item.uri !== undefined) this.mentioned.set(item.insert.trim(), item.uri);
    this.close();
    this.typing();
  }

  private close(): void {
    this.completion = { requestId: this.completion.requestId + 1, chosen: 0 };
    this.drawCompletions();
  }

  private paste(event: ClipboardEvent): void {
    const images = [...(event.clipboardData?.items ?? [])].filter((item) => item.type.startsWith('image/'));
    for (const item of images) {
      const file = item.getAsFile();
      if (!file) continue;
      event.preventDefault();
      const reader = new FileReader();
      reader.addEventListener('load', () => {
        const [, data] = typeof reader.result === 'string' ? reader.result.split(',') : [];
        if (data !== undefined) this.attach([{ label: this.nameOfImage(), block: { type: 'image', mimeType: item.type, data } }]);
      });
      reader.readAsDataURL(file);
    }
  }

  private nameOfImage(): string {
    const known = new Set(this.attachments.map(({ label }) => label));
    let number = 1;
    while (known.has(`image ${number}`)) number += 1;
    return `image ${number}`;
  }

  private drop(event: DragEvent): void {
    event.preventDefault();
    if (event.type !== 'drop') return;
    const list = event.dataTransfer?.getData('text/uri-list') ?? '';
    const uris = list.split(/\r?\n/).filter((uri) => uri !== '' && !uri.startsWith('#'));
    if (uris.length > 0) this.post({ type: 'dropped', uris });
  }

  private keep(): void {
    const hint = hintOf(this.text.value);
    if (this.hint.textContent !== hint) this.hint.textContent = hint;
    const draft = { text: this.text.value, attachments: this.attachments, sent: [...this.sent].slice(-MOST_SENT) };
    this.state.setState(this.session === undefined ? draft : { sessionId: this.session, ...draft });
  }

  private grow(): void {
    this.text.style.setProperty('height', 'auto');
    const tallest = Math.max(60, window.innerHeight * TALLEST);
    this.text.style.setProperty('height', `${Math.min(this.text.scrollHeight + 2, tallest)}px`);
  }
}

/** Says what a prompt that begins with `!` does. */
function hintOf(text: string): string {
  if (text.startsWith('!!')) return 'Runs in the shell of this session. The model does not see it.';
  return isCommand(text) ? 'Runs in the shell of this session. Its output joins the conversation; with !! it does not.' : '';
}

function howEditsAreTaken({ accepts, mode }: Facts): string {
  if (modes[mode].acceptsEdits) return 'accepted, in this mode';
  if (accepts === undefined) return 'reviewed';
  return accepts === 'project' ? 'accepted, in this project' : 'accepted, in this session';
}
