import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { additive, free, trusted } from '../../src/generated/settings';
import { initializationOptions as optionsOf, settings, type Inspect, type Inspected } from '../../src/server/settings';

/** The options in a workspace that is trusted, but for that. */
function initializationOptions(inspect: Inspect): Record<string, unknown> {
  const { workspaceTrust, ...rest } = optionsOf(inspect, true);
  assert.equal(workspaceTrust, 'trusted');
  return rest;
}

const inspect = (values: Record<string, Inspected>) => (name: string): Inspected | undefined => values[name];

test('what may allow something comes from the user alone', () => {
  const hostile = Object.fromEntries(trusted.map((name) => [name, { workspaceValue: ['Shell'], folderValues: [['Shell'], ['Shell']] }]));
  assert.deepEqual(initializationOptions(inspect(hostile)), {});
  assert.deepEqual(settings(inspect(hostile)), {});
});

test('a workspace that is not trusted in the editor is not trusted by the server', () => {
  assert.deepEqual(optionsOf(inspect({}), false), { workspaceTrust: 'restricted' });
});

test('the user’s own settings are the initialization options', () => {
  const own = { model: { globalValue: 'a/b' }, acceptEdits: { globalValue: true }, 'permissions.allow': { globalValue: ['Edit'] }, caFile: { globalValue: '' } };
  assert.deepEqual(initializationOptions(inspect(own)), { model: 'a/b', acceptEdits: true, permissions: { allow: ['Edit'] } });
});

test('a workspace may choose how edits are formatted, and not what is reviewed', () => {
  const chosen = {
    formatEdits: { globalValue: 'file', workspaceValue: 'off' }, saveEdits: { globalValue: true }, fileBlocks: { workspaceValue: false },
    reviewCommands: { globalValue: true, workspaceValue: false },
  };
  assert.deepEqual(settings(inspect(chosen)), { formatEdits: 'off', saveEdits: true, fileBlocks: false });
  assert.deepEqual(initializationOptions(inspect(chosen)), { formatEdits: 'file', saveEdits: true, reviewCommands: true });
});

test('a workspace and each of its folders add to what is denied, and take nothing away', () => {
  const sent = settings(inspect({ 'permissions.deny': { globalValue: ['Shell(a)'], workspaceValue: [], folderValues: [['Shell(b)', 'Shell(a)'], ['Shell(c)']] } }));
  assert.deepEqual(sent, { permissions: { deny: ['Shell(a)', 'Shell(b)', 'Shell(c)'] } });
});

test('what is no list goes to the server, which says so', () => {
  assert.deepEqual(settings(inspect({ 'permissions.ask': { globalValue: ['Shell'], workspaceValue: 'Edit' } })), { permissions: { ask: 'Edit' } });
});

test('every setting that may allow something is declared for the machine, and restricted', () => {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
    contributes: { configuration: { properties: Record<string, { scope: string }> }[] };
    capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } };
  };
  const declared = Object.assign({}, ...manifest.contributes.configuration.map((one) => one.properties)) as Record<string, { scope: string }>;
  for (const name of [...trusted, 'server.path'].map((one) => `azimuth.${one}`)) {
    assert.equal(declared[name]?.scope, 'machine', name);
    assert.ok(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations.includes(name), name);
  }
});

test('each setting that a user writes is sent by its name', () => {
  for (const name of [...free, ...trusted, ...additive]) {
    const value = name.startsWith('permissions.') ? ['Shell'] : 'a';
    const nested = name.split('.').reduceRight<unknown>((inner, part) => ({ [part]: inner }), value);
    assert.deepEqual(initializationOptions(inspect({ [name]: { globalValue: value } })), nested);
  }
  const late = { checkEdits: { globalValue: 9 }, mendErrors: { globalValue: 2 }, codeActions: { globalValue: false }, chatAnswers: { globalValue: 'live' } };
  assert.deepEqual(settings(inspect(late)), { checkEdits: 9, mendErrors: 2, codeActions: false, chatAnswers: 'live' });
  assert.deepEqual(initializationOptions(inspect({ passEnvironment: { globalValue: ['GITHUB_TOKEN'] } })), { passEnvironment: ['GITHUB_TOKEN'] });
});
