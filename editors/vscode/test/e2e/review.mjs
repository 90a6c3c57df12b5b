// Reviewing in a real VS Code, beyond the story: a proposal that the user changes, a new file, the thread at a hunk, the
// tree. `node test/e2e/review.mjs --vsix FILE [--shots FOLDER] [--theme NAME]`, as `main.mjs`.
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
const shots = path.resolve(values.shots ?? path.join(here, '../../tests/artifacts/vscode-review'));
fs.mkdirSync(shots, { recursive: true });

const numbers = Array.from({ length: 40 }, (_, index) => `let n${index} = ${index};\n`);
const world = await startWorld({
  vsix,
  files: { 'src/numbers.rs': numbers.join('') },
  settings: { 'workbench.colorTheme': values.theme ?? 'Default Dark Modern', 'files.autoSave': 'off' },
  answers: [
    {
      calls: [
        { tool: 'edit_replace_exact', input: { path: 'src/numbers.rs', old_text: numbers[2], new_text: 'let two = 2;\nlet too = 2;\n' } },
        { tool: 'edit_replace_exact', input: { path: 'src/numbers.rs', old_text: numbers[30], new_text: 'let thirty = 30;\n' } },
        { tool: 'edit_create_file', input: { path: 'src/new.rs', content: 'fn new() {}\n' } },
      ],
    },
    { text: 'Proposed.' },
  ],
});
const { page, model, project } = world;
await page.setViewportSize({ width: 1720, height: 900 });
let count = 0;
const shot = (name) => page.screenshot({ path: path.join(shots, `${String(++count).padStart(2, '0')}-${name}.png`) });
const told = (what) => console.log(`ok: ${what}`);
const read = (name) => fs.readFileSync(path.join(project, name), 'utf8');
const row = (text) => page.locator('.pane', { has: page.locator('.pane-header[aria-label^="Review"]') }).locator('.monaco-list-row').filter({ hasText: text }).first();

try {
  await steps.openFile(world, 'numbers.rs');
  await steps.azimuth(world, 'Open Chat');
  await steps.chatFrame(world);
  await steps.status(world, /ready/);
  await steps.ask(world, 'Rename some numbers.');
  await steps.pendingHunks(world, 3);
  await page.locator('.codelens-decoration').first().waitFor();
  await shot('lenses');

  await row('let two = 2').click();
  await page.locator('.monaco-diff-editor .editor.modified .monaco-editor.focused .view-line').first().waitFor();
  await page.locator('.monaco-diff-editor .editor.modified .comment-thread-range-current, .monaco-diff-editor .comment-range-glyph.comment-thread').first().click();
  const thread = page.locator('.review-widget:visible').first();
  await thread.waitFor();
  await shot('thread');
  // Where a click comes while the diff still moves, it is lost.
  await steps.until('the end of the thread', async () => {
    await thread.getByRole('button', { name: 'Collapse' }).first().click({ timeout: 1_000 }).catch(() => {});
    return !(await thread.isVisible());
  });
  await page.locator('.monaco-diff-editor .editor.modified .comment-range-glyph.comment-thread').first().click();
  await thread.waitFor();
  assert.match(await thread.innerText(), /Hunk 1 of 2/);
  assert.equal(await page.locator('.part.panel:visible .comments-panel').count(), 0, 'the panel of comments stays closed');
  await thread.getByRole('button', { name: 'Accept Hunk' }).first().click();
  await steps.pendingHunks(world, 2);
  told('the thread at a hunk is there again after it was closed, and accepts the hunk');

  await page.locator('.monaco-diff-editor .editor.modified .view-line', { hasText: 'thirty' }).click();
  await page.keyboard.press('End');
  await page.keyboard.type(' // mine');
  await shot('proposal-changed');
  await steps.azimuth(world, 'Accept Hunk');
  await page.locator('.notification-list-item', { hasText: 'not saved' }).first().waitFor();
  await steps.pendingHunks(world, 2);
  await steps.command(world, 'Notifications: Clear All Notifications');
  await page.locator('.monaco-diff-editor .editor.modified .view-line', { hasText: 'thirty' }).click();
  await page.keyboard.press('Control+s');
  await row('let thirty = 30; // mine').waitFor();
  await row('let thirty').hover();
  await row('let thirty').getByRole('button', { name: 'Accept Hunk' }).click();
  await steps.pendingHunks(world, 1);
  // The diff closes, and its file is in the editor.
  await page.locator('.monaco-diff-editor').waitFor({ state: 'detached' });
  await page.locator('.tab.active[data-resource-name="numbers.rs"]').waitFor();
  await page.locator('.editor-instance .monaco-editor.focused').first().waitFor();
  const wanted = [...numbers.slice(0, 2), 'let two = 2;\n', 'let too = 2;\n', ...numbers.slice(3, 30), 'let thirty = 30; // mine\n', ...numbers.slice(31)].join('');
  assert.equal(await steps.bufferText(world), wanted);
  told('a proposal that the user changed is not accepted before it is saved, and then as they wrote it');

  await steps.azimuth(world, 'Review Changes');
  await page.locator('.monaco-diff-editor .editor.modified .view-line', { hasText: 'fn new' }).waitFor();
  await shot('new-file');
  assert.ok(!fs.existsSync(path.join(project, 'src/new.rs')));
  await page.locator('.editor-group-container.active .title .editor-actions').getByRole('button', { name: 'Accept Hunk' }).click();
  await steps.until('the new file', () => fs.existsSync(path.join(project, 'src/new.rs')));
  assert.equal(read('src/new.rs'), 'fn new() {}\n');
  await steps.pendingHunks(world, 0);
  told('a new file is made once it is accepted, with the button in the title of its diff');
  await shot('end');

  model.add({ calls: [{ tool: 'edit_replace_exact', input: { path: 'src/numbers.rs', old_text: numbers[10], new_text: 'let ten = 10;\n' } }] }, { text: 'Proposed.' });
  await steps.ask(world, 'One more.');
  await steps.pendingHunks(world, 1);
  await steps.openFile(world, 'numbers.rs');
  await page.locator('.codelens-decoration a', { hasText: 'Accept' }).first().click();
  await steps.pendingHunks(world, 0);
  await page.locator('.editor-instance .view-line').filter({ hasText: /let\sten/ }).first().waitFor();
  assert.equal(await steps.bufferText(world), wanted.replace(numbers[10], 'let ten = 10;\n'));
  told('the lens over a hunk in a normal editor accepts it');

  await steps.command(world, 'Developer: Show Running Extensions');
  const running = page.locator('.editor-instance .extension', { hasText: /^\s*Azimuth/ }).first();
  // The list is sorted by time and shows only some of its rows; a fast extension is further down.
  await page.locator('.editor-instance .extension').first().hover();
  await steps.until('Azimuth among the running extensions', async () => {
    if (await running.isVisible()) return true;
    await page.mouse.wheel(0, 200);
    return false;
  });
  const activation = (await running.locator('.activation-time').textContent()).trim();
  await shot('running');
  // Ten times what is wanted, so that a slow machine does not fail it.
  assert.ok(Number(/(\d+)\s*ms/.exec(activation)[1]) <= 500, activation);
  told(`the extension is activated in time (${activation})`);
} catch (error) {
  await shot('failure').catch(() => {});
  throw error;
} finally {
  await world.stop();
}
console.log(`screenshots: ${shots}`);
