// The end of a command's output as plain text, for the chat. Pure.
//
// It is no terminal: a program that draws is looked at in the terminal. But lines are lines, and a progress bar is one line
// that changes, so the few controls that such output has are carried out and all others are left out.

/** So many lines are kept. */
const LINES = 20;
/** So many characters of a line are kept. */
const WIDTH = 400;

export class Tail {
  private readonly lines: string[] = [];
  /** The last line, which is not ended. */
  private line = '';
  /** Where in it the cursor is. */
  private column = 0;
  /** The beginning of a control sequence whose rest is still to come. */
  private held = '';

  /** Takes output that has passed the filter of a terminal. */
  feed(output: string): void {
    const text = this.held + output;
    const cut = UNFINISHED.exec(text);
    this.held = cut?.[0] ?? '';
    for (const [piece] of text.slice(0, cut?.index).matchAll(PIECES)) this.take(piece);
  }

  /** The text that is kept of it. */
  get text(): string {
    return [...this.lines, this.line].map((line) => line.trimEnd()).join('\n').trimEnd().split('\n').slice(-LINES).join('\n');
  }

  private take(piece: string): void {
    switch (piece) {
      case '\n':
        this.lines.push(this.line);
        if (this.lines.length > LINES) this.lines.shift();
        [this.line, this.column] = ['', 0];
        return;
      case '\r':
        this.column = 0;
        return;
      case '\b':
        this.column = Math.max(0, this.column - 1);
        return;
    }
    if (piece.startsWith('\x1b')) return this.control(piece);
    if (piece < ' ' && piece !== '\t') return;
    this.line = this.line.slice(0, this.column).padEnd(this.column) + piece + this.line.slice(this.column + piece.length);
    this.line = this.line.slice(0, WIDTH);
    this.column = Math.min(WIDTH, this.column + piece.length);
  }

  private control(sequence: string): void {
    const [, digits = '', final] = /^\x1b\[(\d*)([CDGJK])$/.exec(sequence) ?? [];
    const number = digits === '' ? undefined : Number(digits);
    switch (final) {
      case 'C': return this.go(this.column + Math.max(1, number ?? 1));
      case 'D': return this.go(this.column - Math.max(1, number ?? 1));
      case 'G': return this.go((number ?? 1) - 1);
      case 'K':
      case 'J':
        if (number === undefined || number === 0) {
          this.line = this.line.slice(0, this.column);
        } else if (final === 'K') {
          this.line = '';
        } else {
          // The screen is cleared.
          this.lines.length = 0;
          [this.line, this.column] = ['', 0];
        }
        return;
      // Any other sequence moves nothing in a line.
      default:
    }
  }

  private go(column: number): void {
    this.column = Math.min(WIDTH, Math.max(0, column));
  }
}

const PIECES = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]|[\x00-\x08\x0a-\x1f\x7f]|[^\x00-\x08\x0a-\x1f\x7f]+/g;
const UNFINISHED = /\x1b(\[[0-?]*[ -/]*|[ -/]*)?$/;
