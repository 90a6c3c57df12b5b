// The first start and all around the chat, in a real VS Code: the walkthrough, a key, models, sessions, edits that are
// accepted as they come, notices, the log, and servers that do not fit.
// `node test/e2e/start.mjs --vsix FILE [--shots FOLDER] [--theme NAME]`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import * as steps from './steps.mjs';
import { startWorld } from './world.mjs';

const { values } = parseArgs({ options: { vsix: { type: 'string' }, shots: { type: 'string' }, theme: { type: 'string' } } });
const shots = path.resolve(values.shots ?? path.join(import.meta.dirname, '../../../../tests/artifacts/vscode-start'));
fs.mkdirSync(shots, { recursive: true });

const KEY = 'sk-a-key-that-nobody-may-see';
const before = 'fn first() -> u8 {\n    1\n}\n';
let program;
const world = await startWorld({
  vsix: path.resolve(values.vsix),
  files: { 'lib.rs': before },
  key: 'key_env = "TEST_API_KEY"',
  models: ['model-1', 'model-2'],
  described: 'compat = { thinking = "reasoning_effort" }\n[[providers.test.model]]\nid = "model-2"\nthinking = "effort"\n',
  settings: { 'workbench.colorTheme': values.theme ?? 'Default Dark Modern', 'files.autoSave': 'off' },
  prepare: async (place) => ({ program } = place),
});
const { page, model, server } = world;
let count = 0;
const shot = (name) => page.screenshot({ path: path.join(shots, `${String(++count).padStart(2, '0')}-${name}.png`) });
const told = (what) => console.log(`ok: ${what}`);
const row = (text) => page.locator('.quick-input-list .monaco-list-row').filter({ hasText: text }).first();
// A step of the walkthrough takes the keyboard when it is done; what is pressed here goes into the input all the same.
const input = page.locator('.quick-input-widget:visible input.input');
const toast = (text) => page.locator('.notification-toast .notification-list-item', { hasText: text });

