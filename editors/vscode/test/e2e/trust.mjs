// A workspace that nobody trusts yet, in a real VS Code: Azimuth only looks and answers, and the workspace decides nothing.
// `node test/e2e/trust.mjs --vsix FILE [--shots FOLDER] [--theme NAME]`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import * as steps from './steps.mjs';
import { startWorld } from './world.mjs';

const { values } = parseArgs({ options: { vsix: { type: 'string' }, shots: { type: 'string' }, theme: { type: 'string' } } });
const shots = path.resolve(values.shots ?? path.join(import.meta.dirname, '../../../../tests/artifacts/vscode-trust'));
fs.mkdirSync(shots, { recursive: true });

const shell = (command) => ({ tool: 'shell_run', input: { command } });
let theirs;
const world = await startWorld({
  vsix: path.resolve(values.vsix),
  trust: true,
  models: ['model-1', 'model-2'],
  settings: { 'workbench.colorTheme': values.theme ?? 'Default Dark Modern', 'files.autoSave': 'off', 'terminal.integrated.gpuAcceleration': 'off' },
  files: {
    'lib.rs': 'fn first() -> u8 {\n    1\n}\n',
    '.azimuth/config.toml': 'accept_edits = true\nmodel = "test/model-2"\n[permissions]\nallow = ["Shell(touch ran)"]\n',
  },
  prepare: async ({ program, project }) => {
    // A server of the workspace's own: the real one, but that it leaves a trace.
    theirs = path.join(project, 'azimuth');
    fs.writeFileSync(theirs, `#!/bin/sh\ntouch '${theirs}-ran'\nexec '${program}' "$@"\n`, { mode: 0o755 });
    fs.mkdirSync(path.join(project, '.vscode'));
    fs.writeFileSync(path.join(project, '.vscode/settings.json'), JSON.stringify({
      'azimuth.server.path': theirs, 'azimuth.model': 'test/model-2', 'azimuth.acceptEdits': true, 'azimuth.permissions.allow': ['Shell(*)'],
    }));
  },
});
const { page, model, project } = world;
let count = 0;
const shot = (name) => page.screenshot({ path: path.join(shots, `${String(++count).padStart(2, '0')}-${name}.png`) });
const told = (what) => console.log(`ok: ${what}`);
const made = (name) => fs.existsSync(path.join(project, name));

try {
  await page.getByRole('button', { name: /No, I don.t trust/ }).click();
  await page.locator('.statusbar-item', { hasText: 'Restricted Mode' }).waitFor();
  const frame = await steps.openChat(world);
  await steps.status(world, /ready/);
  await frame.locator('.banner', { hasText: 'not trusted' }).waitFor();
  const mode = frame.locator('.status button', { hasText: 'mode: ask' });
  assert.ok(await mode.isDisabled(), 'nothing else can be chosen');
  await steps.azimuth(world, 'Select Mode…');
  const refusal = page.locator('.notification-toast', { hasText: 'In an untrusted workspace Azimuth only looks and answers' });
  await refusal.waitFor();
  await shot('untrusted');
  await refusal.getByRole('button', { name: 'Clear Notification' }).click();
  told('the chat opens in a workspace that is not trusted, in the mode "ask", which cannot be changed');

  model.add(
    { calls: [shell('touch ran'), { tool: 'edit_create_file', input: { path: 'made.md', content: 'made\n' } }, { tool: 'read_file', input: { path: 'lib.rs' } }] },
    { text: 'I only looked.' },
  );
  await steps.ask(world, 'Change something.');
  await frame.locator('.entry.end').waitFor();
  await frame.locator('.entry.answer', { hasText: 'I only looked.' }).waitFor();
  const [asked, answered] = model.asked;
  assert.equal(asked.model, 'model-1', 'neither the settings nor the file of the workspace choose the model');
  assert.deepEqual(asked.tools.map(({ function: { name } }) => name).filter((name) => /shell_(run|start|write|kill)|edit/.test(name)), []);
  assert.ok(JSON.stringify(answered.messages).includes('fn first()'), 'it looks');
  assert.equal(await frame.locator('.entry.question, .changes .row').count(), 0, 'nothing is asked, and nothing is proposed');
  assert.ok(!made('ran') && !made('made.md'), 'nothing of it was done');
  assert.ok(!made('azimuth-ran'), 'the server of the workspace was not started');
  await shot('looked');
  told('it looks and answers; nothing is changed, run or read of the settings');

  // A prompt that cannot be sent is not lost.
  const gate = Promise.withResolvers();
  model.add({ text: 'I looked again.', until: gate.promise });
  await steps.openFile(world, 'lib.rs');
  await steps.codeAction(world, 'Explain `first` with Azimuth');
  await frame.locator('.bubble', { hasText: 'Explain `first`' }).waitFor();
  await steps.openFile(world, 'lib.rs');
  await steps.codeAction(world, 'Explain `first` with Azimuth');
  await frame.locator('form.prompt .problem', { hasText: 'nothing can wait here' }).waitFor();
  assert.match(await frame.locator('textarea').inputValue(), /^Explain `first`/);
  await frame.locator('form.prompt .chip', { hasText: 'lib.rs:1-3' }).waitFor();
  await shot('not-sent');
  gate.resolve();
  await frame.locator('.entry.answer', { hasText: 'I looked again.' }).waitFor();
  await steps.status(world, /ready/);
  await frame.locator('textarea').fill('');
  await frame.locator('form.prompt .chip button').click();
  told('a code action that cannot wait for the turn stands in the prompt, with the reason');

  await steps.command(world, 'Workspaces: Manage Workspace Trust');
  await page.locator('.workspace-trust-editor').getByRole('button', { name: 'Trust', exact: true }).first().click();
  await frame.locator('.banner', { hasText: 'not trusted' }).waitFor({ state: 'detached' });
  await steps.until('the choice of a mode', () => frame.locator('.status button', { hasText: 'mode:' }).isEnabled());
  await shot('trusted');
  await steps.choose(world, 'Select Mode…', 'Everything, within the permissions');
  await frame.locator('.status button', { hasText: 'mode: agent' }).waitFor();
  model.add(
    { calls: [shell('touch ran'), shell('touch more'), { tool: 'edit_create_file', input: { path: 'made.md', content: 'made\n' } }] },
    { text: 'Proposed.' },
  );
  await steps.ask(world, 'Change something now.');
  assert.match(await steps.answer(world, 'Allow once'), /touch more/, 'its file allows what it says, and its settings allow nothing');
  await steps.pendingHunks(world, 1);
  assert.ok(made('ran') && made('more') && !made('made.md'), 'a workspace does not accept its own edits');
  await steps.azimuth(world, 'Accept All Hunks');
  await steps.until('the new file', () => made('made.md'));
  assert.ok(!made('azimuth-ran'), 'the server is never a workspace’s to choose');
  told('once it is trusted, all works');

  model.add({ text: 'Hello.' });
  await steps.azimuth(world, 'New Session');
  await frame.locator('.header', { hasText: 'New conversation' }).waitFor();
  const before = model.asked.length;
  await steps.ask(world, 'Who are you?');
  await steps.until('the next request', () => model.asked.length > before);
  assert.equal(model.asked.at(-1).model, 'model-2');
  told('the settings that a workspace may bring along count once it is trusted');
} catch (error) {
  await shot('failure').catch(() => {});
  throw error;
} finally {
  await world.stop();
}
console.log(`screenshots: ${shots}`);
