// The next edit: drawn, accepted and rejected by hunk, jumped to, undone, shown as ghost text, switched off.
// `node test/e2e/next.mjs --vsix FILE [--shots FOLDER] [--theme NAME] [--images FOLDER]`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { webview } from '../../../../tests/tools/vscode-smoke.mjs';
import { startEdits } from './edits.mjs';
import * as steps from './steps.mjs';
import { tap } from './tap.mjs';
import { startWorld } from './world.mjs';

const { values } = parseArgs({ options: { vsix: { type: 'string' }, shots: { type: 'string' }, theme: { type: 'string' }, images: { type: 'string' } } });
const vsix = path.resolve(values.vsix);
const shots = path.resolve(values.shots ?? path.join(import.meta.dirname, '../../../../tests/artifacts/vscode-next'));
fs.mkdirSync(shots, { recursive: true });

let count = 0;
const told = (what) => console.log(`ok: ${what}`);
const settings = {
  'workbench.colorTheme': values.theme ?? 'Default Dark Modern', 'files.autoSave': 'off', 'editor.accessibilitySupport': 'off',
  'editor.quickSuggestions': { other: 'off', comments: 'off', strings: 'off' }, 'editor.suggestOnTriggerCharacters': false, 'editor.parameterHints.enabled': false,
  'editor.minimap.enabled': false, 'editor.autoClosingBrackets': 'never', 'editor.autoClosingQuotes': 'never',
};
const area = `/// The area of a rectangle.
fn area(w: u32) -> u32 {
    w * w
}

/// The text that is written next to it.
fn label(w: u32) -> String {
    let unit = "m";
    format!("{w} x {w} {unit}")
}
`;
const filler = Array.from({ length: 80 }, (_, line) => `    // ${line + 1}`).join('\n');
const near = '    let first = read("first.txt").unwrap();';
const files = {
  'src/area.rs': area,
  'src/room.rs': area.replaceAll('rectangle', 'room'),
  'src/far.rs': `fn far() {\n${near}\n${filler}\n    let second = read("second.txt").unwrap();\n}\n`,
  'src/near.rs': `fn near() {\n${near}\n}\n`,
  'src/other.rs': 'fn other() {\n    let third = read("third.txt").unwrap();\n}\n',
  'src/sum.rs': 'fn sum() -> i32 {\n    let a = 1;\n    a\n}\n',
  'notes.md': '# Notes\n\nAll of it.\n',
};
/** The changes of a window that go together, each from one text to another. */
const plans = [
  { when: 'fn area(w: u32, h: u32)', changes: [['w * w', 'w * h'], ['fn label(w: u32)', 'fn label(w: u32, h: u32)'], ['    format!("{w} x {w} {unit}")', '    let area = area(w, h);\n    let size = format!("{w} x {h}");\n    format!("{size} {unit}, {area} {unit}²")']] },
  { when: 'read("second.txt").unwrap()', changes: [['read("second.txt")', 'read("second.txt", utf8)']] },
  { when: 'read("third.txt").unwrap()', changes: [['read("third.txt")', 'read("third.txt", utf8)']] },
  { when: '    let b = 2;\n    a\n', changes: [['    let b = 2;\n', '    let b = 2;\n    let c = a + b;\n']] },
  { when: 'All of it, and', changes: [['# Notes', '# Notes on it']] },
];
const answer = (window) => {
  const plan = plans.find(({ when }) => window.includes(when));
  const text = plan?.changes.reduce((now, [from, to]) => (now.includes(to) ? now : now.replace(from, to)), window);
  return text === window ? undefined : text;
};

const model = await startEdits(answer);
let sent;
const world = await startWorld({
  vsix,
  files,
  settings,
  prepare: async ({ program, env }) => {
    model.configure(env);
    sent = tap({ program });
  },
});
const { page } = world;
await page.setViewportSize({ width: 1300, height: 620 });
try {
  await counters(/Nothing was counted in the last 30 days\.\s+Type in a file/);
  await hunks();
  await counters(/inception\/mercury-coder\s+Today\s+Last 30 days\s+Shown\s+[1-9]/);
  await everything();
  await ghostText();
  await jumps();
  await switches();
  await restart();
} catch (error) {
  console.error('told:', JSON.stringify(sent('azimuth/inline/feedback')), 'asked:', sent('azimuth/inline/edit').length, 'the model:', model.asked.length, await drawn(), await said().catch(() => ''));
  fs.cpSync(path.join(world.server.dir, 'tapped.jsonl'), path.join(shots, 'sent.jsonl'));
  await shot('failure').catch(() => {});
  throw error;
} finally {
  await world.stop();
  await model.stop();
}
console.log(`screenshots: ${shots}`);

