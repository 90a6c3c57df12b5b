// Suggestions where the user types: shown, typed into, accepted, dismissed, switched off, and why there is none.
// `node test/e2e/ghost.mjs --vsix FILE [--shots FOLDER] [--theme NAME] [--images FOLDER]`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startFill } from './fill.mjs';
import * as steps from './steps.mjs';
import { tap } from './tap.mjs';
import { startWorld } from './world.mjs';

const { values } = parseArgs({ options: { vsix: { type: 'string' }, shots: { type: 'string' }, theme: { type: 'string' }, images: { type: 'string' } } });
const vsix = path.resolve(values.vsix);
const shots = path.resolve(values.shots ?? path.join(import.meta.dirname, '../../../../tests/artifacts/vscode-ghost'));
fs.mkdirSync(shots, { recursive: true });

const told = (what) => console.log(`ok: ${what}`);
const code = `/// The price of all items, with tax.
fn total(items: &[Item], tax: f64) -> f64 {
    HERE
}
`;
const rest = ' = items.iter().map(|item| item.price).sum();\n    sum * (1.0 + tax)';
const goals = [`    let sum: f64${rest}`, '    let all = items.iter().map(|item| item.price).collect();', '    let count = items.len();'];
const settings = {
  'workbench.colorTheme': values.theme ?? 'Default Dark Modern', 'files.autoSave': 'off', 'editor.accessibilitySupport': 'off',
  // Only what is suggested here shows up.
  'editor.quickSuggestions': { other: 'off', comments: 'off', strings: 'off' }, 'editor.suggestOnTriggerCharacters': false, 'editor.parameterHints.enabled': false,
};
/** The item in the status bar while nothing is wrong. */
const on = /Suggestions\s*\|/;
/** Goes on with the first of the goals that begins with the line of the cursor. */
const answer = (before) => {
  const typed = before.split('\n').at(-1);
  const goal = goals.find((one) => typed.startsWith('    ') && one.startsWith(typed) && one !== typed);
  return goal?.slice(typed.length) ?? '';
};

await one();
await another();
console.log(`screenshots: ${shots}`);

