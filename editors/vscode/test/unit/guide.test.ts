// The guide, against what the extension contributes.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

interface Manifest {
  contributes: {
    commands: { command: string; title: string }[];
    keybindings: { key: string }[];
    configuration: { properties: Record<string, unknown> }[];
  };
}

const { contributes } = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
const guide = readFileSync('../../docs/vscode.md', 'utf8');

test('the guide names every setting', () => {
  const missing = contributes.configuration.flatMap(({ properties }) => Object.keys(properties)).filter((name) => !guide.includes(`\`${name}\``));
  assert.deepEqual(missing, []);
});

test('the guide names every command', () => {
  const commands = guide.slice(guide.indexOf('## Commands'), guide.indexOf('## Settings'));
  assert.deepEqual(contributes.commands.filter(({ title }) => !commands.includes(title)), []);
});

test('the guide names every key', () => {
  const written = (key: string): string => key.split(' ').map((chord) => chord.replace(/(^|\+)[a-z]/g, (letter) => letter.toUpperCase())).join(' ');
  assert.deepEqual(contributes.keybindings.map(({ key }) => written(key)).filter((key) => !guide.includes(`\`${key}\``)), []);
});