/** Three hunks: one is accepted, one rejected, one jumped to, accepted and undone. */
async function hunks() {
  await steps.openFile(world, 'src/area.rs');
  await steps.azimuth(world, 'Suggest Next Edit');
  await status(/only edits are suggested/);
  await begin('src/area.rs', '2:15', ', h: u32');
  await shows(/line 3 \(1 of 3\)/);
  const marks = await drawn();
  assert.deepEqual(marks.removed, ['w', 'format!("{w} x {w} {unit}")']);
  assert.deepEqual(marks.inserted.slice(0, 2), ['h', ', h: u32']);
  assert.match(marks.inserted[2], /^↵ let area = area\(w, h\);  \+2 lines$/);
  assert.equal(await steps.bufferText(world), changed(area), 'nothing of it is in the document');
  await steps.goTo(world, '2:23');
  await shows(/line 3 \(1 of 3\)/);
  await lens(/Azimuth \+3 −1.*Accept.*Reject.*Next.*3 of 3/);
  await steps.until('the server to hear of it', () => feedback().includes('shown'));
  await page.waitForTimeout(700);
  await shot('shown');
  if (values.images !== undefined) await page.screenshot({ path: path.join(values.images, 'vscode-next.png') });
  told('an edit of three hunks is drawn in the text, which is as it was');

  const label = await said();
  assert.match(label, /status \| .*suggests an edit in line 3 \(1 of 3\)\. Replaces “w” with “h” in line 3\. Tab goes there, Escape rejects it\./);
  told('a screen reader has it in words');

  await page.keyboard.press('Tab');
  await cursorAt(3);
  await shows(/Tab accepts it/);
  await page.keyboard.press('Tab');
  await shows(/line 7 \(1 of 2\)/);
  const one = changed(area).replace('w * w', 'w * h');
  await text(one);
  told('Tab goes to the nearest hunk, and accepts it there; the others stay');

  await steps.goTo(world, '3:10');
  await steps.chord(world, 'y');
  await shows(/line 9(?! \()/);
  assert.deepEqual(sent('azimuth/inline/feedback').filter(({ event }) => event === 'rejected').map(({ hunk }) => typeof hunk), ['string']);
  await text(one);
  told('a hunk is rejected, and the other stays');

  await steps.goTo(world, '3:10');
  await shows(/line 9/);
  await page.keyboard.press('Tab');
  await cursorAt(9);
  await page.keyboard.press('Control+k');
  await page.keyboard.press('Control+i');
  const hover = page.locator('.monaco-hover:visible', { hasText: 'Azimuth suggests an edit' });
  await hover.waitFor();
  assert.match((await hover.innerText()).replaceAll('\u00a0', ' '), /-\s+format!\("\{w\} x \{w\} \{unit\}"\)\s+\+\s+let area = area\(w, h\);/);
  await shot('hover');
  await page.keyboard.press('Escape');
  await hover.waitFor({ state: 'hidden' });
  await page.waitForTimeout(300);
  await shows(/line 9/);
  told('the keyboard shows the diff of a hunk, and Escape closes only that');

  await steps.goTo(world, '2:23');
  await shows(/line 9/);
  await steps.chord(world, 'Shift+i');
  await hover.waitFor();
  await steps.until('the keyboard in the diff', () => page.evaluate(() => document.activeElement?.closest('.monaco-hover') !== null));
  await cursorAt(9);
  assert.match((await hover.innerText()).replaceAll('\u00a0', ' '), /let area = area\(w, h\);[^]*let size =[^]*\{area\} \{unit\}²/);
  await shot('all-lines');
  await page.keyboard.press('Escape');
  await hover.waitFor({ state: 'hidden' });
  await shows(/line 9/);
  told('from anywhere, a key shows all lines of a hunk');

  await page.keyboard.press('Tab');
  const all = plans[0].changes.filter(([from]) => !from.startsWith('fn')).reduce((now, [from, to]) => now.replace(from, to), changed(area));
  await text(all);
  await gone();
  await page.keyboard.press('Control+z');
  await text(one);
  told('each accepted hunk is one step of undo');
  await close();
}

/** The counters, from the menu of suggestions and by the keyboard alone. The server writes them every few seconds. */
async function counters(pattern) {
  await steps.azimuth(world, 'Show Suggestions Menu…');
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Show counters' }).waitFor();
  await page.keyboard.type('counters');
  await page.keyboard.press('Enter');
  let last;
  await steps.until(`the counters ${pattern}`, async () => {
    last = await (await webview(page, '.markdown-body')).locator('.markdown-body').innerText().catch(() => '');
    if (pattern.test(last)) return true;
    await page.waitForTimeout(500);
    await steps.azimuth(world, 'Show Suggestion Counters');
    return false;
  }, 60_000, async () => JSON.stringify(last));
  await shot('counters');
  await steps.closeTab(world);
  told(`the counters are shown: ${pattern}`);
}

/** The whole edit at once, by Escape, by a click, while something is selected. */
async function everything() {
  await begin('src/room.rs', '2:15', ', h: u32');
  await shows(/line 3/);
  await page.keyboard.press('Shift+Home');
  await gone();
  await page.keyboard.press('End');
  await shows(/line 3/);
  told('it is hidden while something is selected');

  // The hunk is of the lines below, which move.
  await page.keyboard.press('Control+Home');
  await page.keyboard.insertText('mod shapes;\n');
  await shows(/line 4 /);
  assert.deepEqual((await drawn()).inserted.slice(0, 2), ['h', ', h: u32']);
  told('it moves with the text');

  // Lines that were just moved are drawn anew for a while. Whoever sees that nothing came of a click does it again.
  await steps.until('two hunks', async () => {
    await steps.clickLens(page.locator('.codelens-decoration a', { hasText: 'Accept' }).first());
    return steps.until('two hunks', async () => /of 2/.test(await said()), 5_000).catch(() => false);
  }, 30_000, () => `accepted: ${JSON.stringify(sent('azimuth/inline/accept'))}`);
  told('the line above a hunk accepts it');

  await steps.chord(world, 'Shift+j');
  await text(`mod shapes;\n${plans[0].changes.reduce((now, [from, to]) => now.replace(from, to), changed(files['src/room.rs']))}`);
  await gone();
  told('all that is left is accepted at once');

  await begin('src/room.rs', '2:15', ', h: u32');
  await shows(/line 3/);
  await page.locator('.view-line', { hasText: 'The area of' }).click();
  await gone();
  await steps.until('the server to hear of it', () => feedback().at(-1) === 'ignored');
  told('a click elsewhere dismisses it');

  await steps.goTo(world, '2:23');
  await steps.chord(world, 'i');
  await shows(/line 3/);
  await page.keyboard.press('Escape');
  await gone();
  assert.equal(feedback().at(-1), 'rejected');
  const asked = sent('azimuth/inline/edit').length;
  await page.keyboard.press('Control+End');
  await page.keyboard.insertText('// End.');
  await steps.until('another request', () => sent('azimuth/inline/edit').length > asked);
  await page.waitForTimeout(2_000);
  await gone();
  told('a key asks for it, Escape rejects it, and it does not come back');
  await close();
}

/** An edit at the cursor that only adds something. */
async function ghostText() {
  await begin('src/sum.rs', '2:15', '');
  await page.keyboard.press('Enter');
  await page.keyboard.type('let b = 2;');
  const ghost = page.locator('.ghost-text, .ghost-text-decoration, .suggest-preview-text').filter({ hasText: /let/ });
  await ghost.first().waitFor({ state: 'attached' });
  assert.deepEqual(await drawn(), { removed: [], inserted: [] });
  assert.equal(await said(), '');
  await shot('ghost');
  await page.keyboard.press('Tab');
  await text('fn sum() -> i32 {\n    let a = 1;\n    let b = 2;\n    let c = a + b;\n    a\n}\n');
  await steps.until('the server to hear of it', () => feedback().at(-1) === 'accepted');
  await page.keyboard.press('Control+z');
  await text('fn sum() -> i32 {\n    let a = 1;\n    let b = 2;\n    a\n}\n');
  told('what can be ghost text is ghost text, with no model for text, and Tab accepts it');
}

/** Edits out of sight: in the same file, and in another one. */
async function jumps() {
  await begin('src/far.rs', '2:33', ', utf8');
  await shows(/line 83\. /);
  await steps.until('the line to say where', async () => (await drawn()).inserted.some((one) => /↓ Next edit: line 83 \(Tab\)/.test(one)), 5_000, async () => JSON.stringify(await drawn()));
  await shot('far');
  await page.keyboard.press('Tab');
  await cursorAt(83);
  assert.deepEqual((await drawn()).inserted, [', utf8'], 'what points at it is gone');
  await page.keyboard.press('Tab');
  await steps.until('the text', async () => (await steps.bufferText(world)).includes('read("second.txt", utf8)'));
  told('an edit out of sight is pointed at, and Tab goes there');
  await close();

  await steps.openFile(world, 'src/other.rs');
  await begin('src/near.rs', '2:33', ', utf8');
  await shows(/other\.rs, line 2\. /);
  await steps.until('the line to say where', async () => (await drawn()).inserted.some((one) => /→ Next edit: src\/other\.rs, line 2 \(Tab\)/.test(one)));
  await shot('other-file');
  await page.keyboard.press('Tab');
  await page.locator('.tab[data-resource-name="other.rs"].active').waitFor();
  await cursorAt(2);
  await shows(/Tab accepts it/);
  await shot('jumped');
  await page.keyboard.press('Tab');
  await text('fn other() {\n    let third = read("third.txt", utf8).unwrap();\n}\n');
  told('an edit in another file opens it');
}

/** The switches and the reasons are those of text. */
async function switches() {
  await steps.openFile(world, 'notes.md');
  await steps.azimuth(world, 'Turn Suggestions On or Off for This Language');
  await status(/switched off for markdown/);
  await steps.goTo(world, '3:10');
  const before = sent('azimuth/inline/edit').length;
  await page.keyboard.type(', and');
  await page.waitForTimeout(700);
  assert.equal(sent('azimuth/inline/edit').length, before);
  await steps.chord(world, 'i');
  const why = page.locator('.statusbar-item', { hasText: 'There is no suggested edit. Suggestions are switched off for markdown.' });
  await why.waitFor();
  await steps.azimuth(world, 'Turn Suggestions On or Off for This Language');
  await status(/only edits are suggested/);
  await steps.goTo(world, '3:10');
  await steps.chord(world, 'i');
  await shows(/line 1/);
  told('they are off for a language, and asking says so');

  await steps.choose(world, 'Pause Suggestions…', '15 minutes');
  await status(/Suggestions paused/);
  await gone();
  await steps.azimuth(world, 'Why Is There No Suggestion?');
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Suggestions are paused' }).first().waitFor();
  await shot('why');
  await page.keyboard.press('Escape');
  await steps.azimuth(world, 'Resume Suggestions');
  await status(/only edits are suggested/);
  told('a pause is for edits too');

  await steps.openFile(world, 'src/sum.rs');
  await begin('src/sum.rs', '2:1', '');
  await page.keyboard.press('Tab');
  await text('fn sum() -> i32 {\n        let a = 1;\n    a\n}\n');
  told('without an edit Tab indents');
}

/** The keys are VS Code's again after its process of extensions was started again. */
async function restart() {
  await begin('src/area.rs', '2:15', ', h: u32');
  await shows(/line 3/);
  // In the browser, VS Code has no command for it.
  const parentOf = (pid) => Number(fs.readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ')[1]);
  let host = steps.serverPid(world.server.dir);
  while (!fs.readFileSync(`/proc/${host}/cmdline`, 'utf8').includes('extensionHost')) host = parentOf(host);
  process.kill(host, 'SIGKILL');
  await steps.until('another server', () => sent('initialize').length === 2);
  await gone();
  await status(/only edits are suggested/);
  await steps.goTo(world, '2:23');
  await page.keyboard.press('Tab');
  await steps.until('the tab in the text', async () => /u32 +\)/.test(await steps.bufferText(world)), 5_000, () => steps.bufferText(world));
  told('after the extensions were started again, Tab indents');
}

function changed(code) {
  return code.replace('area(w: u32)', 'area(w: u32, h: u32)');
}

function feedback() {
  return sent('azimuth/inline/feedback').map(({ event }) => event);
}

async function shot(name) {
  await page.waitForTimeout(400);
  await page.screenshot({ path: path.join(shots, `${String(++count).padStart(2, '0')}-${name}.png`) });
}

/** A file as it was at first, with something typed at a position. */
async function begin(file, position, typed) {
  await steps.openFile(world, file);
  await steps.command(world, 'File: Revert File');
  await page.locator(`.tab.active:not(.dirty)[data-resource-name="${path.basename(file)}"]`).waitFor();
  await steps.until('the cursor', async () => {
    await steps.goTo(world, position);
    const [line, column] = position.split(':');
    return page.locator('.statusbar-item', { hasText: `Ln ${line}, Col ${column}` }).waitFor({ timeout: 3_000 }).then(() => true, () => false);
  });
  await page.keyboard.type(typed, { delay: 30 });
}

/** Closes the file in front, as it was at first: what is open is looked through for where else an edit is due. */
async function close() {
  await steps.command(world, 'File: Revert File');
  await steps.closeTab(world);
}

/** The marks of an edit: the text that is struck, and the texts that are drawn behind others. */
async function drawn() {
  const found = await page.evaluate(() => {
    const spans = [...document.querySelectorAll('.editor-instance .view-lines .view-line span span')];
    const byTop = (a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top || a.getBoundingClientRect().left - b.getBoundingClientRect().left;
    const lines = new Map();
    for (const span of spans.filter((one) => getComputedStyle(one).textDecorationLine.includes('line-through')).sort(byTop)) {
      const line = span.closest('.view-line');
      lines.set(line, (lines.get(line) ?? '') + span.textContent);
    }
    const after = spans.map((span) => [span, getComputedStyle(span, '::after').content]).filter(([span, content]) => /ced-/.test(span.className) && content !== 'none' && content !== '""');
    return { removed: [...lines.values()], inserted: after.sort(([a], [b]) => byTop(a, b)).map(([, content]) => content.slice(1, -1).replaceAll('\\"', '"')) };
  });
  const plain = (texts) => texts.map((one) => one.replaceAll('\u00a0', ' '));
  return { removed: plain(found.removed).map((one) => one.trim()), inserted: plain(found.inserted) };
}

/** The edit in the status bar: its text, its role and its label; empty if there is none. */
async function said() {
  const item = page.locator('.statusbar-item[id$="azimuth.nextEdit"]');
  const all = await item.evaluateAll((items) => items.map((one) => `${one.textContent} | ${one.querySelector('a')?.getAttribute('role')} | ${one.querySelector('a')?.getAttribute('aria-label')}`));
  return all.join('');
}

/** Waits until the item of suggestions in the status bar says this. */
async function status(pattern) {
  const item = page.locator('.statusbar-item[id$="azimuth.inline"]');
  const all = () => item.evaluateAll((items) => items.map((one) => `${one.textContent} | ${one.querySelector('a')?.getAttribute('aria-label')}`).join(''));
  return steps.until(`the status ${pattern}`, async () => pattern.test(await all()), 30_000, all);
}

async function shows(pattern) {
  return steps.until(`an edit like ${pattern}`, async () => pattern.test(await said()), 30_000, async () => `there is ${JSON.stringify(await said())}`);
}

async function gone() {
  return steps.until('no edit', async () => (await said()) === '' && (await drawn()).inserted.length === 0, 10_000, async () => JSON.stringify([await said(), await drawn()]));
}

async function lens(pattern) {
  const all = async () => (await page.locator('.codelens-decoration').allTextContents()).join(' / ').replaceAll('\u00a0', ' ');
  return steps.until(`a line like ${pattern}`, async () => pattern.test(await all()), 15_000, all);
}

async function cursorAt(line) {
  await page.locator('.statusbar-item', { hasText: `Ln ${line}, ` }).waitFor();
}

/** Waits until the editor has this text. The cursor stays. */
async function text(wanted) {
  let last;
  await steps.until('the text', async () => {
    last = await page.evaluate(() => [...document.querySelectorAll('.editor-instance .view-lines')].at(-1) && [...document.querySelectorAll('.editor-group-container.active .editor-instance .view-lines > .view-line')]
      .sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top)).map((line) => line.textContent).join('\n'));
    last = last.replaceAll('\u00a0', ' ').replaceAll('\u200b', '');
    return last.trimEnd() === wanted.trimEnd();
  }, 20_000, async () => `it is ${JSON.stringify(last)} and not ${JSON.stringify(wanted)}`);
}
