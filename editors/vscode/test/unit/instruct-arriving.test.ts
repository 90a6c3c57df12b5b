// The diff of a change that is arriving, and where it is in a document.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Range } from '../../src/generated/protocol';
import { blocksOf, findBlocks, grown, isNamed } from '../../src/instruct/arriving';

const document = `fn area(w: u32) -> u32 {
    let a = w * w;
    return a;
}

fn other(w: u32) -> u32 {
    let a = w * w;
    return a;
}
`.split('\n');
const lines = (first: number, last: number): Range => ({ start: { line: first, character: 0 }, end: { line: last + 1, character: 0 } });

/** The drawn marks: struck parts as `line:start-end`, and new lines as `line text`. */
function drawn(diff: string, selections: Range[] = [], text = document): { removed: string[]; inserted: string[] } {
  const marks = findBlocks(blocksOf({ toolCallId: 'c', path: 'a.rs', diff }), text, selections).map((one) => one.marks);
  return {
    removed: marks.flatMap(({ removed }) => removed.map(({ line, start, end }) => `${line}:${start}-${end}`)),
    inserted: marks.flatMap(({ inserted }) => inserted.map(({ line, text: words }) => `${line} ${words}`)),
  };
}

describe('the lines of a change that is arriving', () => {
  it('go away as soon as all of a line is there', () => {
    assert.deepEqual(drawn('-    let a = w * w;'), { removed: [], inserted: [] });
    assert.deepEqual(drawn('-    let a = w * w;\n-    ret'), { removed: ['1:4-18'], inserted: [] });
    assert.deepEqual(drawn('-    let a = w * w;\n-    return a;\n'), { removed: ['1:4-18', '2:4-13'], inserted: [] });
  });

  it('come one by one, the newest with their number', () => {
    const old = '-    let a = w * w;\n-    return a;\n';
    assert.deepEqual(drawn(`${old}+    w`).inserted, ['2 w']);
    assert.deepEqual(drawn(`${old}+    w * w\n+`).inserted, ['2 w * w  (2 lines)'], 'a blank line is not drawn');
    assert.deepEqual(drawn(`${old}+    w * w\n+    // done`).inserted, ['2 // done  (2 lines)']);
  });

  it('are looked for in the selection first, and elsewhere if they are not there', () => {
    assert.deepEqual(drawn('-    return a;\n', [lines(5, 8)]).removed, ['7:4-13']);
    assert.deepEqual(drawn('-    return a;\n', [lines(0, 0)]).removed, ['2:4-13']);
    assert.deepEqual(drawn('-return a;\n', [lines(5, 8)]).removed, ['7:4-13'], 'with another indentation, the selection comes before an exact line elsewhere');
  });

  it('are found without their indentation, and within a line', () => {
    assert.deepEqual(drawn('-let a = w * w;\n-return a;\n').removed, ['1:4-18', '2:4-13']);
    assert.deepEqual(drawn('-w * w\n').removed, ['1:12-17']);
    assert.deepEqual(drawn('-w * w;\n-    return\n').removed, ['1:12-18', '2:4-10']);
  });

  it('are not guessed', () => {
    assert.deepEqual(drawn('-    let b = 1;\n+    let b = 2;\n'), { removed: [], inserted: [] });
    assert.deepEqual(drawn('-\n+one\n'), { removed: [], inserted: [] }, 'a blank line is everywhere');
    assert.deepEqual(drawn('+one\n+two\n'), { removed: [], inserted: [] });
  });

  it('are taken once: the second edit of a call is behind the first one, or elsewhere', () => {
    assert.deepEqual(drawn('-    return a;\n+    a\n-    return a;\n+    a\n'), { removed: ['2:4-13', '7:4-13'], inserted: ['2 a', '7 a'] });
    assert.deepEqual(drawn('-    let a = w * w;\n+    w\n-    return a;\n+    a\n', [lines(5, 8)]).removed, ['6:4-18', '7:4-13']);
  });

  it('have context, and a location that a model names', () => {
    assert.deepEqual(drawn('@@ fn other\n fn other(w: u32) -> u32 {\n-    let a = w * w;\n+    let a = w;\n     return a;\n'), { removed: ['6:4-18'], inserted: ['6 let a = w;'] });
    assert.deepEqual(drawn('@@ 7#KQX\n+    let a = w;\n'), { removed: [], inserted: ['6 let a = w;'] });
    assert.deepEqual(drawn('@@ return a;\n+    // done\n'), { removed: [], inserted: ['2 // done'] });
    assert.deepEqual(drawn('@@ 700#KQX\n+x\n@@ \n+y\n'), { removed: [], inserted: [] });
  });

  it('take little time, however long the document and the change are', () => {
    const long = Array.from({ length: 20_000 }, (_, line) => `    line ${line}`);
    // The time of this process: others may have the machine meanwhile.
    const began = process.cpuUsage();
    drawn(Array.from({ length: 500 }, (_, line) => `-    lost ${line}\n+    new\n`).join(''), [], long);
    const { user, system } = process.cpuUsage(began);
    assert.ok(user + system < 1_000_000, `${user + system} µs`);
  });
});

describe('the pieces of a change', () => {
  it('are joined by call and file', () => {
    const piece = (text: string, toolCallId = 'c', path = 'a.rs'): Parameters<typeof grown>[1] => ({ toolCallId, path, text });
    const all = [piece('-on'), piece('e\n'), piece('+two', 'd'), piece('+1\n'), piece('-x\n', 'c', 'b.rs')].reduce<ReturnType<typeof grown>>(grown, []);
    assert.deepEqual(all.map(({ toolCallId, path, diff }) => `${toolCallId} ${path} ${diff}`), ['c a.rs -one\n+1\n', 'd a.rs +two', 'c b.rs -x\n']);
  });

  it('are of the document that the model names', () => {
    for (const name of ['src/area.rs', './src/area.rs', '/home/me/src/area.rs', 'area.rs', 'src\\area.rs']) assert.ok(isNamed(name, '/home/me/src/area.rs'), name);
    for (const name of ['rea.rs', 'lib/area.rs', '', './', '/src/area.rs']) assert.ok(!isNamed(name, '/home/me/src/area.rs'), name);
  });
});
