// Markdown as elements. The text is a model's: its HTML, images and links are shown as text or behind a click, and nothing
// is ever parsed as markup by the browser.

import { createLowlight, common } from 'lowlight';
import type { MarkedToken, Token, Tokens } from 'marked';
import { visible } from '../text';
import { type Child, button, h } from './dom';
import { Parser } from './parse';

/** The actions that a piece of Markdown can ask for. */
export interface Acts {
  copy(text: string): void;
  insert(text: string): void;
  openLink(href: string): void;
}

/** Longer texts are shown to here, with a button for the rest. */
const LONGEST = 200_000;
/** Longer code is shown without colours. */
const COLOURED = 50_000;

const lowlight = createLowlight(common);

/** A text that may grow. Only the blocks that changed are made anew. */
export class Markdown {
  readonly element = h('div', { class: 'markdown' });
  private readonly parser = new Parser();
  private shown: string[] = [];

  constructor(private readonly acts: Acts) {}

  /** Shows a text. Its last block may be unfinished. */
  show(text: string): void {
    const tokens = this.parse(text.slice(0, LONGEST)).filter((token) => token.type !== 'space');
    const raws = tokens.map((token) => token.raw);
    let same = 0;
    while (same < raws.length && raws[same] === this.shown[same]) same += 1;
    while (this.element.childNodes.length > same) this.element.lastChild?.remove();
    for (const token of tokens.slice(same)) this.element.append(this.safely(token as MarkedToken));
    this.shown = raws;
    if (text.length > LONGEST) {
      this.element.append(h('p', { class: 'dim' }, `(${text.length - LONGEST} more characters are not shown)`));
      this.shown.push('');
    }
  }

  // A text that breaks the parser or a block's drawing must not take the rest of the conversation with it.

  private parse(text: string): Token[] {
    try {
      return this.parser.parse(text);
    } catch {
      return [{ type: 'code', raw: text, text }];
    }
  }

  private safely(token: MarkedToken): HTMLElement {
    try {
      return this.block(token);
    } catch {
      return h('pre', { tabindex: 0 }, visible(token.raw));
    }
  }

  private block(token: MarkedToken): HTMLElement {
    switch (token.type) {
      case 'heading': {
        // The chat's own headings are above them.
        const level = Math.min(token.depth + 2, 6) as 3 | 4 | 5 | 6;
        return h(`h${level}`, {}, ...this.inline(token.tokens));
      }
      case 'code':
        return this.code(token.text, token.lang ?? '');
      case 'blockquote':
        return h('blockquote', {}, ...this.blocks(token.tokens));
      case 'list':
        return this.list(token);
      case 'table':
        return this.table(token);
      case 'hr':
        return h('hr');
      case 'paragraph':
        return h('p', {}, ...this.inline(token.tokens));
      case 'text':
        return h('div', {}, ...(token.tokens ? this.inline(token.tokens) : [visible(token.text)]));
      default:
        // HTML and whatever else there is: what was written.
        return h('p', {}, visible(token.raw));
    }
  }

  private blocks(tokens: readonly Token[]): Child[] {
    return tokens.filter((token) => token.type !== 'space').map((token) => this.block(token as MarkedToken));
  }

  private list(token: Tokens.List): HTMLElement {
    const items = token.items.map((item) => {
      const done = item.checked === true;
      const box = item.task && h('input', { type: 'checkbox', disabled: true, checked: done, 'aria-label': done ? 'done' : 'to do' });
      return h('li', { class: item.task ? 'task' : undefined }, box, ...this.blocks(item.tokens));
    });
    const start = typeof token.start === 'number' && token.start !== 1 ? token.start : undefined;
    return token.ordered ? h('ol', { start }, ...items) : h('ul', {}, ...items);
  }

  private table(token: Tokens.Table): HTMLElement {
    const cell = (tag: 'td' | 'th') => (of: Tokens.TableCell) =>
      h(tag, { class: of.align ? `align-${of.align}` : undefined }, ...this.inline(of.tokens));
    const head = h('thead', {}, h('tr', {}, ...token.header.map(cell('th'))));
    const body = h('tbody', {}, ...token.rows.map((row) => h('tr', {}, ...row.map(cell('td')))));
    return h('div', { class: 'table', tabindex: 0, role: 'region', 'aria-label': 'Table' }, h('table', {}, head, body));
  }

  private inline(tokens: readonly Token[] | undefined): Child[] {
    return (tokens ?? []).map((token) => this.span(token as MarkedToken));
  }

  private span(token: MarkedToken): Child {
    switch (token.type) {
      case 'strong':
        return h('strong', {}, ...this.inline(token.tokens));
      case 'em':
        return h('em', {}, ...this.inline(token.tokens));
      case 'del':
        return h('del', {}, ...this.inline(token.tokens));
      case 'codespan':
        return h('code', {}, visible(token.text));
      case 'br':
        return h('br');
      case 'link':
        return this.link(token);
      case 'image':
        // Loading a picture would tell its server that the answer was read.
        return visible(`${token.text} (${token.href})`);
      case 'text':
        return token.tokens ? h('span', {}, ...this.inline(token.tokens)) : visible(token.text);
      case 'escape':
        return visible(token.text);
      default:
        return visible(token.raw);
    }
  }

  private link(token: Tokens.Link): Child {
    if (!/^https?:\/\//i.test(token.href)) return h('span', {}, ...this.inline(token.tokens), ` (${visible(token.href)})`);
    const element = h('a', { href: '#', title: visible(token.href) }, ...this.inline(token.tokens));
    element.addEventListener('click', (event) => {
      event.preventDefault();
      this.acts.openLink(token.href);
    });
    return element;
  }

  private code(text: string, lang: string): HTMLElement {
    const language = /^[\w+#-]*/.exec(lang)?.[0] ?? '';
    const tools = h(
      'div',
      { class: 'code-tools' },
      h('span', { class: 'dim' }, language),
      button('Copy', () => this.acts.copy(text), { 'aria-label': 'Copy this code' }),
      button('Insert', () => this.acts.insert(text), { 'aria-label': 'Insert this code at the cursor' }),
    );
    const pre = h('pre', { tabindex: 0, 'aria-label': language === '' ? 'Code' : `Code, ${language}` }, h('code', {}, ...coloured(text, language)));
    return h('div', { class: 'code' }, tools, pre);
  }
}

/** Code with the classes of its parts, where its language is known. */
function coloured(text: string, language: string): Child[] {
  if (text.length > COLOURED || !lowlight.registered(language)) return [visible(text)];
  return lowlight.highlight(language, text).children.map(part);
}

function part(node: ReturnType<typeof lowlight.highlight>['children'][number]): Child {
  if (node.type === 'text') return visible(node.value);
  if (node.type !== 'element') return undefined;
  const names = Array.isArray(node.properties['className']) ? node.properties['className'].join(' ') : '';
  return h('span', { class: names }, ...node.children.map((child) => part(child)));
}
