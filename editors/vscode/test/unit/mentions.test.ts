// The mentions in a prompt, as a user types it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { holdsWord, isCommand, isNamed, linesInWords, mentioning, mentions } from '../../src/chat/mentions';

const range = (first: number, last: number) =>
  ({ start: { line: first - 1, character: 0 }, end: { line: last - 1, character: 2 ** 31 - 1 } });

describe('a mention', () => {
  it('is a path behind an @', () => {
    assert.deepEqual(mentions('@a.rs and (@src/b.rs), or "@c"?'), [{ path: 'a.rs' }, { path: 'src/b.rs' }, { path: 'c' }]);
  });

  it('may name lines', () => {
    assert.deepEqual(mentions('@a.rs:3 @b.rs:10-20, @c.rs:5-2.'), [
      { path: 'a.rs', range: range(3, 3) }, { path: 'b.rs', range: range(10, 20) }, { path: 'c.rs', range: range(5, 5) },
    ]);
  });

  it('is no address and no lone sign', () => {
    assert.deepEqual(mentions('me@host.org @ @. a@b'), []);
  });

  it('of lines does not stand for the whole file, which is mentioned beside it', async () => {
    const uriOf = (path: string) => Promise.resolve(path === 'none.rs' ? undefined : `file:///${path}`);
    const text = { type: 'text', text: 'Compare @a.rs:1-3 with all of @a.rs, not @none.rs; @a.rs:1-3 @a.rs @b.rs' } as const;
    const uri = 'file:///a.rs';
    const attached = { type: 'file', uri: 'file:///b.rs' } as const;
    assert.deepEqual(await mentioning([text, attached], uriOf), [text, attached, { type: 'range', uri, range: range(1, 3) }, { type: 'file', uri }]);
  });

  it('that was completed may hold blanks', () => {
    assert.ok(holdsWord('Read @my notes.md, please', '@my notes.md'));
    assert.ok(!holdsWord('Read @my notes.mdx', '@my notes.md'));
    assert.ok(holdsWord('@a.rsx @a.rs', '@a.rs'));
  });

  it('says what a file is, and not what was selected in it', () => {
    const [uri, lines] = ['file:///a.rs', range(3, 9)];
    const text = 'Look at @a.rs:3-9 and @b.rs';
    assert.ok(isNamed(text, { label: 'b.rs', block: { type: 'file', uri } }));
    assert.ok(isNamed(text, { label: 'a.rs:3-9', block: { type: 'range', uri, range: lines } }));
    assert.ok(!isNamed(text, { label: 'a.rs:3-9', block: { type: 'selection', uri, range: lines, text: 'as it was' } }));
    assert.ok(!isNamed(text, { label: 'a.rs', block: { type: 'file', uri } }));
  });

  it('is none in a command of the user’s own', () => {
    assert.ok(isCommand('!npm i @types/node') && isCommand('!!ls'));
    assert.ok(!isCommand('Oh! @a.rs') && !isCommand('\\!ls'));
  });
});

it('shows the lines of a range, without the one at whose start it ends', () => {
  const of = (start: number, end: number, character: number): string => linesInWords({ start: { line: start, character: 4 }, end: { line: end, character } });
  assert.deepEqual([of(3, 5, 1), of(3, 6, 0), of(3, 3, 9), of(3, 4, 0), of(3, 3, 0)], [':4-6', ':4-6', ':4', ':4', ':4']);
});
