// A file with what the agent proposes and with what a command changed, and an undo that is overtaken, in a real VS Code:
// no decision reaches what it was not meant for. `node test/e2e/mixed.mjs --vsix FILE [--shots FOLDER] [--theme NAME]`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import * as steps from './steps.mjs';
import { startWorld } from './world.mjs';

const { values } = parseArgs({ options: { vsix: { type: 'string' }, shots: { type: 'string' }, theme: { type: 'string' } } });
const shots = path.resolve(values.shots ?? path.join(import.meta.dirname, '../../../../tests/artifacts/vscode-mixed'));
fs.mkdirSync(shots, { recursive: true });

const before = Array.from({ length: 30 }, (_, index) => `let n${index} = ${index};\n`).join('');
const proposed = (text) => text.replace('n3 = 3;', 'n3 = 33;');
const landed = (text) => text.replace('n20 = 20;', 'n20 = 2020;');
const edit = (file, old_text, new_text) => ({ tool: 'edit_replace_exact', input: { path: file, old_text, new_text } });

const world = await startWorld({
  vsix: path.resolve(values.vsix),
  files: { 'lib.rs': before, 'one.txt': 'one\n', 'two.txt': 'two\n' },
  settings: { 'workbench.colorTheme': values.theme ?? 'Default Dark Modern', 'files.autoSave': 'off', 'editor.accessibilitySupport': 'off', 'editor.minimap.enabled': false, 'comments.openView': 'never' },
  answers: [
    { calls: [{ tool: 'shell_run', input: { command: 'sed -i "s/n20 = 20/n20 = 2020/" lib.rs; echo made > made.txt' } }] },
    { calls: [edit('lib.rs', 'let n3 = 3;\n', 'let n3 = 33;\n')] },
    { text: 'Done.' },
  ],
});
const { page, model, project } = world;
await page.setViewportSize({ width: 1600, height: 900 });
let count = 0;
const shot = (name) => page.screenshot({ path: path.join(shots, `${String(++count).padStart(2, '0')}-${name}.png`) });
const told = (what) => console.log(`ok: ${what}`);
const at = (name) => path.join(project, name);
const read = (name) => (fs.existsSync(at(name)) ? fs.readFileSync(at(name), 'utf8') : undefined);
const review = page.locator('.pane', { has: page.locator('.pane-header[aria-label^="Review"]') });
const row = (name, words) => review.locator('.monaco-list-row').filter({ hasText: name }).filter({ hasText: words }).first();
const titleBar = page.locator('.editor-group-container.active .title .editor-actions');
/** Waits for a message of VS Code, and closes it. */
const message = async (text) => {
  await page.locator('.notification-toast', { hasText: text }).first().waitFor();
  await steps.command(world, 'Notifications: Clear All Notifications');
  await page.locator('.notification-toast').waitFor({ state: 'detached' });
};
/** Waits until lib.rs is this in its editor. A hunk is decided a moment before its text is there. */
const holds = async (text) => {
  let held;
  await steps.until('the text of lib.rs', async () => {
    await steps.openFile(world, 'lib.rs');
    held = await steps.bufferText(world);
    return held === text;
  }, 30_000, async () => `it is ${JSON.stringify(held)}`);
};
const pick = page.locator('.quick-input-widget:visible');
const item = (text) => pick.locator('.monaco-list-row', { hasText: text }).first();
/** The files of the list, each with whether it is marked. */
const marks = () => pick.locator('.monaco-list-row').evaluateAll((rows) => rows.map((one) => [one.querySelector('.label-name').textContent, one.getAttribute('aria-checked') === 'true']));

