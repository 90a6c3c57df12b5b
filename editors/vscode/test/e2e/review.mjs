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
const thread = page.locator('.review-widget:visible').first();
// A click opens the thread or closes it. One that comes while the diff still moves is lost, or on a slow machine only late
// and then the second of two: what counts is a thread that stays.
const openThread = () => steps.until('the thread', async () => {
  if (!(await thread.isVisible())) await page.locator('.monaco-diff-editor .editor.modified .comment-range-glyph.comment-thread').first().click();
  if (!(await thread.waitFor({ timeout: 5_000 }).then(() => true, () => false))) return false;
  await page.waitForTimeout(500);
  return thread.isVisible();
}, 60_000);

try {
  await steps.openFile(world, 'numbers.rs');
  await steps.openChat(world);
  await steps.status(world, /ready/);
  await steps.ask(world, 'Rename some numbers.');
  await steps.pendingHunks(world, 3);
  await page.locator('.codelens-decoration').first().waitFor();
  await shot('lenses');

  await row('let two = 2').click();
  await page.locator('.monaco-diff-editor .editor.modified .monaco-editor.focused .view-line').first().waitFor();
  await openThread();
  await shot('thread');
  await steps.until('the end of the thread', async () => {
    await thread.getByRole('button', { name: 'Collapse' }).first().click({ timeout: 1_000 }).catch(() => {});
    return !(await thread.isVisible());
  });
  await openThread();
  assert.match(await thread.innerText(), /Hunk 1 of 2/);
  assert.equal(await page.locator('.part.panel:visible .comments-panel').count(), 0, 'the panel of comments stays closed');
  told('the thread at a hunk is there again after it was closed');

  const comment = thread.getByRole('button', { name: 'Comment on Hunk' });
  // VS Code may have opened it already, as it does where the thread gets the keys.
  await steps.until('where to write', async () => {
    await thread.locator('.review-thread-reply-button').click({ timeout: 1_000 }).catch(() => {});
    return comment.isVisible();
  });
  await thread.locator('.comment-form .monaco-editor').click();
  assert.ok(await comment.isDisabled(), 'nothing is said where nothing is written');
  await page.keyboard.type('Why not [one]?');
  await shot('comment');
  await comment.click();
  await thread.locator('.review-comment', { hasText: /^You\s*Why not \[one\]\?/ }).waitFor();
  await steps.pendingHunks(world, 3);
  await shot('commented');
  told('a comment stands in the thread of its hunk, which stays open and undecided');

  await steps.command(world, 'Developer: Reload Window');
  await page.locator('.monaco-workbench').waitFor({ state: 'detached' });
  await steps.pendingHunks(world, 3);
  await row('let two = 2').click();
  await openThread();
  await thread.locator('.review-comment', { hasText: 'Why not [one]?' }).waitFor();
  await shot('comment-reloaded');
  told('a comment is there after the window was loaded again');

  const other = { ...world, ...await world.open() };
  await steps.choose(other, 'Open Session', 'Rename some numbers');
  await steps.pendingHunks(other, 3);
  await steps.openReview(other);
  await steps.chord(other, 'c');
  await other.page.locator('.quick-input-widget:visible .quick-input-title', { hasText: 'Comment on Hunk' }).waitFor();
  await other.page.locator('.quick-input-widget:visible input.input').fill('Both names are wrong.');
  await other.page.keyboard.press('Enter');
  await thread.locator('.review-comment', { hasText: 'Both names are wrong.' }).waitFor();
  await other.close();
  await shot('comments');
  model.add({ text: 'Noted.' });
  await steps.ask(world, 'What do you make of it?');
  await steps.until('the request to the model', () => JSON.stringify(model.asked.at(-1).messages).includes('What do you make of it?'));
  for (const said of ['which this does not decide', 'Why not [one]?', 'Both names are wrong.']) {
    assert.ok(JSON.stringify(model.asked.at(-1).messages).includes(said), said);
  }
  await steps.pendingHunks(world, 3);
  told('a comment of another window is there too, and the model hears both');

  await thread.getByRole('button', { name: 'Accept Hunk' }).first().click();
  await steps.pendingHunks(world, 2);
  told('the thread at a hunk accepts it');

  // VS Code opens it by itself with the first comment of a window; it would cover the next hunk.
  await page.locator('.part.panel:visible .comments-panel').waitFor();
  await steps.command(world, 'View: Hide Panel');

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
  await page.locator('.monaco-diff-editor').waitFor({ state: 'detached' });
  await page.locator('.tab.active[data-resource-name="new.rs"]').waitFor();
  assert.equal(await steps.bufferText(world), 'fn new() {}\n');
  told('a new file is made once it is accepted, with the button in the title of its diff, and takes its place');
  await shot('end');

  model.add({ calls: [{ tool: 'edit_replace_exact', input: { path: 'src/numbers.rs', old_text: numbers[20], new_text: 'let twenty = 20;\n' } }] }, { text: 'Proposed.' });
  await steps.ask(world, 'Another one.');
  await steps.pendingHunks(world, 1);
  await steps.openReview(world);
  const chat = await steps.openChat(world);
  await chat.getByRole('button', { name: 'Accept all changes of src/numbers.rs' }).press('Enter');
  await page.locator('.monaco-diff-editor').waitFor({ state: 'detached' });
  await page.locator('.tab.active[data-resource-name="numbers.rs"]').waitFor();
  await steps.pendingHunks(world, 0);
  assert.ok(await chat.evaluate(() => document.hasFocus()), 'the keyboard stays in the chat');
  await shot('accepted-in-chat');
  told('whoever accepts in the chat keeps the keyboard there');

  model.add({ calls: [{ tool: 'edit_replace_exact', input: { path: 'src/numbers.rs', old_text: numbers[10], new_text: 'let ten = 10;\n' } }] }, { text: 'Proposed.' });
  await steps.ask(world, 'One more.');
  await steps.pendingHunks(world, 1);
  await steps.openFile(world, 'numbers.rs');
  await steps.clickLens(page.locator('.codelens-decoration a', { hasText: 'Accept' }).first());
  await steps.pendingHunks(world, 0);
  await page.locator('.editor-instance .view-line').filter({ hasText: /let\sten/ }).first().waitFor();
  assert.equal(await steps.bufferText(world), wanted.replace(numbers[20], 'let twenty = 20;\n').replace(numbers[10], 'let ten = 10;\n'));
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
  steps.within('activation, in ms', Number(/(\d+)\s*ms/.exec(activation)[1]), 50);
  told(`the extension is activated in time (${activation})`);
} catch (error) {
  await shot('failure').catch(() => {});
  throw error;
} finally {
  await world.stop();
}
console.log(`screenshots: ${shots}`);
