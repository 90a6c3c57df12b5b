import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { InlineEdit, InlineHunk } from '../../src/generated/protocol';
import { asDiff, currentOf, hunkAt, inWords, isLong, isWithin, linesOf, nextFrom, numberOf, positionOf, sizeOf, without } from '../../src/inline/edit';
import { marksOf } from '../../src/inline/marks';

/** A hunk from line and column to line and column, from 0. */
function hunk(id: string, [startLine, start, endLine, end]: [number, number, number, number], text: string): InlineHunk {
  return { id, range: { start: { line: startLine, character: start }, end: { line: endLine, character: end } }, text };
}

const word = hunk('word', [2, 8, 2, 9], 'h');
const lines = hunk('lines', [10, 0, 12, 0], 'one\ntwo\nthree\n');
const inserted = hunk('inserted', [20, 0, 20, 0], 'new\n');
const edit: InlineEdit = { id: 'e', kind: 'edit', uri: 'file:///a.rs', version: 1, hunks: [word, lines, inserted], target: { line: 10, character: 4 } };

describe('a hunk of a suggested edit', () => {
  it('says how many lines come and go', () => {
    assert.equal(sizeOf(lines, 'a\n+b\n'), '+3 −2');
    assert.equal(sizeOf(inserted, ''), '+1 −0');
    assert.equal(sizeOf(word, 'w'), '+1 −1');
  });

  it('is at its lines, and one that puts lines between two others is at both', () => {
    assert.deepEqual(linesOf(word), { first: 2, last: 2 });
    assert.deepEqual(linesOf(lines), { first: 10, last: 11 }, 'the line after it is not its own');
    assert.deepEqual(linesOf(inserted), { first: 19, last: 20 });
    assert.deepEqual(linesOf(hunk('top', [0, 0, 0, 0], 'use a;\n')), { first: 0, last: 0 });
    assert.deepEqual([1, 2, 9, 11, 12, 19, 20, 21].map((line) => hunkAt(edit, line)?.id), [undefined, 'word', undefined, 'lines', undefined, 'inserted', 'inserted', undefined]);
  });

  it('is the one at the cursor, else the nearest; from another document the one that the server names', () => {
    assert.deepEqual([0, 2, 5, 7, 13, 16, 90].map((line) => currentOf(edit, line)?.id), ['word', 'word', 'word', 'lines', 'lines', 'inserted', 'inserted']);
    assert.equal(currentOf(edit, undefined)?.id, 'lines');
  });

  it('is followed by the next one, and the last one by the first', () => {
    assert.deepEqual([0, 2, 5, 11, 20, 90].map((line) => nextFrom(edit, line)?.id), ['word', 'lines', 'lines', 'inserted', 'word', 'word']);
  });

  it('is reached at its beginning, or where the server says', () => {
    assert.deepEqual(positionOf(edit, word), { line: 2, character: 8 });
    assert.deepEqual(positionOf(edit, lines), { line: 10, character: 4 });
  });

  it('leaves the others if it is rejected, and nothing if it is the last', () => {
    const rest = without(edit, 'lines') ?? assert.fail();
    assert.deepEqual(rest.hunks.map(({ id }) => id), ['word', 'inserted']);
    assert.equal(numberOf(rest, inserted), '2 of 2');
    assert.equal(without({ ...edit, hunks: [word] }, 'word'), undefined);
  });

  it('has lines of its own or is a part of one', () => {
    assert.deepEqual([word, lines, inserted, hunk('line', [3, 0, 4, 0], 'x\n'), hunk('two', [3, 0, 3, 0], 'x\ny\n')].map(isLong), [false, true, false, false, true]);
  });

  it('counts for a click: one inside the edit does not end it', () => {
    assert.deepEqual([1, 2, 15, 20, 21].map((line) => isWithin(edit, line)), [false, true, true, true, false]);
  });

  it('is said in words', () => {
    assert.equal(inWords(word, 'w'), 'Replaces “w” with “h” in line 3');
    assert.equal(inWords(lines, 'a\nb\n'), 'Replaces lines 11 to 12, “a\nb”, with “one\ntwo\nthree”');
    assert.equal(inWords(inserted, ''), 'Inserts before line 21: “new”');
    assert.equal(inWords(hunk('a', [4, 3, 4, 3], ', b'), ''), 'Inserts “, b” in line 5');
    assert.equal(inWords(hunk('a', [4, 0, 5, 0], ''), 'gone();\n'), 'Removes line 5: “gone();”');
    assert.equal(inWords(hunk('a', [4, 3, 4, 5], ''), '  '), 'Removes “  ” in line 5', 'blank space is said');
  });

  it('is a diff', () => {
    assert.equal(asDiff(lines, 'a\nb\n'), '-a\n-b\n+one\n+two\n+three');
    assert.equal(asDiff(inserted, ''), '+new');
    assert.equal(asDiff(hunk('blank', [0, 0, 0, 0], '\n'), ''), '+', 'an empty line is a line');
  });
});

