// Formatting of accepted edits by what VS Code has for the language: `node test/e2e/format.mjs --vsix FILE [--shots FOLDER]`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { quietSettings } from '../../../../tests/tools/vscode-smoke.mjs';
import * as steps from './steps.mjs';
import { called, tell, told } from './story.mjs';
import { startWorld } from './world.mjs';

const { vsix, shots } = called('format');

const before = '{\n\t"one": 1,\n\t"two": 2,\n\t"three":   3\n}\n';
const call = (path) => ({ tool: 'edit_replace_exact', input: { path, old_text: '\t"two": 2,\n', new_text: '\t"two":   22,\n' } });
const accepted = before.replace('"two": 2', '"two":   22');
const formatted = { lines: accepted.replace(/"two": +/, '"two": '), file: accepted.replaceAll(/: +/g, ': ') };
const crlf = (text) => text.replaceAll('\n', '\r\n');
const settings = {
  'workbench.colorTheme': 'Default Dark Modern', 'files.autoSave': 'off', 'editor.accessibilitySupport': 'off', 'workbench.editor.enablePreview': false,
  // Without the last of these the formatter of VS Code takes the end of the last line away.
  'azimuth.formatEdits': 'lines', 'azimuth.saveEdits': true, 'files.insertFinalNewline': true,
};

const world = await startWorld({
  vsix,
  files: { 'lines.json': before, 'file.json': before, 'hidden.json': crlf(before), 'other.txt': 'other\n' },
  settings,
});
await tell(world, shots, async () => {
  const { page } = world;
  await page.setViewportSize({ width: 1600, height: 900 });
  await steps.openFile(world, 'lines.json');
  const frame = await steps.openChat(world);
  await steps.status(world, /ready/);
  await formats(frame, 'lines');
  await formats(await changed({ 'azimuth.formatEdits': 'file' }), 'file');
  await formatsHidden(await changed({ 'azimuth.formatEdits': 'file', 'editor.insertSpaces': true, 'editor.tabSize': 3 }));
});

/** Accepts an edit of the file that is named as the mode. */
async function formats(frame, mode) {
  const { page, model } = world;
  const file = `${mode}.json`;
  model.add({ calls: [call(file)] }, { text: 'Proposed.' }, { text: `I see ${mode}.` });
  await steps.openFile(world, file);
  await steps.ask(world, 'Change it.');
  await steps.pendingHunks(world, 1);
  await steps.azimuth(world, 'Accept All Hunks');
  await frame.getByText(new RegExp(`formatted ${mode}\\.json \\(\\+\\d −\\d\\)`)).waitFor();
  await steps.until('the file on disk', () => onDisk(file) === formatted[mode]);
  await steps.openFile(world, file);
  assert.equal(await steps.bufferText(world), formatted[mode]);
  await page.screenshot({ path: path.join(shots, `${mode}.png`) });
  told(`accepted edits are formatted and saved (${mode})`);

  await page.keyboard.press('Control+z');
  assert.equal(await steps.bufferText(world), accepted);
  await page.keyboard.press('Control+z');
  assert.equal(await steps.bufferText(world), before);
  await page.keyboard.press('Control+Shift+z');
  await page.keyboard.press('Control+Shift+z');
  assert.equal(await steps.bufferText(world), formatted[mode]);
  told(`the formatting is one step of undo (${mode})`);

  await steps.ask(world, 'What is there now?');
  await frame.locator('.entry.answer', { hasText: `I see ${mode}.` }).waitFor();
  assert.match(JSON.stringify(model.asked.at(-1).messages), /format/i);
  await steps.azimuth(world, 'Undo Last Turn');
  await page.locator('.quick-input-widget:visible .monaco-list-row', { hasText: file }).waitFor();
  await page.keyboard.press('Enter');
  await frame.locator('.entry.files', { hasText: 'Undone: 1 file.' }).waitFor();
  await steps.openFile(world, file);
  assert.equal(await steps.bufferText(world), before);
  told(`the model is told, and the turn is taken back with its formatting (${mode})`);
}

/** A document that no editor shows keeps its own indentation, which is not the one of the settings, and its line ends. */
async function formatsHidden(frame) {
  world.model.add({ calls: [call('hidden.json')] }, { text: 'Proposed.' });
  await steps.openFile(world, 'hidden.json');
  await steps.openFile(world, 'other.txt');
  await steps.ask(world, 'Change it.');
  await steps.pendingHunks(world, 1);
  await steps.azimuth(world, 'Accept All Hunks');
  await frame.getByText(/formatted hidden\.json \(\+2 −2\)/).waitFor();
  await steps.until('the file on disk', () => onDisk('hidden.json') === crlf(formatted.file), 30_000, async () => JSON.stringify(onDisk('hidden.json')));
  told('a file with CRLF that no editor shows is formatted with its own tabs and line ends');
}

/** Changes the user's settings, which a window that is loaded again begins with. Gives the frame of its chat, with a new conversation. */
async function changed(more) {
  fs.writeFileSync(path.join(world.server.dir, 'data/User/settings.json'), JSON.stringify({ ...quietSettings, ...settings, ...more }));
  await steps.command(world, 'Developer: Reload Window');
  await world.page.locator('.monaco-workbench').waitFor({ state: 'detached' });
  await steps.openChat(world);
  await steps.status(world, /ready/);
  await steps.newSession(world);
  return steps.chatFrame(world);
}

function onDisk(file) {
  return fs.readFileSync(path.join(world.project, file), 'utf8');
}
