import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { followed, isVisible, rest, type Change, type Shown } from '../../src/inline/shown';

/** A document in which a suggestion is shown at the mark `|`, replacing so many characters behind it. */
class Page {
  text: string;
  cursor: number;
  shown: Shown | undefined;

  constructor(marked: string, suggestion: string, replaces = 0) {
    this.cursor = marked.indexOf('|');
    this.text = marked.replace('|', '');
    this.shown = { id: 'a', text: suggestion, start: this.cursor, end: this.cursor + replaces, typed: 0 };
  }

  /** Types, as VS Code tells of it; what the editor adds behind the cursor is `closed`. */
  type(typed: string, closed = '', replaced = 0): this {
    return this.change({ rangeOffset: this.cursor, rangeLength: replaced, text: typed + closed }, this.cursor + typed.length);
  }

  change(change: Change, cursor = this.cursor): this {
    const { rangeOffset, rangeLength, text } = change;
    this.text = this.text.slice(0, rangeOffset) + text + this.text.slice(rangeOffset + rangeLength);
    this.cursor = cursor;
    this.shown = this.shown === undefined ? undefined : followed(this.shown, [change]);
    return this;
  }

  /** The document once what is left is accepted; undefined if nothing is shown. */
  get accepted(): string | undefined {
    if (this.shown === undefined) return undefined;
    const before = this.text.slice(this.shown.start, this.cursor);
    const left = rest(this.shown, before, this.text.slice(this.cursor, this.shown.end));
    if (left === undefined) return undefined;
    this.shown = { ...this.shown, typed: before.replaceAll('\r\n', '\n').length };
    return this.text.slice(0, this.cursor - left.back) + left.text + this.text.slice(this.shown.end);
  }
}

describe('typing into a suggestion', () => {
  it('leaves the rest of it, key by key, and accepting that makes what accepting all would have made', () => {
    const page = new Page('let a = |;\n', 'compute(b)');
    for (const key of 'compute(b') {
      page.type(key);
      assert.equal(page.accepted, 'let a = compute(b);\n', page.text);
    }
    assert.equal(page.type(')').accepted, undefined, 'all of it is typed');
  });

  it('ends with the first other key, and does not come back', () => {
    const page = new Page('let a = |;\n', 'compute(b)').type('c').type('x');
    assert.equal(page.accepted, undefined);
    const deleted = page.change({ rangeOffset: page.cursor - 1, rangeLength: 1, text: '' }, page.cursor - 1);
    assert.equal(deleted.accepted, undefined);
  });

  it('ends with a deletion', () => {
    const page = new Page('|', 'compute').type('co');
    assert.equal(page.accepted, 'compute');
    assert.equal(page.change({ rangeOffset: 1, rangeLength: 1, text: '' }, 1).accepted, undefined);
  });

  it('ends with a change elsewhere, or several at once', () => {
    assert.equal(new Page('one\n|\ntwo\n', 'half').change({ rangeOffset: 0, rangeLength: 0, text: 'x' }, 5).accepted, undefined);
    const { shown } = new Page('|', 'half');
    assert.ok(shown);
    assert.equal(followed(shown, [{ rangeOffset: 0, rangeLength: 0, text: 'h' }, { rangeOffset: 0, rangeLength: 0, text: 'h' }]), undefined);
    assert.equal(followed(shown, []), shown, 'a document that is only saved is as it was');
  });

  it('takes along the brackets that the editor closes', () => {
    const page = new Page('f|\n', '(a, b);').type('(', ')');
    assert.equal(page.accepted, 'f(a, b);\n');
    // The closing one is typed over.
    assert.equal(page.type('a').type(', b').type(')', '', 1).accepted, 'f(a, b);\n');
  });

  it('goes on over a new line, with the indentation that the editor puts in', () => {
    const page = new Page('fn a() |\n', '{\n    one();\n    two();\n}').type('{').type('\n    ');
    assert.equal(page.accepted, 'fn a() {\n    one();\n    two();\n}\n');
    const left = rest(page.shown ?? assert.fail(), '{\n    ', '');
    assert.deepEqual(left, { text: '    one();\n    two();\n}', back: 4 }, 'it begins on the line of the cursor');
  });

  it('knows that a document may have CRLF', () => {
    const page = new Page('|\r\n', 'a\nb\n').type('a').type('\r\n');
    assert.deepEqual(rest(page.shown ?? assert.fail(), 'a\r\n', ''), { text: 'b\n', back: 0 });
  });

  it('counts as VS Code does, in UTF-16', () => {
    const page = new Page('\u{1F980}|', '\u{1F980} é \u{1F469}\u200D\u{1F680}!').type('\u{1F980}').type(' é');
    assert.equal(page.accepted, '\u{1F980}\u{1F980} é \u{1F469}\u200D\u{1F680}!');
  });

  it('takes well under a millisecond', () => {
    const text = 'call(argument)\n'.repeat(2_000);
    const shown: Shown = { id: 'a', text, start: 0, end: 100, typed: 0 };
    const began = performance.now();
    for (let count = 0; count < 100; count += 1) rest(shown, text.slice(0, 100), '');
    assert.ok(performance.now() - began < 100, 'a hundred times');
  });
});

describe('VS Code shows', () => {
  const shows = (marked: string, range: [number, number], text: string) => {
    const cursor = marked.indexOf('|');
    return isVisible(marked.replace('|', ''), cursor, { start: range[0], end: range[1] }, text);
  };

  it('text that is put in at the cursor, on one line or on several', () => {
    assert.ok(shows('let a = |', [8, 8], 'b;'));
    assert.ok(shows('  |', [2, 2], 'one();\n  two();'));
  });

  it('text that goes on from the beginning of a word, or of the line', () => {
    assert.ok(shows('let a = com|', [8, 11], 'compute()'));
    assert.ok(!shows('let a = com|', [8, 11], 'Compute()'), 'what is before the cursor stays');
  });

  it('text around what is behind the cursor, and none instead of it', () => {
    assert.ok(shows('f(|)', [2, 3], 'a, b);'));
    assert.ok(shows('f(|))', [2, 4], 'g(a))'));
    assert.ok(!shows('f(|x)', [2, 4], 'a)'));
  });

  it('nothing that changes nothing, or is elsewhere', () => {
    assert.ok(!shows('f(|)', [2, 3], ')'));
    assert.ok(!shows('ab|', [0, 1], 'abc'), 'the range ends before the cursor');
    assert.ok(!shows('|ab', [1, 2], 'abc'), 'it begins behind it');
    assert.ok(!shows('ab|', [0, 9], 'abc'), 'it is longer than the line');
  });
});
