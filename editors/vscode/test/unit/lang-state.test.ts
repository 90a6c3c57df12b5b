import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerInfo, ServerState } from '../../src/generated/protocol';
import { canRestart, iconOf, sizeInWords, stateInWords, wordsOf } from '../../src/lang/state';

const pyright: ServerInfo = { name: 'pyright', root: 'file:///w/app', state: 'ready', version: '1.1.0', memoryBytes: 150 * 1_048_576, program: '/usr/bin/pyright-langserver', why: 'asked by the session' };

test('a language server is told with its version, its state, its memory, its folder and why', () => {
  assert.deepEqual(wordsOf(pyright, 'app'), { label: 'pyright 1.1.0', description: 'ready · 150 MiB', detail: 'app · asked by the session · /usr/bin/pyright-langserver' });
  assert.deepEqual(wordsOf({ name: 'gopls', root: 'file:///w', state: 'missing' }, 'w'), { label: 'gopls', description: 'not found', detail: 'w' });
});

test('each state has its word, and one of a later server is said as it is', () => {
  assert.equal(stateInWords('indexing'), 'reads the project');
  assert.equal(stateInWords('notAllowed'), 'not allowed to start');
  assert.deepEqual([stateInWords('asleep' as ServerState), iconOf('asleep' as ServerState)], ['asleep', 'question']);
});

test('only what is there can be started anew', () => {
  assert.ok(canRestart(pyright) && !canRestart({ ...pyright, state: 'missing' }) && !canRestart({ ...pyright, state: 'notAllowed' }));
});

test('memory is said in the units that people compare', () => {
  assert.deepEqual([100, 700_000_000, 3_000_000_000].map(sizeInWords), ['1 MiB', '668 MiB', '2.8 GiB']);
});
