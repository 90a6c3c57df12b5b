// Markdown as tokens, for texts of a model. Pure.
//
// The parser of the library goes as deep as the text does, and its time grows with the square of a paragraph's length. So
// a text could end it, or hold it for minutes: what goes too deep or is too long stays plain text.

import { Lexer, type Token, type TokensList } from 'marked';

/** So deep may blocks stand in blocks, and spans in spans. */
const DEEPEST = 24;
/** Longer paragraphs are plain text, in UTF-16 units. */
const LONGEST_PARAGRAPH = 10_000;

/** Parses texts, each of which mostly is the one before with something added: what was parsed already is not parsed again. */
export class Parser {
  private known = new Map<string, Token[]>();

  /** The blocks of a text. */
  parse(text: string): Token[] {
    const lexer = new Careful(this.known);
    const tokens = lexer.lex(text);
    this.known = lexer.made;
    return tokens;
  }
}

class Careful extends Lexer {
  /** The tokens of the paragraphs, by their text. */
  readonly made = new Map<string, Token[]>();
  private blocksDeep = 0;
  private spansDeep = 0;

  constructor(private readonly known: ReadonlyMap<string, Token[]>) {
    super();
  }

  override blockTokens(src: string, tokens?: Token[], lastParagraphClipped?: boolean): Token[];
  override blockTokens(src: string, tokens?: TokensList, lastParagraphClipped?: boolean): TokensList;
  override blockTokens(src: string, tokens: Token[] = [], lastParagraphClipped = false): Token[] {
    if (this.blocksDeep >= DEEPEST) {
      tokens.push({ type: 'text', raw: src, text: src });
      this.state.top = true;
      return tokens;
    }
    this.blocksDeep += 1;
    try {
      return super.blockTokens(src, tokens, lastParagraphClipped);
    } finally {
      this.blocksDeep -= 1;
    }
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    if (this.spansDeep >= DEEPEST || src.length > LONGEST_PARAGRAPH) {
      tokens.push({ type: 'text', raw: src, text: src });
      return tokens;
    }
    if (this.spansDeep > 0) return this.spans(src, tokens);
    const spans = this.made.get(src) ?? this.known.get(src) ?? this.spans(src, []);
    this.made.set(src, spans);
    tokens.push(...spans);
    return tokens;
  }

  private spans(src: string, tokens: Token[]): Token[] {
    this.spansDeep += 1;
    try {
      return super.inlineTokens(src, tokens);
    } finally {
      this.spansDeep -= 1;
    }
  }
}
