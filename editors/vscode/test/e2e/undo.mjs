// Undo and redo of whole turns in a real VS Code, from the message in the chat and from the palette.
// `node test/e2e/undo.mjs --vsix FILE [--shots FOLDER] [--theme NAME]`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import * as steps from './steps.mjs';
import { startWorld } from './world.mjs';

const { values } = parseArgs({ options: { vsix: { type: 'string' }, shots: { type: 'string' }, theme: { type: 'string' } } });
const shots = path.resolve(values.shots ?? path.join(import.meta.dirname, '../../../../tests/artifacts/vscode-undo'));
fs.mkdirSync(shots, { recursive: true });

const before = 'fn before() {}\n\nfn middle() {}\n\nfn end() {}\n';
const edited = before.replace('before', 'after');
const names = ['one.rs', 'two.rs', 'three.rs'];
const edit = (file) => ({ tool: 'edit_replace_exact', input: { path: file, old_text: 'fn before() {}\n', new_text: 'fn after() {}\n' } });

const world = await startWorld({
  vsix: path.resolve(values.vsix),
  files: { 'one.rs': before, 'two.rs': before, 'three.rs': before, 'gone.rs': before },
  settings: { 'workbench.colorTheme': values.theme ?? 'Default Dark Modern', 'files.autoSave': 'off', 'editor.accessibilitySupport': 'off' },
  answers: [
    { calls: [...names.map(edit), { tool: 'edit_create_file', input: { path: 'new.rs', content: 'fn new() {}\n' } }, { tool: 'edit_delete_file', input: { path: 'gone.rs' } }] },
    { text: 'Five files are proposed.' },
  ],
});
const { page, model, project } = world;
await page.setViewportSize({ width: 1600, height: 900 });
let count = 0;
const shot = (name) => page.screenshot({ path: path.join(shots, `${String(++count).padStart(2, '0')}-${name}.png`) });
const told = (what) => console.log(`ok: ${what}`);
const at = (name) => path.join(project, name);
const read = (name) => (fs.existsSync(at(name)) ? fs.readFileSync(at(name), 'utf8') : undefined);
const onDisk = () => ['gone.rs', 'new.rs', 'three.rs', 'two.rs'].map(read);
const pick = page.locator('.quick-input-widget:visible');
const row = (text) => pick.locator('.monaco-list-row', { hasText: text }).first();
const box = (text) => row(text).locator('.monaco-checkbox');
/** The files of the list, each with whether it is marked. */
const marks = () => pick.locator('.monaco-list-row').evaluateAll((rows) => rows.map((one) => [one.querySelector('.label-name').textContent, one.getAttribute('aria-checked') === 'true']));

