// Windows without a folder and with two of them in a real VS Code: `node test/e2e/folders.mjs --vsix FILE [--shots FOLDER]`, as `main.mjs`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import * as steps from './steps.mjs';
import { startWorld } from './world.mjs';

const { values } = parseArgs({ options: { vsix: { type: 'string' }, shots: { type: 'string' }, theme: { type: 'string' } } });
const shots = path.resolve(values.shots ?? path.join(import.meta.dirname, '../../../../tests/artifacts/vscode-folders'));
fs.mkdirSync(shots, { recursive: true });

const world = await startWorld({
  vsix: path.resolve(values.vsix),
  files: {
    'first/lib.rs': 'fn first() {}\n',
    'second/.vscode/settings.json': '{ "azimuth.permissions.deny": ["Shell(printf:*)"] }\n',
    'both.code-workspace': '{ "folders": [{ "path": "first" }, { "path": "second" }] }\n',
  },
  settings: { 'workbench.colorTheme': values.theme ?? 'Default Dark Modern' },
  answers: [{ calls: [{ tool: 'shell_run', input: { command: 'printf hello' } }] }, { text: 'Done.' }],
});
const { page, project, server } = world;
try {
  await page.goto(`${server.url}/?ew=true`);
  await page.locator('.monaco-workbench .activitybar').waitFor();
  const empty = await steps.openChat(world);
  await steps.status(world, /ready/);
  await empty.locator('.banner', { hasText: 'no folder open' }).getByRole('button', { name: 'Open a folder' }).waitFor();
  await empty.locator('textarea').click();
  await page.keyboard.type('Typed here.');
  await page.keyboard.press('Enter');
  await empty.locator('.problem', { hasText: 'This window has no folder' }).waitFor();
  assert.equal(await empty.locator('textarea').inputValue(), 'Typed here.');
  await steps.ask(world, 'Asked elsewhere.');
  await steps.until('the prompt in the draft', async () => (await empty.locator('textarea').inputValue()) === 'Asked elsewhere.\nTyped here.');
  await empty.locator('.problem', { hasText: 'This window has no folder' }).waitFor();
  await page.screenshot({ path: path.join(shots, 'none.png') });
  console.log('ok: where no folder is open the chat says so, and no prompt is lost');

  // Now and then the workbench comes up with the workspace and none of its folders, and stays so; then it is loaded again.
  await steps.until('both folders', async () => {
    await page.goto(`${server.url}/?workspace=${encodeURIComponent(path.join(project, 'both.code-workspace'))}`);
    await page.locator('.monaco-workbench').waitFor();
    const folder = page.locator('.explorer-folders-view .monaco-list-row', { hasText: 'second' });
    return folder.first().waitFor({ timeout: 10_000 }).then(() => true, () => false);
  });
  const frame = await steps.openChat(world);
  await steps.status(world, /ready/);
  await steps.ask(world, 'Print something.');
  await frame.locator('.entry.end').waitFor();
  const said = await frame.locator('.transcript').innerText();
  assert.match(said, /Not allowed: rule `Shell\(printf:\*\)`/);
  console.log('ok: what a folder of the workspace denies does not run');
} catch (error) {
  await page.screenshot({ path: path.join(shots, 'failure.png') }).catch(() => {});
  throw error;
} finally {
  await world.stop();
}