async function one() {
  const fill = await startFill(answer);
  let sent;
  const world = await startWorld({
    vsix,
    files: { 'src/shop.rs': code.replace('HERE', ''), 'notes.md': '# Notes\n\n' },
    settings,
    prepare: async ({ program, env }) => {
      fill.configure(env);
      sent = tap({ program });
    },
  });
  const { page } = world;
  await page.setViewportSize({ width: 1300, height: 620 });
  let count = 0;
  const shot = async (name) => {
    // Lists and notices fade in.
    await page.waitForTimeout(400);
    await page.screenshot({ path: path.join(shots, `${String(++count).padStart(2, '0')}-${name}.png`) });
  };
  const events = () => sent('azimuth/inline/feedback').map(({ event }) => event);
  const accepted = () => sent('workspace/executeCommand').filter(({ command }) => command === 'azimuth.inline.accepted');
  // The file as it was, with the cursor in its empty line.
  const begin = async () => {
    await steps.openFile(world, 'src/shop.rs');
    await steps.command(world, 'File: Revert File');
    await page.locator('.tab.active:not(.dirty)[data-resource-name="shop.rs"]').waitFor();
    await steps.until('the cursor in the empty line', async () => {
      await steps.goTo(world, '3:5');
      return page.locator('.statusbar-item', { hasText: 'Ln 3, Col 5' }).waitFor({ timeout: 3_000 }).then(() => true, () => false);
    });
  };
  try {
    await steps.openFile(world, 'src/shop.rs');
    await steps.goTo(world, '3:5');
    await page.keyboard.type('let');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    assert.equal(await item(world).count(), 0);
    assert.deepEqual(fill.asked, [], 'nothing is asked before Azimuth is used');
    await page.keyboard.press('Control+z');
    await steps.azimuth(world, 'Suggest Text at Cursor');
    await status(world, on);
    await ghost(world, /^let sum: f64 = items\.iter\(\)\.map\(\|item\| item\.price\)\.sum\(\);/);
    await ghost(world, /sum \* \(1\.0 \+ tax\)/);
    told('suggestions begin with the server, which the command starts, and the status bar shows them');

    await shot('shown');
    if (values.images !== undefined) await page.screenshot({ path: path.join(values.images, 'vscode-ghost.png') });
    await steps.until('the server to hear of it', () => events().includes('shown'));
    told('text of several lines is suggested');

    const before = [sent('azimuth/inline/complete').length, fill.asked.length];
    for (const key of 'let sum: f64 = items.iter().map(|item| ') {
      await page.keyboard.type(key);
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    await ghost(world, /^item\.price/);
    await new Promise((resolve) => setTimeout(resolve, 500));
    await shot('typed-through');
    assert.deepEqual([sent('azimuth/inline/complete').length, fill.asked.length], before, 'what is typed of it asks nobody');
    told('whoever types what is suggested keeps the rest, and nothing is asked');

    await page.keyboard.press('Control+ArrowRight');
    await ghost(world, /^\.?price/);
    const words = await line(world);
    assert.match(words, /map\(\|item\| item\.?$|map\(\|item\| item\.?\)/);
    told('a word of it is accepted');

    await page.keyboard.press('Tab');
    await noGhost(world);
    const whole = code.replace('HERE', `let sum: f64${rest}`);
    assert.equal(await steps.bufferText(world), whole);
    await steps.until('the server to hear of it', () => accepted().length === 1);
    await page.keyboard.press('Control+z');
    assert.notEqual(await steps.bufferText(world), whole);
    assert.equal((await steps.bufferText(world)).split('\n')[2], words, 'one undo takes back what Tab put in, and no more');
    await page.keyboard.press('Control+Shift+z');
    assert.equal(await steps.bufferText(world), whole);
    told('Tab accepts the rest, which is one step of undo');

    await begin();
    await page.keyboard.type('let al');
    await ghost(world, /^l = items/);
    await page.keyboard.press('Escape');
    await noGhost(world);
    await steps.until('the server to hear of it', () => events().includes('rejected'));
    await page.keyboard.type('l');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await shot('rejected');
    assert.equal(await ghostText(world), '');
    await steps.command(world, 'Trigger Inline Suggestion');
    await ghost(world, /^ = items/);
    await steps.azimuth(world, 'Dismiss Suggestion');
    await noGhost(world);
    told('Escape dismisses it, and so does a command; it does not come back by itself, but for who asks');

    await steps.azimuth(world, 'Turn Suggestions On or Off');
    await status(world, /Suggestions off/);
    const asked = sent('azimuth/inline/complete').length;
    await begin();
    await page.keyboard.type('let su');
    await new Promise((resolve) => setTimeout(resolve, 700));
    assert.equal(await ghostText(world), '');
    assert.equal(sent('azimuth/inline/complete').length, asked);
    await steps.azimuth(world, 'Why Is There No Suggestion?');
    await row(world, 'Suggestions are switched off.').waitFor();
    await row(world, 'The user rejected it before.').waitFor();
    await row(world, 'Text was suggested.').waitFor();
    await shot('why');
    await row(world, 'Turn suggestions on').click();
    await status(world, on);
    told('switched off, nothing is asked; the list says why, and turns them on again');

    await steps.openFile(world, 'src/shop.rs');
    await steps.azimuth(world, 'Suggest Text at Cursor');
    await ghost(world, /^m: f64 = items/);
    told('a command asks for a suggestion');

    await page.keyboard.type('m: f');
    await ghost(world, /^64 = items/);
    await steps.openFile(world, 'notes.md');
    await steps.azimuth(world, 'Turn Suggestions On or Off for This Language');
    await status(world, /switched off for markdown/);
    await steps.openFile(world, 'src/shop.rs');
    await status(world, on);
    told('they can be off for one language');

    await steps.azimuth(world, 'Why Is There No Suggestion?');
    await row(world, 'Text was suggested.').waitFor();
    await page.keyboard.type('rejected');
    await row(world, 'Text was suggested.').waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await page.locator('.monaco-editor.focused').first().waitFor();
    told('the keyboard goes from a decision to its line');

    await steps.choose(world, 'Pause Suggestions…', '15 minutes');
    await status(world, /Suggestions paused.*for 15 minutes/s);
    await item(world).click();
    await row(world, 'Resume suggestions').waitFor();
    await shot('menu');
    await row(world, 'Resume suggestions').click();
    await status(world, on);
    told('they are paused, and go on from the menu of the status bar');

    await steps.openFile(world, 'src/shop.rs');
    await steps.command(world, 'File: Compare Active File with Saved');
    await page.locator('.monaco-diff-editor .editor.modified .monaco-editor.focused').waitFor();
    const inDiff = sent('azimuth/inline/complete').length;
    await page.keyboard.press('Control+End');
    await page.keyboard.type('let sum');
    await new Promise((resolve) => setTimeout(resolve, 700));
    assert.equal(sent('azimuth/inline/complete').length, inDiff);
    await steps.closeTab(world);
    told('nothing is suggested in a diff');

    await steps.openFile(world, 'src/shop.rs');
    fill.fails = true;
    for (const key of ['b', 'c', 'd', 'e', 'f']) {
      await begin();
      await page.keyboard.type(`let ${key}`);
      await steps.until('the model to be asked', () => fill.asked.at(-1).before.endsWith(`let ${key}`));
    }
    await status(world, /Suggestions failing/);
    await shot('failing');
    fill.fails = false;
    await begin();
    await page.keyboard.type('let cou');
    await ghost(world, /^nt = items\.len/);
    await status(world, on);
    told('a model that fails shows in the status bar, until it answers again');

    await steps.command(world, 'File: Save');
    await page.reload();
    await status(world, on, 60_000);
    told('a window that is opened again suggests at once');
  } catch (error) {
    console.error('sent:', sent?.('azimuth/inline/complete').length, events(), await ghostText(world).catch(() => ''), await item(world).allTextContents().catch(() => ''));
    await shot('failure').catch(() => {});
    throw error;
  } finally {
    await world.stop();
    await fill.stop();
  }
}

/** With another extension that suggests text. */
async function another() {
  const fill = await startFill(answer);
  const supermaven = { manifest: { name: 'supermaven', publisher: 'Supermaven', displayName: 'Supermaven', activationEvents: ['onStartupFinished'] }, code: 'exports.activate = () => {};' };
  const world = await startWorld({
    vsix,
    files: { 'src/shop.rs': code.replace('HERE', '') },
    settings,
    extensions: { supermaven },
    prepare: async ({ env }) => fill.configure(env),
  });
  const { page } = world;
  await page.setViewportSize({ width: 1300, height: 620 });
  try {
    await steps.openFile(world, 'src/shop.rs');
    await steps.azimuth(world, 'Suggest Text at Cursor');
    const notice = page.locator('.notification-toast .notification-list-item', { hasText: 'Supermaven suggests text where you type, so Azimuth does not' });
    await notice.waitFor();
    await status(world, /Suggestions off/);
    await steps.openFile(world, 'src/shop.rs');
    await steps.goTo(world, '3:5');
    await page.keyboard.type('let sum');
    await new Promise((resolve) => setTimeout(resolve, 700));
    assert.deepEqual(fill.asked, []);
    await page.screenshot({ path: path.join(shots, '20-others.png') });
    await notice.getByRole('button', { name: 'Suggest Anyway' }).click();
    await status(world, on);
    await steps.openFile(world, 'src/shop.rs');
    await page.keyboard.type(': f');
    await ghost(world, /64 = items/);
    told('nothing is suggested if another extension does so, unless the user wants both');
  } catch (error) {
    await page.screenshot({ path: path.join(shots, 'failure-others.png') }).catch(() => {});
    throw error;
  } finally {
    await world.stop();
    await fill.stop();
  }
}

function item({ page }) {
  return page.locator('.statusbar-item[id$="azimuth.inline"]');
}

function row({ page }, text) {
  return page.locator('.quick-input-list .monaco-list-row').filter({ hasText: text }).first();
}

/** Waits until the item of suggestions in the status bar says this. */
async function status(world, pattern, timeout = 30_000) {
  const said = () => item(world).evaluateAll((items) => items.map((one) => `${one.textContent} | ${one.querySelector('a')?.getAttribute('aria-label')}`).join(''));
  return steps.until(`the status ${pattern}`, async () => pattern.test(await said()), timeout, said);
}

/** The text that is suggested and not there yet: what is drawn in the line, then the lines below it. */
async function ghostText({ page }) {
  const text = await page.evaluate(() => {
    const classes = '.ghost-text, .ghost-text-decoration, .suggest-preview-text';
    const found = [...document.querySelectorAll('.editor-instance .monaco-editor')].flatMap((editor) => [...editor.querySelectorAll(classes)]);
    const outer = found.filter((one) => one.parentElement.closest(classes) === null);
    const of = (isInline) => outer.filter((one) => (one.closest('.view-lines > .view-line') !== null && one.closest('.view-zones') === null) === isInline).map((one) => one.textContent);
    return [of(true).join(''), ...of(false)].filter((one) => one !== '').join('\n');
  });
  return text.replaceAll('\u00a0', ' ');
}

async function ghost(world, pattern) {
  return steps.until(`a suggestion like ${pattern}`, async () => pattern.test(await ghostText(world)), 30_000, async () => `there is ${JSON.stringify(await ghostText(world))}`);
}

async function noGhost(world) {
  return steps.until('no suggestion', async () => (await ghostText(world)) === '', 10_000, async () => ghostText(world));
}

/** The line of the cursor, without what is only suggested. The cursor stays. */
async function line({ page }) {
  await page.evaluate(() => navigator.clipboard.writeText(''));
  await page.keyboard.press('Control+c');
  return (await steps.until('the line of the cursor', () => page.evaluate(() => navigator.clipboard.readText()))).trimEnd();
}