try {
  await steps.openFile(world, 'lib.rs');
  const frame = await steps.openChat(world);
  await steps.status(world, /ready/);
  await steps.ask(world, 'Both ways.');
  await steps.answer(world, 'Allow once');
  await steps.pendingHunks(world, 1);
  const byCommand = (words) => frame.locator('.changes .row.head', { hasText: words }).waitFor();
  await byCommand('2 changes by commands in 2 files');

  await steps.openFile(world, 'lib.rs');
  await page.keyboard.press('Control+Home');
  for (let line = 0; line < 3; line += 1) await page.keyboard.press('ArrowDown');
  await steps.azimuth(world, 'Take Hunk Back');
  await message('no hunk from a command to keep or take back');
  await steps.pendingHunks(world, 1);
  await byCommand('2 changes by commands in 2 files');
  await shot('both');
  told('at a proposed hunk nothing of a command is taken back, and the hunk waits on');

  await row('lib.rs', '1 pending').filter({ hasNotText: 'by a command' }).click();
  await page.locator('.tab.active[aria-label*="proposed changes"]').waitFor();
  // A click into a side that is not drawn yet would scroll the whole window to it.
  await page.locator('.monaco-diff-editor .editor.original .view-overlays .line-delete').first().waitFor();
  await page.locator('.monaco-diff-editor .editor.original .view-lines').click({ position: { x: 200, y: 10 } });
  await titleBar.getByRole('button', { name: 'Accept Hunk' }).waitFor();
  assert.equal(await titleBar.getByRole('button', { name: 'Keep Hunk' }).count(), 0);
  await shot('left-side');
  told('the diff of a proposal offers its own decisions, with the keyboard on its left side too');

  await row('lib.rs', 'by a command').click();
  await page.locator('.tab.active[aria-label*="changed by a command"]').waitFor();
  await titleBar.getByRole('button', { name: 'Keep Hunk' }).waitFor();
  await page.locator('.monaco-diff-editor .editor.modified .monaco-editor.focused').first().waitFor();
  await page.keyboard.press('Control+Home');
  await steps.azimuth(world, 'Reject All Hunks in File');
  await message('The file in the editor has no hunk that waits for a decision');
  await steps.azimuth(world, 'Take All Hunks in File Back');
  await byCommand('1 change by commands in 1 file');
  await steps.pendingHunks(world, 1);
  await page.locator('.monaco-diff-editor').waitFor({ state: 'detached' });
  await holds(before);
  await shot('taken-back');
  told('in the diff of what a command changed, with the cursor elsewhere, just that is taken back');

  await steps.azimuth(world, 'Accept All Hunks in File');
  await steps.pendingHunks(world, 0);
  await byCommand('1 change by commands in 1 file');
  await holds(proposed(before));
  await page.keyboard.press('Control+s');
  await steps.until('lib.rs on disk', () => read('lib.rs') === proposed(before));
  told('what was proposed is accepted, and what a command made stays undecided');

  model.add({ calls: [{ tool: 'shell_run', input: { command: 'sed -i "s/n20 = 20/n20 = 2020/" lib.rs' } }] }, { text: 'Done.' });
  await steps.ask(world, 'Once more by a command.');
  await steps.answer(world, 'Allow once');
  await byCommand('2 changes by commands in 2 files');
  await steps.status(world, /ready/);
  const dialog = page.locator('.monaco-dialog-box', { hasText: 'Take back what commands changed?' });
  await frame.getByRole('button', { name: 'Take back all', exact: true }).click();
  await dialog.waitFor();
  assert.match(await dialog.innerText(), /It writes 1 file and deletes 1 file\./);
  await shot('asked');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  assert.deepEqual([read('lib.rs'), read('made.txt')], [landed(proposed(before)), 'made\n']);
  await frame.getByRole('button', { name: 'Take back all', exact: true }).click();
  await dialog.getByRole('button', { name: 'Take Back' }).click();
  await steps.until('the end of the new file', () => read('made.txt') === undefined);
  await frame.locator('.changes .row.head').waitFor({ state: 'detached' });
  told('taking several files back asks first, and says what it would write and delete');

  // An undo that a turn overtakes.
  model.add({ calls: [edit('one.txt', 'one\n', 'eins\n'), edit('two.txt', 'two\n', 'zwei\n')] }, { text: 'Proposed.' });
  await steps.ask(world, 'Translate them.');
  await steps.pendingHunks(world, 2);
  await frame.getByRole('button', { name: 'Accept all', exact: true }).click();
  await steps.pendingHunks(world, 0);
  await steps.until('both files', () => read('one.txt') === 'eins\n' && read('two.txt') === 'zwei\n');
  const undo = frame.locator('.entry.prompt', { hasText: 'Translate them.' }).getByRole('button', { name: 'Undo', exact: true });
  let goOn;
  model.add({ text: 'I think. ', until: new Promise((resolve) => (goOn = resolve)) });
  await steps.ask(world, 'Think.');
  await steps.status(world, /works/);
  await undo.click();
  await page.locator('.notification-toast', { hasText: 'A turn is running and may change these files.' }).waitFor();
  assert.equal(await pick.count(), 0, 'no list is shown');
  await message('A turn is running');
  goOn();
  await steps.status(world, /ready/);
  told('while a turn runs, an undo is refused with the reason');

  await undo.click();
  await item('two.txt').waitFor();
  model.add({ text: 'Hello. ', until: new Promise((resolve) => (goOn = resolve)) });
  await frame.locator('textarea').click();
  await page.keyboard.type('Hello.');
  await page.keyboard.press('Enter');
  await pick.waitFor({ state: 'hidden' });
  await message('a turn has begun. Nothing was undone');
  goOn();
  await steps.status(world, /ready/);
  assert.deepEqual([read('one.txt'), read('two.txt')], ['eins\n', 'zwei\n']);
  told('a list that is open when a turn begins closes, says so, and nothing is done');

  await undo.click();
  await item('two.txt').waitFor();
  assert.deepEqual(await marks(), [['one.txt', true], ['two.txt', true]]);
  for (const name of ['one.txt', 'two.txt']) fs.writeFileSync(at(name), `mine: ${name}\n`);
  await item('two.txt').locator('.label-name').hover();
  await page.keyboard.press('Enter');
  await pick.locator('.quick-input-title', { hasText: 'the files have changed, look again' }).waitFor();
  await steps.until('the list anew', async () => JSON.stringify(await marks()) === JSON.stringify([['one.txt', false], ['two.txt', false]]));
  assert.match(await item('one.txt').innerText(), /marking it overwrites what was changed/);
  assert.deepEqual([read('one.txt'), read('two.txt')], ['mine: one.txt\n', 'mine: two.txt\n']);
  await shot('anew');
  told('files that changed after they were listed are listed anew, and nothing is done before they are agreed to');

  await pick.getByRole('checkbox', { name: 'Toggle all checkboxes' }).click();
  await item('one.txt').click();
  await steps.until('one mark', async () => JSON.stringify(await marks()) === JSON.stringify([['one.txt', true], ['two.txt', false]]));
  await pick.locator('input[placeholder^="Enter: undo the changes in 1 file."]').waitFor();
  await shot('one-marked');
  await page.keyboard.press('Enter');
  await frame.locator('.entry.files', { hasText: 'Undone: 1 file. Left as it is: 1.' }).waitFor();
  assert.deepEqual([read('one.txt'), read('two.txt')], ['one\n', 'mine: two.txt\n']);
  told('the box that marks all marks none of them; the one that is marked is written over, the other stays');
} catch (error) {
  await shot('failure').catch(() => {});
  throw error;
} finally {
  await world.stop();
}
console.log(`screenshots: ${shots}`);
