// Changes by commands, reviewed in a real VS Code: `node test/e2e/landed.mjs --vsix FILE [--shots FOLDER] [--theme NAME]`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import * as steps from './steps.mjs';
import { startWorld } from './world.mjs';

const { values } = parseArgs({ options: { vsix: { type: 'string' }, shots: { type: 'string' }, theme: { type: 'string' } } });
const shots = path.resolve(values.shots ?? path.join(import.meta.dirname, '../../../../tests/artifacts/vscode-landed'));
fs.mkdirSync(shots, { recursive: true });

const lines = Array.from({ length: 30 }, (_, index) => `let n${index} = ${index};\n`);
const before = lines.join('');
const two = before.replace('n3 = 3', 'n3 = 33').replace(lines[20], '');
const command = 'sed -i -e "s/n3 = 3/n3 = 33/" -e "/n20 =/d" lib.rs; echo made > made.txt; rm gone.txt';
const world = await startWorld({
  vsix: path.resolve(values.vsix),
  files: { 'lib.rs': before, 'gone.txt': 'one\ntwo\n' },
  settings: { 'workbench.colorTheme': values.theme ?? 'Default Dark Modern', 'files.autoSave': 'off', 'editor.accessibilitySupport': 'off', 'editor.minimap.enabled': false },
  answers: [{ calls: [{ tool: 'shell_run', input: { command } }] }, { text: 'Done.' }],
});
const { page, project } = world;
await page.setViewportSize({ width: 1600, height: 900 });
let count = 0;
const shot = (name) => page.screenshot({ path: path.join(shots, `${String(++count).padStart(2, '0')}-${name}.png`) });
const told = (what) => console.log(`ok: ${what}`);
const read = (name) => {
  try {
    return fs.readFileSync(path.join(project, name), 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
};
const row = (text) => page.locator('.pane', { has: page.locator('.pane-header[aria-label^="Review"]') }).locator('.monaco-list-row').filter({ hasText: text }).first();

try {
  await steps.openFile(world, 'lib.rs');
  const frame = await steps.openChat(world);
  await steps.status(world, /ready/);
  await steps.ask(world, 'Tidy up.');
  await steps.answer(world, 'Allow once');
  const landed = (words) => frame.locator('.changes .row.head', { hasText: words }).waitFor();
  await landed('4 changes by commands in 3 files');
  await steps.pendingHunks(world, 0);
  await row('lib.rs').filter({ hasText: 'by a command · 2 pending' }).waitFor();
  await steps.openFile(world, 'lib.rs');
  await page.locator('.codelens-decoration', { hasText: 'Changed by a command' }).first().waitFor();
  assert.equal(await steps.bufferText(world), two);
  await shot('landed');
  await steps.noSeriousFault(frame, 'with what a command changed');
  told('what a command changed stands in the review, and nothing waits for a decision on it');

  await row('lib.rs').click();
  await page.locator('.tab.active[aria-label*="changed by a command"]').waitFor();
  await page.locator('.monaco-diff-editor .editor.original .view-line', { hasText: /n20\s=\s20/ }).first().waitFor();
  await shot('diff');
  await page.locator('.editor-group-container.active .title .editor-actions').getByRole('button', { name: 'Keep Hunk' }).click();
  await landed('3 changes by commands in 3 files');
  assert.equal(read('lib.rs'), two);
  await steps.chord(world, 'n');
  await steps.chord(world, 'x');
  await landed('2 changes by commands in 2 files');
  await page.locator('.tab.active[data-resource-name="lib.rs"]').waitFor();
  await page.locator('.monaco-diff-editor').waitFor({ state: 'detached' });
  await page.locator('.editor-instance .monaco-editor.focused').first().waitFor();
  assert.equal(await steps.bufferText(world), before.replace('n3 = 3', 'n3 = 33'));
  told('one change of it is kept with the mouse, one is taken back by keys, in the diff of what was before and what is');

  await row('gone.txt').click();
  await page.locator('.tab.active[aria-label*="deleted by a command"]').waitFor();
  const takeBack = page.locator('.editor-group-container.active .title .editor-actions').getByRole('button', { name: 'Take Hunk Back' });
  await takeBack.waitFor();
  await shot('deleted');
  await takeBack.click();
  await steps.until('the file again', () => read('gone.txt') === 'one\ntwo\n');
  await frame.getByRole('button', { name: 'Take back all changes of made.txt' }).click();
  await steps.until('the end of the new file', () => read('made.txt') === undefined);
  await frame.locator('.changes .row.head').waitFor({ state: 'detached' });
  await frame.locator('.entry.prompt', { hasText: 'changed 1 file' }).waitFor();
  await shot('end');
  told('a file that a command deleted is there again, and one that it made is gone, once they are taken back');
} catch (error) {
  await shot('failure').catch(() => {});
  throw error;
} finally {
  await world.stop();
}
console.log(`screenshots: ${shots}`);
