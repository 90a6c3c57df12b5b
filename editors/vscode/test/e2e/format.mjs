// Formatting of accepted edits by what VS Code has for the language: `node test/e2e/format.mjs --vsix FILE [--shots FOLDER]
// [--theme NAME]`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import * as steps from './steps.mjs';
import { startWorld } from './world.mjs';

const { values } = parseArgs({ options: { vsix: { type: 'string' }, shots: { type: 'string' }, theme: { type: 'string' } } });
const shots = path.resolve(values.shots ?? path.join(import.meta.dirname, '../../../../tests/artifacts/vscode-format'));
fs.mkdirSync(shots, { recursive: true });

const before = '{\n\t"one": 1,\n\t"two": 2,\n\t"three":   3\n}\n';
const call = { tool: 'edit_replace_exact', input: { path: 'data.json', old_text: '\t"two": 2,\n', new_text: '\t"two":   22,\n' } };
const accepted = before.replace('"two": 2', '"two":   22');
const formatted = { lines: accepted.replace(/"two": +/, '"two": '), file: accepted.replaceAll(/: +/g, ': ') };
const told = (what) => console.log(`ok: ${what}`);

for (const mode of ['lines', 'file']) {
  const world = await startWorld({
    vsix: path.resolve(values.vsix),
    files: { 'data.json': before },
    // Without the last of these the formatter of VS Code takes the end of the last line away.
    settings: { 'workbench.colorTheme': values.theme ?? 'Default Dark Modern', 'files.autoSave': 'off', 'editor.accessibilitySupport': 'off', 'azimuth.formatEdits': mode, 'azimuth.saveEdits': true, 'files.insertFinalNewline': true },
    answers: [{ calls: [call] }, { text: 'Proposed.' }, { text: 'I see.' }],
  });
  const { page, model, project } = world;
  await page.setViewportSize({ width: 1600, height: 900 });
  const onDisk = () => fs.readFileSync(path.join(project, 'data.json'), 'utf8');
  try {
    await steps.openFile(world, 'data.json');
    const frame = await steps.openChat(world);
    await steps.status(world, /ready/);
    await steps.ask(world, 'Change it.');
    await steps.pendingHunks(world, 1);
    await steps.azimuth(world, 'Accept All Hunks');
    await frame.getByText(/formatted data\.json \(\+\d −\d\)/).waitFor();
    await steps.until('the file on disk', () => onDisk() === formatted[mode]);
    await steps.openFile(world, 'data.json');
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
    await frame.locator('.entry.answer', { hasText: 'I see.' }).waitFor();
    assert.match(JSON.stringify(model.asked.at(-1).messages), /format/i);
    await steps.azimuth(world, 'Undo Last Turn');
    await page.locator('.quick-input-widget:visible .monaco-list-row', { hasText: 'data.json' }).waitFor();
    await page.keyboard.press('Enter');
    await frame.locator('.entry.files', { hasText: 'Undone: 1 file.' }).waitFor();
    await steps.openFile(world, 'data.json');
    assert.equal(await steps.bufferText(world), before);
    told(`the model is told, and the turn is taken back with its formatting (${mode})`);
  } catch (error) {
    await page.screenshot({ path: path.join(shots, 'failure.png') }).catch(() => {});
    throw error;
  } finally {
    await world.stop();
  }
}

// A document that no editor shows keeps its own indentation, which is not the one of the settings, and its line ends.
{
  const crlf = (text) => text.replaceAll('\n', '\r\n');
  const world = await startWorld({
    vsix: path.resolve(values.vsix),
    files: { 'data.json': crlf(before), 'other.txt': 'other\n' },
    settings: { 'workbench.colorTheme': values.theme ?? 'Default Dark Modern', 'files.autoSave': 'off', 'editor.accessibilitySupport': 'off', 'editor.insertSpaces': true, 'editor.tabSize': 3, 'azimuth.formatEdits': 'file', 'azimuth.saveEdits': true, 'files.insertFinalNewline': true, 'workbench.editor.enablePreview': false },
    answers: [{ calls: [call] }, { text: 'Proposed.' }],
  });
  const { page, project } = world;
  const onDisk = () => fs.readFileSync(path.join(project, 'data.json'), 'utf8');
  try {
    await steps.openFile(world, 'data.json');
    await steps.openFile(world, 'other.txt');
    const frame = await steps.openChat(world);
    await steps.status(world, /ready/);
    await steps.ask(world, 'Change it.');
    await steps.pendingHunks(world, 1);
    await steps.azimuth(world, 'Accept All Hunks');
    await frame.getByText(/formatted data\.json \(\+2 −2\)/).waitFor();
    await steps.until('the file on disk', () => onDisk() === crlf(formatted.file), 30_000, async () => JSON.stringify(onDisk()));
    told('a file with CRLF that no editor shows is formatted with its own tabs and line ends');
  } catch (error) {
    await page.screenshot({ path: path.join(shots, 'failure.png') }).catch(() => {});
    throw error;
  } finally {
    await world.stop();
  }
}
console.log(`screenshots: ${shots}`);