try {
  // One of the five is open in an editor, the others are not.
  await steps.openFile(world, 'one.rs');
  const frame = await steps.openChat(world);
  await steps.status(world, /ready/);
  await steps.ask(world, 'Rename it everywhere.');
  await steps.pendingHunks(world, 5);
  const message = frame.locator('.entry.prompt', { hasText: 'Rename it everywhere.' });
  assert.equal(await message.getByRole('button').count(), 0, 'nothing is changed, so there is nothing to undo');
  await steps.azimuth(world, 'Accept All Hunks');
  await steps.pendingHunks(world, 0);
  assert.deepEqual(onDisk(), [undefined, 'fn new() {}\n', edited, edited]);
  await steps.openFile(world, 'one.rs');
  assert.equal(await steps.bufferText(world), edited);
  await message.getByText('changed 5 files').waitFor();
  await shot('changed');
  told('a message whose turn changed five files says so');

  // The user goes on with one of the five.
  const mine = (text) => text.replace('fn end() {}', 'fn end() { mine() }');
  fs.writeFileSync(at('two.rs'), mine(edited));
  await message.getByRole('button', { name: 'Undo', exact: true }).click();
  await steps.until('the list', async () => (await marks()).length === 5);
  assert.deepEqual(await marks(), [['gone.rs', true], ['new.rs', true], ['one.rs', true], ['three.rs', true], ['two.rs', false]]);
  assert.match(await row('two.rs').innerText(), /changed since/);
  await pick.locator('.quick-input-list').evaluate((list) => Promise.all(list.getAnimations({ subtree: true }).map(({ finished }) => finished)));
  await shot('list');
  // A turn goes back as a whole, so only what was changed since can be chosen.
  await box('gone.rs').click();
  await steps.until('the mark again', async () => (await marks())[0][1]);
  assert.deepEqual(onDisk(), [undefined, 'fn new() {}\n', edited, mine(edited)], 'nothing is done before it is agreed to');
  await page.keyboard.press('Escape');
  await pick.waitFor({ state: 'hidden' });
  assert.deepEqual(onDisk(), [undefined, 'fn new() {}\n', edited, mine(edited)], 'nor where it is not');
  told('an undo lists each file with its state, and does nothing until it is agreed to');

  await message.getByRole('button', { name: 'Undo', exact: true }).click();
  await row('two.rs').waitFor();
  await page.keyboard.press('Enter');
  const taken = frame.locator('.entry.files', { hasText: 'Undone: 4 files. Left as it is: 1.' });
  await taken.getByText('two.rs').waitFor();
  assert.match(await taken.innerText(), /two\.rs\s*left as it is\s*it was changed since/);
  assert.deepEqual(onDisk(), [before, undefined, before, mine(edited)]);
  await steps.openFile(world, 'one.rs');
  assert.equal(await steps.bufferText(world), before);
  await message.getByText('changed 1 file, 4 undone').waitFor();
  await steps.command(world, 'Notifications: Clear All Notifications');
  await shot('undone');
  told('four files go back, one of them in its editor, and the one that the user changed is left and named');

  await steps.azimuth(world, 'Redo Undone Turn');
  await row('one.rs').waitFor();
  assert.deepEqual((await marks()).map(([name]) => name), ['gone.rs', 'new.rs', 'one.rs', 'three.rs']);
  await page.keyboard.press('Enter');
  await frame.locator('.entry.files', { hasText: 'Redone: 4 files.' }).waitFor();
  assert.deepEqual(onDisk(), [undefined, 'fn new() {}\n', edited, mine(edited)]);
  await steps.openFile(world, 'one.rs');
  assert.equal(await steps.bufferText(world), edited);
  told('they are redone from the palette');

  // By keyboard alone: the button in the chat, the mark in the list.
  await message.getByRole('button', { name: 'Undo', exact: true }).focus();
  await page.keyboard.press('Enter');
  await row('two.rs').waitFor();
  await steps.until('the file that was changed since', async () => {
    if (await pick.locator('.monaco-list-row.focused', { hasText: 'two.rs' }).count()) return true;
    await page.keyboard.press('ArrowDown');
    return false;
  });
  await page.keyboard.press('Space');
  await steps.until('its mark', async () => (await marks()).every(([, marked]) => marked));
  await shot('marked');
  await page.keyboard.press('Enter');
  await frame.locator('.entry.files', { hasText: 'Undone: 5 files.' }).waitFor();
  assert.deepEqual(onDisk(), [before, undefined, before, mine(before)]);
  told('a changed file goes back once it is marked, and what the user wrote there stays; by keyboard alone');

  const pid = await steps.killServer(world);
  await steps.until('a new server', () => ![undefined, pid].includes(steps.serverPid(world.server.dir)));
  await steps.status(world, /ready/);
  await message.getByRole('button', { name: 'Redo', exact: true }).click();
  await row('one.rs').waitFor();
  assert.ok((await marks()).every(([, marked]) => marked));
  await page.keyboard.press('Enter');
  await frame.locator('.entry.files', { hasText: 'Redone: 5 files.' }).waitFor();
  assert.deepEqual(onDisk(), [undefined, 'fn new() {}\n', edited, mine(edited)]);
  told('all of it is redone after the server was killed');

  model.add({ calls: [{ tool: 'shell_run', input: { command: 'echo made > made.txt; rm three.rs' } }] }, { text: 'Done.' });
  await steps.ask(world, 'Run something.');
  await steps.answer(world, 'Allow once');
  await frame.locator('.entry.files', { hasText: 'A command changed 2 files' }).waitFor();
  await steps.status(world, /ready/);
  assert.deepEqual([read('made.txt'), read('three.rs')], ['made\n', undefined]);
  await shot('commanded');
  await message.getByRole('button', { name: 'Undo to here' }).click();
  await row('made.txt').waitFor();
  assert.deepEqual((await marks()).map(([name]) => name), ['gone.rs', 'made.txt', 'new.rs', 'one.rs', 'three.rs', 'two.rs']);
  await page.keyboard.press('Enter');
  await frame.locator('.entry.files', { hasText: 'Undone: 6 files.' }).waitFor();
  assert.deepEqual([...onDisk(), read('made.txt')], [before, undefined, before, mine(before), undefined]);
  await steps.openFile(world, 'one.rs');
  assert.equal(await steps.bufferText(world), before);
  await shot('to-here');
  await steps.noSeriousFault(frame, 'after an undo');
  told('"Undo to here" takes back all later turns too, with what their commands changed');

  // Files that are open, one of them with text that is not saved.
  const tab = (name) => page.locator('.tabs-container .tab', { hasText: name });
  await steps.openFile(world, 'three.rs');
  await steps.openFile(world, 'two.rs');
  const unsaved = `static MINE: u8 = 7;\n${mine(before)}`;
  await steps.typeAtStart(world, 'static MINE: u8 = 7;\n');
  assert.equal(await steps.bufferText(world), unsaved);
  model.add({ calls: ['two.rs', 'three.rs'].map((file) => ({ tool: 'edit_delete_file', input: { path: file } })) }, { text: 'Two deletions are proposed.' });
  await steps.ask(world, 'Delete both.');
  await steps.pendingHunks(world, 2);
  await shot('to-delete');
  await steps.azimuth(world, 'Accept All Hunks');
  await steps.pendingHunks(world, 0);
  await steps.until('both files gone', () => !['two.rs', 'three.rs'].some((name) => fs.existsSync(at(name))));
  for (const name of ['two.rs', 'three.rs']) await tab(name).waitFor({ state: 'detached' });
  await shot('deleted');
  await frame.locator('.entry.prompt', { hasText: 'Delete both.' }).getByRole('button', { name: 'Undo', exact: true }).click();
  await row('two.rs').waitFor();
  await page.keyboard.press('Enter');
  await frame.locator('.entry.files', { hasText: 'Undone: 2 files.' }).waitFor();
  assert.deepEqual([read('two.rs'), read('three.rs')], [unsaved, before]);
  await steps.openFile(world, 'two.rs');
  assert.equal(await steps.bufferText(world), unsaved);
  await shot('there-again');
  told('the accepted deletion of open files closes their tabs, and an undo brings them back, with what was not saved');

  // One that another program deletes stays open in VS Code, struck through, and keeps its text when its deletion is accepted.
  await steps.openFile(world, 'three.rs');
  fs.rmSync(at('three.rs'));
  await page.locator('.tab .monaco-icon-label.strikethrough, .tab .label-name.strikethrough, .tab .strikethrough', { hasText: 'three.rs' }).first().waitFor();
  model.add({ calls: [{ tool: 'edit_delete_file', input: { path: 'three.rs' } }] }, { text: 'It is proposed.' });
  await steps.ask(world, 'Delete that one too.');
  await steps.pendingHunks(world, 1);
  await steps.azimuth(world, 'Accept All Hunks');
  await steps.pendingHunks(world, 0);
  await steps.status(world, /ready/);
  await tab('three.rs').click();
  assert.equal(await steps.bufferText(world), before, 'its text is the user\u2019s to close');
  await shot('struck-through');
  await frame.locator('.entry.prompt', { hasText: 'Delete that one too.' }).getByRole('button', { name: 'Undo', exact: true }).click();
  await row('three.rs').waitFor();
  await page.keyboard.press('Enter');
  await frame.locator('.entry.files', { hasText: 'Undone: 1 file.' }).last().waitFor();
  assert.equal(read('three.rs'), before);
  told('a struck-through file keeps its text when its deletion is accepted, and an undo makes the file again');
} catch (error) {
  await shot('failure').catch(() => {});
  throw error;
} finally {
  await world.stop();
}
console.log(`screenshots: ${shots}`);