try {
  await steps.azimuth(world, 'Open Walkthrough');
  await page.locator('.getting-started-step', { hasText: 'Give it a model' }).first().waitFor();
  await shot('walkthrough');
  await page.locator('.getting-started-step button, .getting-started-step a', { hasText: 'Set API Key' }).first().click();
  // The list is longer than its window.
  await row('Anthropic').waitFor();
  await input.fill('mine');
  await row('Another provider').click();
  await input.fill('PATH');
  await input.press('Enter');
  await page.locator('.quick-input-message', { hasText: '_KEY or _TOKEN' }).waitFor();
  await input.fill('TEST_API_KEY');
  await input.press('Enter');
  await page.locator('.quick-input-message', { hasText: 'secret storage' }).waitFor();
  assert.equal(await input.getAttribute('type'), 'password', 'nobody looks on');
  await input.fill(KEY);
  await shot('key');
  await input.press('Enter');
  await steps.status(world, /ready/);
  await steps.until('the key in the environment of the server', () => {
    const pid = steps.serverPid(server.dir);
    return pid !== undefined && fs.readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`TEST_API_KEY=${KEY}`);
  });
  told('the walkthrough asks for a key, and the server gets it');

  const frame = await steps.openChat(world);
  await steps.choose(world, 'Select Model…', 'model-2');
  await frame.locator('.status button', { hasText: 'test/model-2' }).waitFor();
  await frame.locator('.beginnings', { hasText: 'Model: test/model-2' }).waitFor();
  await frame.locator('.status button', { hasText: 'thinking: by itself' }).waitFor();
  await steps.choose(world, 'Select Thinking Level…', /^medium/);
  await frame.locator('.status button', { hasText: 'thinking: medium' }).waitFor();
  await steps.azimuth(world, 'Next Thinking Level');
  await frame.locator('.status button', { hasText: 'thinking: high' }).waitFor();
  await shot('thinking');

  // A model for plans, which is written into the configuration.
  const pick = async (title, text) => {
    await page.locator('.quick-input-widget:visible .quick-input-title', { hasText: title }).waitFor();
    await page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first().click();
  };
  await steps.choose(world, 'Select Model…', 'other work');
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'no model of its own' }).first().waitFor();
  await shot('roles');
  await pick('models for different work', 'plan');
  await pick('model for', 'model-1');
  await shot('keep');
  await pick('for how long', 'Keep as default');
  await page.locator('.notification-toast .notification-list-item', { hasText: 'plan' }).first().waitFor();
  await shot('kept');
  assert.match(fs.readFileSync(path.join(world.home, 'config.toml'), 'utf8'), /^plan_model = "test\/model-1"$/m);
  await steps.command(world, 'Notifications: Clear All Notifications');
  told('a model for plans is picked, and kept in the configuration');

  model.add({ text: 'Hello.' });
  await steps.ask(world, 'Say hello.');
  await frame.locator('.entry.end').waitFor();
  assert.deepEqual([model.asked[0].model, model.asked[0].reasoning_effort, model.keys[0]], ['model-2', 'high', `Bearer ${KEY}`]);
  await steps.status(world, /model-2/);
  const files = [server.dir, world.home].flatMap((folder) => fs.readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(log|json|jsonc|toml|db|db-wal|sqlite.*)$/.test(entry.name)).map((entry) => path.join(entry.parentPath, entry.name)));
  assert.ok(files.some((name) => /Azimuth\.log$/.test(name)) && files.some((name) => /settings\.json$/.test(name)));
  assert.deepEqual(files.filter((name) => fs.readFileSync(name).includes(KEY)), [], 'the key stands in no setting, log or session');
  told('a model is chosen, asked with the key, and the key stands in no file');

  await steps.openFile(world, 'lib.rs');
  const auto = page.locator('.statusbar-item[id$="azimuth.auto"]');
  assert.equal(await auto.isVisible(), false);
  await steps.choose(world, 'Accept Edits Automatically…', 'Accept edits in this session');
  await auto.getByText('accepts edits', { exact: true }).waitFor();
  await frame.getByRole('button', { name: 'edits: accepted, in this session' }).waitFor();
  const edit = { tool: 'edit_replace_exact', input: { path: 'lib.rs', old_text: '    1\n', new_text: '    10\n' } };
  model.add({ calls: [edit] }, { text: 'Changed.' });
  await steps.ask(world, 'Make it ten.');
  await frame.locator('.entry.end').nth(1).waitFor();
  await steps.openFile(world, 'lib.rs');
  assert.equal(await steps.bufferText(world), before.replace('1\n', '10\n'));
  await page.locator('.pane', { has: page.locator('.pane-header[aria-label^="Review"]') }).locator('.monaco-list-row', { hasText: 'decided' }).waitFor();
  await shot('accepted-by-itself');
  await page.keyboard.press('Control+z');
  assert.equal(await steps.bufferText(world), before);
  told('edits are accepted automatically, listed, and undone');

  // The switch, by the keyboard: in the chat, and in the list that it opens.
  await frame.getByRole('button', { name: 'edits: accepted, in this session' }).focus();
  await page.keyboard.press('Enter');
  await row('Review edits').waitFor();
  await shot('edits');
  await page.keyboard.press('Enter');
  await frame.getByRole('button', { name: 'edits: reviewed' }).waitFor();
  await auto.waitFor({ state: 'hidden' });
  told('they are reviewed again once the switch says so');

  await steps.choose(world, 'Accept Edits Automatically…', 'Accept edits in this project');
  await auto.getByText('accepts edits in project').waitFor();
  await frame.getByText('Edits are accepted automatically in every session of this project from here on.').waitFor();
  await shot('edits-project');
  await steps.azimuth(world, 'New Session');
  await frame.locator('.header', { hasText: 'New conversation' }).waitFor();
  await frame.getByRole('button', { name: 'edits: accepted, in this project' }).click();
  await row('Review edits in this project again').click();
  await frame.getByRole('button', { name: 'edits: reviewed' }).waitFor();
  await auto.waitFor({ state: 'hidden' });
  await steps.choose(world, 'Open Session…', 'Say hello');
  await frame.getByRole('button', { name: 'edits: reviewed' }).waitFor();
  told('in a project they are accepted in each of its sessions, until one of them says otherwise');

  // The window looks away, as when another program is in front.
  await page.evaluate(() => {
    document.hasFocus = () => false;
    window.dispatchEvent(new Event('blur'));
  });
  model.add({ text: 'word '.repeat(60), delayMs: 20 });
  await steps.ask(world, 'Take your time.');
  await page.evaluate(() => window.dispatchEvent(new Event('blur')));
  await toast('done.').waitFor();
  await page.locator('.notification-toast.notification-fade-in-done').first().waitFor();
  await shot('notice');
  await page.evaluate(() => {
    delete document.hasFocus;
    window.dispatchEvent(new Event('focus'));
  });
  told('a turn that ends while the window has no focus says so');

  await steps.azimuth(world, 'New Session');
  await frame.locator('.header', { hasText: 'New conversation' }).waitFor();
  assert.equal(await frame.locator('.entry').count(), 0);
  await steps.azimuth(world, 'Open Session…');
  await row('Say hello').waitFor();
  await shot('sessions');
  await row('Say hello').click();
  await frame.locator('.entry.answer', { hasText: 'Hello.' }).waitFor();
  await steps.azimuth(world, 'Rename Session…');
  await input.fill('A friendly talk');
  await input.press('Enter');
  await frame.locator('.header', { hasText: 'A friendly talk' }).waitFor();
  told('sessions are listed, opened and renamed');

  await steps.azimuth(world, 'Show Log');
  await page.locator('.tab.active', { hasText: '.log' }).waitFor();
  await steps.azimuth(world, 'Show Output');
  await page.locator('.pane-body.output-view, .output-view-container, .output-view', { hasText: /running,\s*version/ }).first().waitFor();
  await shot('log');
  told('the log and the output are shown');

  // Servers that do not fit: none at all, and one of another version (the real one, which says so).
  const machine = path.join(server.dir, 'data/Machine/settings.json');
  const useServer = (file) => {
    fs.mkdirSync(path.dirname(machine), { recursive: true });
    fs.writeFileSync(machine, JSON.stringify({ 'azimuth.server.path': file }));
  };
  useServer('/nowhere/azimuth');
  await toast('names /nowhere/azimuth, which is not a program that can be run').waitFor();
  await frame.locator('.banner', { hasText: '/nowhere/azimuth' }).waitFor();
  assert.equal(await toast('didChangeConfiguration').count(), 0, 'what has ended is told nothing');
  await shot('no-server');
  const old = path.join(world.home, 'azimuth');
  fs.writeFileSync(old, `#!${process.execPath}\n${speaksOfVersion(program, '0.0.1')}`, { mode: 0o755 });
  useServer(old);
  await toast(/has the version 0\.0\.1, and this extension needs 0\.1\.x/).waitFor();
  await shot('old-server');
  useServer('');
  await steps.status(world, /ready/);
  await steps.until('no word of a server that is not there', async () => (await frame.locator('.banner').textContent()) === '');
  told('a server that is not there, or of another version, is refused with what to do');
} catch (error) {
  await shot('failure').catch(() => {});
  throw error;
} finally {
  await world.stop();
}
console.log(`screenshots: ${shots}`);

/** A program that is the server, but for the version that it says it has. */
function speaksOfVersion(file, version) {
  return `
const { spawn } = require('node:child_process');
const server = spawn(${JSON.stringify(file)}, process.argv.slice(2), { stdio: ['pipe', 'pipe', 'inherit'] });
process.stdin.pipe(server.stdin);
// Of the same length, so that the lengths of messages stay.
server.stdout.on('data', (bytes) => process.stdout.write(bytes.toString('latin1').replace(/"version":"\\d+\\.\\d+\\.\\d+"/g, '"version":"${version}"'), 'latin1'));
server.on('exit', (code) => process.exit(code ?? 0));
`;
}
