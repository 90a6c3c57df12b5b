// The story in a real VS Code: `npm run e2e -- --vsix FILE [--shots FOLDER] [--theme NAME]`.
//
// It needs code-server, chromium and playwright-core (`CODE_SERVER` names the program), and a VSIX.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import * as steps from './steps.mjs';
import { startWorld } from './world.mjs';

const here = path.resolve(import.meta.dirname, '../..');
const { values } = parseArgs({ options: { vsix: { type: 'string' }, shots: { type: 'string' }, theme: { type: 'string' } } });
const { version } = JSON.parse(fs.readFileSync(path.join(here, 'package.json'), 'utf8'));
const vsix = path.resolve(values.vsix ?? path.join(here, `azimuth-${process.platform}-${process.arch}-${version}.vsix`));
const shots = path.resolve(values.shots ?? path.join(here, '../../tests/artifacts/vscode'));
fs.mkdirSync(shots, { recursive: true });

const onDisk = 'fn first() -> u8 {\n    1\n}\n\nfn second() -> u8 {\n    2\n}\n\nfn third() -> u8 {\n    3\n}\n';
const mine = 'static MINE: u8 = 7; /* \u{1F980} */\n';
const edit = (old_text, new_text) => ({ tool: 'edit_replace_exact', input: { path: 'lib.rs', old_text, new_text } });
const decided = { first: mine + onDisk.replace('    1\n', '    10\n') };
decided.both = decided.first.replace('    3\n', '    30\n');

const world = await startWorld({
  vsix,
  files: { 'lib.rs': onDisk },
  settings: { 'workbench.colorTheme': values.theme ?? 'Default Dark Modern', 'terminal.integrated.gpuAcceleration': 'off', 'editor.accessibilitySupport': 'off', 'files.autoSave': 'off' },
  answers: [
    { text: 'I look first. ', calls: [{ tool: 'read_file', input: { path: 'lib.rs' } }] },
    { calls: [{ tool: 'shell_run', input: { command: 'printf "name? " && read name && echo "hello $name é"' } }] },
    { calls: [edit('    1\n', '    10\n'), edit('    2\n', '    20\n'), edit('    3\n', '    30\n')] },
    { text: 'All three are proposed.' },
  ],
});
const { page, model, project } = world;
let count = 0;
const shot = (name) => page.screenshot({ path: path.join(shots, `${String(++count).padStart(2, '0')}-${name}.png`) });
const told = (what) => console.log(`ok: ${what}`);

try {
  await steps.openFile(world, 'lib.rs');
  await steps.typeAtStart(world, mine);
  assert.equal(await steps.bufferText(world), mine + onDisk);
  assert.equal(await page.locator('.statusbar-item[id$="azimuth.status"]').count(), 0, 'it is activated unasked');

  await steps.openChat(world);
  await steps.status(world, /ready/);
  await shot('chat');
  told('the extension starts when its chat is opened, and not before');

  await steps.ask(world, 'Make the numbers ten times larger.');
  const asked = await steps.answer(world, 'Allow once');
  assert.match(asked, /read name/);
  // The command would see the file without what was typed; that is a question of its own.
  await steps.answer(world, /without/i);
  await steps.openTerminal(world);
  await steps.terminalShows(world, 'name?');
  await page.keyboard.type('Ada');
  await page.keyboard.press('Enter');
  await steps.terminalShows(world, 'hello Ada é');
  await shot('terminal');
  told('a permission is given, the terminal shows the output and takes what is typed');

  await steps.pendingHunks(world, 3);
  assert.equal(fs.readFileSync(path.join(project, 'lib.rs'), 'utf8'), onDisk);
  await steps.openReview(world);
  // No tip of a button in the picture.
  await page.mouse.move(640, 700);
  await page.locator('.monaco-hover:visible').waitFor({ state: 'detached' });
  await shot('review');
  await steps.closeTab(world);
  await steps.pendingHunks(world, 3);
  told('to close the diff decides nothing');

  await steps.openReview(world);
  await steps.chord(world, 'g');
  await steps.pendingHunks(world, 2);
  await steps.chord(world, 'n');
  await steps.chord(world, 'x');
  await steps.pendingHunks(world, 1);
  await shot('one-left');
  await steps.chord(world, 'n');
  await steps.chord(world, 'g');
  await steps.pendingHunks(world, 0);
  // The diff has closed, and its file is in the editor.
  await page.locator('.tab.active[data-resource-name="lib.rs"]').waitFor();
  await page.locator('.editor-instance .monaco-editor.focused').first().waitFor();
  assert.equal(await steps.bufferText(world), decided.both);
  assert.equal(fs.readFileSync(path.join(project, 'lib.rs'), 'utf8'), onDisk, 'the document is the editor’s to save');
  await shot('decided');
  told('1 accepted, 2 rejected, 3 accepted: the buffer holds exactly that');

  await page.keyboard.press('Control+z');
  assert.equal(await steps.bufferText(world), decided.first);
  await page.keyboard.press('Control+z');
  assert.equal(await steps.bufferText(world), mine + onDisk);
  await page.keyboard.press('Control+Shift+z');
  await page.keyboard.press('Control+Shift+z');
  assert.equal(await steps.bufferText(world), decided.both);
  told('each accept is one step of undo');

  const pid = await steps.killServer(world);
  await steps.until('a new server', () => {
    const now = steps.serverPid(world.server.dir);
    return now !== undefined && now !== pid;
  });
  await steps.status(world, /ready.*Make the numbers/s);
  model.add({ text: 'Still here.' });
  const before = model.asked.length;
  await steps.ask(world, 'Are you there?');
  await steps.until('the next request', () => model.asked.length > before);
  const said = JSON.stringify(model.asked.at(-1).messages);
  assert.match(said, /Make the numbers ten times larger/, 'the session goes on');
  await steps.status(world, /ready/);
  told('a killed server is started again, and the session goes on');

  await (await steps.chatFrame(world)).locator('textarea').click();
  await page.keyboard.type('Not sent yet');
  await steps.command(world, 'Developer: Reload Window');
  await page.locator('.monaco-workbench').waitFor({ state: 'detached' });
  const reloaded = await steps.chatFrame(world);
  await reloaded.locator('.entry.answer', { hasText: 'Still here.' }).waitFor();
  assert.equal(await reloaded.locator('textarea').inputValue(), 'Not sent yet');
  await steps.status(world, /ready.*Make the numbers/s);
  await shot('reloaded');
  told('a window that is loaded again shows the same session, with what was typed');

  model.add({ text: 'word ', delayMs: 20, forever: true });
  await steps.ask(world, 'Go on talking.');
  await steps.status(world, /works/);
  const began = Date.now();
  await steps.chord(world, 'q');
  await steps.status(world, /ready/);
  told(`cancel ends the turn (${Date.now() - began} ms, as seen from outside)`);
  await shot('end');
} catch (error) {
  await shot('failure').catch(() => {});
  console.error(`failed; see ${shots}`);
  const logs = fs.readdirSync(world.server.dir, { recursive: true }).filter((name) => /Azimuth\.log$/.test(name));
  for (const name of logs) console.error(fs.readFileSync(path.join(world.server.dir, name), 'utf8').slice(-4_000));
  throw error;
} finally {
  await world.stop();
}
console.log(`screenshots: ${shots}`);
