import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCalledAs, named, serves } from '../../src/lang/manifest';

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

test('a source of problems is known for a language by its name, and a spell checker is not', () => {
  const rust = ['rust', 'rust-lang.rust-analyzer', 'rust-analyzer'];
  for (const source of ['rustc', 'rust-analyzer', 'Rust']) assert.ok(isCalledAs(source, rust), source);
  for (const source of ['cSpell', '', 'Code Spell Checker', 'eslint', 'a']) assert.ok(!isCalledAs(source, rust), source);
  assert.ok(isCalledAs('C/C++', ['c', 'ms-vscode.cpptools', 'C/C++']) && isCalledAs('clang-tidy', ['cpp', 'llvm-vs-code-extensions.vscode-clangd']));
  assert.ok(!isCalledAs('Some Language Server', ['css', 'vscode.css-language-features', 'CSS Language Features']), 'words that all of them have');
});