describe('the marks of a hunk', () => {
  const width = () => 40;
  const drawn = (old: string, text: string, line = 0, column = 0) => {
    const marks = marksOf(hunk('a', [line, column, line, column + old.length], text), old, width);
    return { removed: marks.removed.map((one) => `${one.line}:${one.start}-${one.end}`), inserted: marks.inserted.map((one) => `${one.line}:${one.column} ${one.text}`) };
  };

  it('are words, not the whole line', () => {
    assert.deepEqual(drawn('    w * w', '    w * h', 3), { removed: ['3:8-9'], inserted: ['3:9 h'] });
    assert.deepEqual(drawn('fn area(w: u32)', 'fn area(w: u32, h: u32)'), { removed: [], inserted: ['0:14 , h: u32'] });
    assert.deepEqual(drawn('w', 'width', 2, 8), { removed: ['2:8-9'], inserted: ['2:9 width'] });
  });

  it('are several in a line that changes in several positions', () => {
    assert.deepEqual(drawn('area(w, w) + w', 'area(h, w) + h'), { removed: ['0:5-6', '0:13-14'], inserted: ['0:6 h', '0:14 h'] });
  });

  it('are the whole if little stays: words that are the same by chance are hard to read', () => {
    assert.deepEqual(drawn('let a = read(x);', 'return b.write(y, z)?;'), { removed: ['0:0-15'], inserted: ['0:15 return b.write(y, z)?'] });
  });

  it('are line by line if there are as many lines as before', () => {
    assert.deepEqual(drawn('    a(w);\n    b(w);\n', '    a(h);\n    b(h);\n', 5), { removed: ['5:6-7', '6:6-7'], inserted: ['5:7 h', '6:7 h'] });
  });

  it('leave the lines alone that stay', () => {
    assert.deepEqual(drawn('a\nb\nc\n', 'a\nB\nc\n', 5), { removed: ['6:0-1'], inserted: ['6:1 B'] });
  });

  it('show the first of new lines behind the line above, and say how many follow', () => {
    assert.deepEqual(drawn('', '    one();\n', 5), { removed: [], inserted: ['4:40 one();'] });
    assert.deepEqual(drawn('a\n', 'a\n    one();\n    two();\n    three();\n', 5), { removed: [], inserted: ['5:40 one();  +2 lines'] });
    assert.deepEqual(drawn('    a\n\n  b\n', '  c\n', 5), { removed: ['5:4-5', '7:2-3'], inserted: ['7:40 c'] }, 'indentation is not struck');
    assert.deepEqual(drawn('', 'use a;\nuse b;\n'), { removed: [], inserted: ['0:0 use a;  +1 line'] }, 'above the first line there is none');
  });

  it('are short, and count as VS Code does, in UTF-16', () => {
    const { inserted } = marksOf(hunk('a', [0, 0, 0, 0], 'x'.repeat(500)), '', width);
    assert.equal(inserted[0]?.text.length, 101);
    assert.deepEqual(drawn('"\u{1F980}" + w', '"\u{1F980}" + h'), { removed: ['0:7-8'], inserted: ['0:8 h'] });
  });

  it('take little time, however long the hunk is', () => {
    const began = performance.now();
    drawn(Array.from({ length: 3_000 }, (_, line) => `old ${line}`).join('\n'), Array.from({ length: 3_000 }, (_, line) => `new ${line}`).join('\n'));
    assert.ok(performance.now() - began < 500);
  });

  it('make the new text when they are carried out', () => {
    const words = ['a', 'b', ' ', '(', ')', 'longer', '.', '\u{1F980}'];
    let seed = 7;
    const pick = (count: number): number => (seed = (seed * 48_271) % 2_147_483_647) % count;
    const text = (): string => Array.from({ length: pick(12) }, () => words[pick(words.length)]).join('');
    for (let round = 0; round < 2_000; round += 1) {
      const [old, now] = [text(), text()];
      const marks = marksOf(hunk('a', [0, 0, 0, old.length], now), old, width);
      let made = '';
      for (let at = 0; at <= old.length; at += 1) {
        made += marks.inserted.filter(({ column }) => column === at).map((one) => one.text).join('');
        if (at < old.length && !marks.removed.some(({ start, end }) => at >= start && at < end)) made += old[at] ?? '';
      }
      assert.equal(made, now, `from ${old}`);
    }
  });
});

describe('the keys of a suggested edit', () => {
  const { contributes } = JSON.parse(readFileSync('package.json', 'utf8')) as { contributes: { keybindings: { command: string; key: string; when: string }[] } };
  const when = (command: string, key: string): string => contributes.keybindings.find((one) => one.command === `azimuth.nextEdit.${command}` && one.key === key)?.when ?? assert.fail();

  it('leave Tab and Escape to whatever else is open', () => {
    for (const [command, key] of [['go', 'tab'], ['rejectAll', 'escape']] as const) {
      for (const other of ['suggestWidgetVisible', 'inlineSuggestionVisible', 'inSnippetMode', 'editorHasSelection', 'editorHasMultipleSelections']) {
        assert.match(when(command, key), new RegExp(`(^|&& )!${other}\\b`), `${key} while ${other}`);
      }
      assert.match(when(command, key), /azimuth\.nextEdit(Tab|Visible)/);
    }
  });
});
