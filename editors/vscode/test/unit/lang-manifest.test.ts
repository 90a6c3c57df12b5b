import assert from 'node:assert/strict';
import { test } from 'node:test';
import { named, serves } from '../../src/lang/manifest';

test('an extension serves the languages that wake it and those that it brings, if it has code', () => {
  const typescript = { main: './dist/extension', activationEvents: ['onLanguage:typescript', 'onCommand:x'], contributes: { languages: [{ id: 'jsonc' }] } };
  assert.ok(serves(typescript, 'typescript') && serves(typescript, 'jsonc') && serves(typescript));
  assert.ok(!serves(typescript, 'type') && !serves(typescript, 'rust'));
  assert.ok(!serves({ contributes: { languages: [{ id: 'rust' }] } }, 'rust'), 'a grammar');
  assert.ok(!serves({ main: './main', activationEvents: ['*', 'onLanguage'] }, 'rust'), 'one for whatever comes');
});

test('a manifest may be anything', () => {
  for (const odd of [undefined, null, 'text', { main: './m', activationEvents: 'onLanguage:a', contributes: [] }, { main: './m', activationEvents: [7, null], contributes: { languages: [null, 'a', {}] } }]) {
    assert.ok(!serves(odd, 'a'));
    assert.deepEqual(named('a.b', odd), { name: 'a.b' });
  }
});

test('it is named as people know it', () => {
  assert.deepEqual(named('rust-lang.rust-analyzer', { displayName: 'rust-analyzer', version: '1.2.3' }), { name: 'rust-analyzer', version: '1.2.3' });
  assert.deepEqual(named('a.b', { displayName: '%displayName%' }), { name: 'a.b' });
});
