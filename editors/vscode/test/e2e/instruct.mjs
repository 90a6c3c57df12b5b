// "Change this": a selection and an instruction become hunks in place, which are accepted, rejected and refined; writing at the
// cursor, a question, an answer without a change, cancelling, the chat. `node test/e2e/instruct.mjs --vsix FILE [--shots FOLDER] [--theme NAME] [--images FOLDER]`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import * as steps from './steps.mjs';
import { tap } from './tap.mjs';
import { startWorld } from './world.mjs';

const { values } = parseArgs({ options: { vsix: { type: 'string' }, shots: { type: 'string' }, theme: { type: 'string' }, images: { type: 'string' } } });
const vsix = path.resolve(values.vsix);
const shots = path.resolve(values.shots ?? path.join(import.meta.dirname, '../../../../tests/artifacts/vscode-instruct'));
fs.mkdirSync(shots, { recursive: true });

let count = 0;
const told = (what) => console.log(`ok: ${what}`);
const settings = {
  'workbench.colorTheme': values.theme ?? 'Default Dark Modern', 'files.autoSave': 'off', 'editor.accessibilitySupport': 'off',
  'editor.quickSuggestions': { other: 'off', comments: 'off', strings: 'off' }, 'editor.minimap.enabled': false, 'editor.autoClosingBrackets': 'never',
  'azimuth.permissions.ask': ['Read(other.rs)'],
};
const area = `/// The area of a room, in square metres.
fn area(w: u32, h: u32) -> u32 {
    let a = w * h;
    return a;
}

/// The price of its floor.
fn price(w: u32, h: u32) -> u32 {
    let p = area(w, h) * 7;
    return p;
}

fn main() {
    println!("{}", price(3, 4));

}
`;
const edit = (from, to) => ({ tool: 'edit_replace_exact', input: { path: 'src/area.rs', old_text: from, new_text: to } });
const hunks = [
  ['    let a = w * h;\n    return a;\n', '    w * h\n'],
  ['/// The price of its floor.\n', '/// The price of its floor, in euros.\n'],
  ['    let p = area(w, h) * 7;\n    return p;\n', '    let floor = area(w, h);\n    floor.saturating_mul(7)\n'],
];
const replaced = (text, ...changes) => changes.reduce((now, [from, to]) => now.replace(from, to), text);
let write;
const written = new Promise((resolve) => (write = resolve));
/** Gives all of a call but its end, which waits. */
async function* slowly(text) {
  yield text.slice(0, -8);
  await written;
  yield text.slice(-8);
}

let sent;
const world = await startWorld({
  vsix,
  files: { 'src/area.rs': area, 'src/other.rs': 'fn other() {}\n' },
  settings,
  answers: [{ calls: [edit(...hunks[0]), edit(...hunks[1]), { ...edit(...hunks[2]), pieces: slowly }] }, { text: 'Done.' }],
  prepare: async ({ program }) => (sent = tap({ program })),
});
const { page, model } = world;
await page.setViewportSize({ width: 1300, height: 620 });
try {
  await decide();
  await refine();
  await writeHere();
  await words();
  await failure();
  await question();
  await stop();
  await reload();
  await chat();
  await gone();
} catch (error) {
  console.error('the instructions:', JSON.stringify(sent('azimuth/inline/instruct')), 'the model was asked:', model.asked.length);
  fs.cpSync(path.join(world.server.dir, 'tapped.jsonl'), path.join(shots, 'sent.jsonl'));
  await shot('failure').catch(() => {});
  throw error;
} finally {
  await world.stop();
}
console.log(`screenshots: ${shots}`);

/** A selection and an instruction: three hunks, of which one is accepted and one rejected. */
async function decide() {
  await steps.openFile(world, 'src/area.rs');
  await select('1:1', 10);
  await steps.chord(world, 't');
  const input = await prompt('Change area.rs, lines 1 to 10');
  await page.keyboard.type('Without the variables, and say the unit');
  await shot('prompt');
  await page.keyboard.press('Enter');
  await input.waitFor({ state: 'hidden' });
  await sign(/Azimuth: changing… \d+ lines/);
  assert.match(await label(), /Azimuth: changing…/);
  await shot('changing');
  told('while it is written, the first selected line says so, with the number of lines');
  await arriving();
  write();

  await lenses(/Accept.*Reject.*Accept all.*Reject all.*Refine….*Chat/, 3);
  await steps.until('the end of the sign', async () => !/changing/.test((await behind()).join()));
  const marks = await behind();
  for (const text of ['w * h', ', in euros', 'floor.saturating_mul(7)']) assert.ok(marks.some((one) => one.replaceAll('\u00a0', ' ').includes(text)), `${text} in ${JSON.stringify(marks)}`);
  assert.equal(await steps.bufferText(world), area, 'nothing of it is in the document');
  assert.deepEqual(sent('azimuth/inline/instruct')[0].selections, [{ start: { line: 0, character: 0 }, end: { line: 10, character: 0 } }]);
  assert.ok(said(model.asked[0]).includes('Without the variables, and say the unit'));
  await steps.goTo(world, '12:1');
  for (let line = 0; line < 5; line += 1) await page.keyboard.press('Control+ArrowUp');
  await page.waitForTimeout(700);
  await shot('proposed');
  if (values.images !== undefined) await page.screenshot({ path: path.join(values.images, 'vscode-instruct.png') });
  told('three hunks are drawn in the text, which is as it was');

  await steps.command(world, 'View: Split Editor Right');
  await steps.openFile(world, 'src/other.rs');
  await page.waitForTimeout(500);
  assert.ok((await behind()).some((one) => /w.\*.h/.test(one)), JSON.stringify(await behind()));
  await steps.closeTab(world);
  await steps.closeTab(world);
  told('they stay while the keyboard is in another group');


  await steps.goTo(world, '3:8');
  await page.keyboard.press('Control+k');
  await page.keyboard.press('Control+i');
  const hover = page.locator('.monaco-hover:visible', { hasText: 'Azimuth proposes this change' });
  await hover.waitFor();
  await shot('hover');
  await page.keyboard.press('Escape');
  await hover.waitFor({ state: 'hidden' });

  await steps.chord(world, 'g');
  // To read the text moves the cursor, by which the hunk is meant.
  await lenses(/Accept/, 2);
  await text(replaced(area, hunks[0]));
  await steps.goTo(world, '6:3');
  await steps.chord(world, 'x');
  await lenses(/Accept/, 1);
  await text(replaced(area, hunks[0]));
  told('one hunk is accepted and one rejected, by the keys of the review');
}

/** The diff so far is in the text while the model writes: the last line of the last hunk has not come to its end. */
async function arriving() {
  const removed = ['let a = w * h;', 'return a;', '/// The price of its floor.', 'let p = area(w, h) * 7;', 'return p;'];
  const inserted = ['↵ w * h', '↵ /// The price of its floor, in euros.', /^↵ floor\.saturating_mu.*  \(2 lines\)$/];
  const isDrawn = async () => {
    const marks = (await behind()).map((one) => one.replaceAll('\u00a0', ' ')).filter((one) => one.startsWith('↵'));
    const isSame = inserted.every((one, index) => (typeof one === 'string' ? marks[index] === one : one.test(marks[index] ?? '')));
    return isSame && marks.length === inserted.length && JSON.stringify(await struck()) === JSON.stringify(removed);
  };
  const explain = async () => JSON.stringify([await behind(), await struck()]);
  await steps.until('the diff so far', isDrawn, 30_000, explain);
  await page.keyboard.press('ArrowLeft');
  await shot('arriving');

  await steps.goTo(world, '1:1');
  await page.keyboard.insertText('mod rooms;\n');
  await steps.until('the diff so far, a line lower', isDrawn, 10_000, explain);
  await shot('arriving-typed');
  await steps.goTo(world, '4:8');
  await page.keyboard.press('Control+k');
  await page.keyboard.press('Control+i');
  const hover = page.locator('.monaco-hover:visible', { hasText: 'Azimuth is writing this change' });
  await hover.waitFor();
  assert.match((await hover.innerText()).replaceAll('\u00a0', ' '), /-\s+let a = w \* h;\s+-\s+return a;\s+\+\s+w \* h\s*$/);
  await page.keyboard.press('Escape');
  await steps.goTo(world, '1:1');
  await page.keyboard.press('Control+Shift+k');
  await text(area);
  told('the diff so far is drawn in the text, follows what is typed, and is in the hover');
}

/** The hunk that is left is refined by the same key, accepted, and undone. */
async function refine() {
  const better = ['    let floor = area(w, h);\n    floor.saturating_mul(7)\n', '    area(w, h) * 7\n'];
  model.add({ calls: [edit(...better)] }, { text: 'Shorter.' });
  await steps.goTo(world, '8:5');
  await steps.chord(world, 't');
  await prompt('Refine area.rs, lines 1 to 9');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  const input = page.locator('.quick-input-widget:visible input.input');
  await steps.until('the earlier instruction', async () => (await input.inputValue()) === 'Without the variables, and say the unit');
  await shot('history');
  await input.fill('Shorter');
  await page.keyboard.press('Enter');
  await steps.until('the refined hunk', async () => (await behind()).some((one) => one.replaceAll('\u00a0', ' ').includes('area(w, h) * 7')), 30_000, async () => JSON.stringify(await behind()));
  await lenses(/Accept/, 1);
  const [first, second] = sent('azimuth/inline/instruct');
  assert.equal(first.sessionId, undefined);
  assert.equal(typeof second.sessionId, 'string');
  const whole = said(model.asked.at(-2));
  assert.ok(whole.includes('Shorter') && whole.includes('floor.saturating_mul(7)'), 'the model has the text with what is pending');
  await shot('refined');
  told('the key refines the hunk at the cursor, with the history of instructions in the prompt');

  await steps.clickLens(page.locator('.codelens-decoration a', { hasText: /^\s*Accept$/ }).first());
  const all = replaced(area, hunks[0], [hunks[2][0], better[1]]);
  await text(all);
  await page.locator('.editor-instance .view-line', { hasText: 'main' }).click();
  await page.keyboard.press('Control+z');
  await text(replaced(area, hunks[0]));
  await page.keyboard.press('Control+Shift+z');
  await text(all);
  told('an accepted hunk is one step of undo');
}

/** Something is written at the cursor, by the code action; the change before it is closed. */
async function writeHere() {
  assert.equal(sent('azimuth/session/close').length, 0);
  model.add({ calls: [edit('    println!("{}", price(3, 4));\n\n', '    println!("{}", price(3, 4));\n    println!("{}", area(3, 4));\n')] }, { text: 'Done.' });
  await steps.goTo(world, '13:1');
  await steps.codeAction(world, 'Azimuth: write here…');
  await prompt('Change area.rs, line 13, at the cursor');
  await page.keyboard.type('Print the area as well');
  await page.keyboard.press('Enter');
  await steps.until('the instruction', () => sent('azimuth/inline/instruct').length === 3);
  assert.equal(sent('azimuth/session/close').length, 1);
  await steps.until('the line', async () => (await behind()).some((one) => /area\(3/.test(one)));
  await lenses(/Accept/, 1);
  const { selections } = sent('azimuth/inline/instruct').at(-1);
  assert.deepEqual(selections, [{ start: { line: 12, character: 0 }, end: { line: 12, character: 0 } }]);
  await steps.chord(world, 'Shift+g');
  await lenses(/^$/, 0);
  await steps.until('the line', async () => (await steps.bufferText(world)).includes('area(3, 4)'));
  await page.keyboard.press('ArrowRight');
  told('a code action writes at the cursor; of the change before nothing waited, so it is closed');
}

/** An answer that changes nothing is said at the line. */
async function words() {
  model.add({ text: 'There is nothing to simplify here: the function is one expression.' });
  await select('2:1', 2);
  await steps.chord(world, 't');
  const input = (await prompt('Change area.rs, lines 2 to 3')).locator('input.input');
  await page.locator('.view-line', { hasText: 'fn main' }).click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.insertText('mod rooms;\n');
  await input.click();
  await page.keyboard.type('Simplify');
  await page.keyboard.press('Enter');
  await sign(/Azimuth: There is nothing to simplify here/);
  assert.deepEqual(sent('azimuth/inline/instruct').at(-1).selections, [{ start: { line: 2, character: 0 }, end: { line: 4, character: 0 } }], 'what is typed while the prompt is open moves what is selected');
  assert.match(await label(), /There is nothing to simplify/);
  assert.equal(await page.locator('.notification-list-item').count(), 0);
  await shot('words');
  await steps.goTo(world, '1:1');
  await page.keyboard.press('Control+Shift+k');
  told('an answer without a change is said behind the line, and in no message');
}

/** A failure is said in a message, since the user may be elsewhere by then, and the words are kept. */
async function failure() {
  await steps.goTo(world, '2:1');
  await steps.chord(world, 't');
  await prompt('Change area.rs, line 2, at the cursor');
  await page.keyboard.type('Fail');
  await page.keyboard.press('Enter');
  await page.locator('.notification-list-item', { hasText: 'the test has no answer left' }).first().waitFor();
  await sign(/the test has no answer left/);
  await steps.command(world, 'Notifications: Clear All Notifications');
  await steps.goTo(world, '2:1');
  await steps.azimuth(world, 'Refine Change…');
  const widget = await prompt('Refine area.rs, line 2');
  await widget.locator('.monaco-list-row', { hasText: 'Fail' }).waitFor();
  await page.keyboard.press('Escape');
  told('a failure is said, and what was asked for is in the history');
}

/** A question of a change is answered where it is asked. */
async function question() {
  model.add({ calls: [{ tool: 'read_file', input: { path: 'src/other.rs' } }] }, { text: 'I have read it.' });
  await steps.azimuth(world, 'Change This File…');
  await prompt('Change area.rs, the whole file');
  await page.keyboard.type('As in the other file');
  await page.keyboard.press('Enter');
  await sign(/asks you before it goes on/);
  assert.deepEqual(sent('azimuth/inline/instruct').at(-1).selections, []);
  const message = page.locator('.notification-list-item', { hasText: 'other.rs' });
  await message.waitFor();
  await shot('question');
  await message.getByRole('button', { name: /Allow once|Once|Allow/ }).first().click();
  await sign(/Azimuth: I have read it/);
  told('a question of a change is asked and answered in a message');
}

/** A change that is being made is cancelled by the key. */
async function stop() {
  model.add({ text: 'I go on and on. ', delayMs: 50, forever: true });
  await select('2:1', 2);
  await steps.chord(world, 't');
  await prompt('lines 2 to 3');
  await page.keyboard.type('Go on');
  await page.keyboard.press('Enter');
  await sign(/Azimuth: changing…/);
  await steps.chord(world, 'q');
  await steps.until('the end of the sign', async () => (await behind()).length === 0, 30_000, async () => JSON.stringify(await behind()));
  assert.equal(sent('azimuth/turn/cancel').length, 1);
  told('the key cancels it, and nothing is left');
}

/** A change that waits is there again after the window was loaded again. */
async function reload() {
  model.add({ calls: [edit('/// The area of a room, in square metres.\n', '/// The area of a room, in m².\n')] }, { text: 'Done.' });
  await steps.command(world, 'File: Save');
  await select('1:1', 1);
  await steps.chord(world, 't');
  await prompt('line 1');
  await page.keyboard.type('With a symbol');
  await page.keyboard.press('Enter');
  await lenses(/Accept/, 1);
  await steps.goTo(world, '1:3');
  await steps.chord(world, 'Shift+t');
  await prompt('Refine area.rs, line 1');
  await page.keyboard.type('Fail');
  await page.keyboard.press('Enter');
  await page.locator('.notification-list-item', { hasText: 'the test has no answer left' }).first().waitFor();
  await steps.command(world, 'Notifications: Clear All Notifications');
  await steps.command(world, 'Developer: Reload Window');
  await page.locator('.monaco-workbench').waitFor({ state: 'detached' });
  await page.locator('.monaco-workbench').waitFor();
  await steps.openFile(world, 'src/area.rs');
  await lenses(/Accept.*Refine….*Chat/, 1);
  await steps.until('the marks', async () => (await behind()).includes('m²'), 30_000, async () => JSON.stringify(await behind()));
  await shot('reloaded');
  assert.deepEqual(await page.locator('.notification-list-item').allInnerTexts(), [], 'what was said before is not said again');
  told('what waits is there again after the window was loaded again');

  // The next server ends before it has opened the change.
  sent.dieAt('azimuth/session/open');
  await steps.killServer(world);
  await steps.until('another server', () => sent('initialize').length === 4);
  await steps.pendingHunks(world, 1);
  await lenses(/Accept.*Refine….*Chat/, 1);
  model.add({ calls: [edit('/// The area of a room, in m².\n', '/// The area of a room, in square feet.\n')] }, { text: 'Done.' });
  await steps.goTo(world, '1:3');
  await steps.chord(world, 'Shift+t');
  await prompt('Refine area.rs, line 1');
  await page.keyboard.type('Not metres, feet');
  await page.keyboard.press('Enter');
  await steps.until('the refined hunk', async () => (await behind()).includes('feet'), 30_000, async () => JSON.stringify(await behind()));
  told('after the server has crashed it can be refined');
}

/** The change becomes a conversation, with all tools. */
async function chat() {
  await steps.goTo(world, '1:3');
  await steps.azimuth(world, 'Continue Change in Chat');
  const frame = await steps.chatFrame(world);
  await frame.locator('.header', { hasText: 'With a symbol' }).waitFor();
  await steps.pendingHunks(world, 1);
  await lenses(/Accept.*Reject$/, 1);
  await shot('chat');
  model.add({ text: 'They pass.' });
  await steps.ask(world, 'Run the tests');
  await steps.until('the request', () => said(model.asked.at(-1)).includes('Run the tests'));
  assert.ok(model.asked.at(-1).tools.some((tool) => tool.function.name === 'shell_run'), 'it has a shell now');
  await steps.openFile(world, 'src/area.rs');
  await steps.goTo(world, '1:3');
  await steps.chord(world, 'g');
  await steps.pendingHunks(world, 0);
  await steps.until('the text', async () => (await steps.bufferText(world)).includes('in square feet'));
  told('a change goes on in the chat, with its hunks and all tools');
}

/** The server crashes too often to be started again. */
async function gone() {
  const before = sent('initialize').length;
  await steps.killServer(world);
  await steps.until('another server', () => sent('initialize').length > before);
  model.add({ text: 'I go on and on. ', delayMs: 50, forever: true });
  await select('2:1', 2);
  await steps.chord(world, 't');
  await prompt('lines 2 to 3');
  await page.keyboard.type('Go on');
  await page.keyboard.press('Enter');
  await sign(/Azimuth: changing…/);
  // Four times within three minutes are too often.
  await steps.killServer(world);
  await page.locator('.notification-list-item', { hasText: 'is not restarted automatically' }).first().waitFor();
  await steps.until('the end of the sign', async () => (await behind()).length === 0, 10_000, async () => JSON.stringify(await behind()));
  assert.doesNotMatch(await label(), /changing/);
  told('without a server nothing is said to be changing');
}

async function shot(name) {
  await page.waitForTimeout(400);
  await page.screenshot({ path: path.join(shots, `${String(++count).padStart(2, '0')}-${name}.png`) });
}

/** Selects lines from a position. */
async function select(position, lines) {
  await steps.goTo(world, position);
  for (let line = 0; line < lines; line += 1) await page.keyboard.press('Shift+ArrowDown');
  await page.locator('.statusbar-item', { hasText: /selected/ }).waitFor();
}

/** Waits for the prompt, by its title, with the keyboard in it. */
async function prompt(title) {
  const widget = page.locator('.quick-input-widget:visible', { has: page.locator('.quick-input-title', { hasText: title }) });
  await widget.waitFor();
  await steps.until('the keyboard in the prompt', () => page.evaluate(() => document.activeElement?.closest('.quick-input-widget') !== null));
  return widget;
}

/** Waits for words behind a line. */
async function sign(pattern) {
  await steps.until(`the sign ${pattern}`, async () => (await behind()).some((one) => pattern.test(one.replaceAll('\u00a0', ' '))), 30_000, async () => JSON.stringify(await behind()));
}

/** The words of the status bar for those who do not see the sign. */
async function label() {
  const [words] = await page.locator('.statusbar-item[id$="azimuth.instruct"]').evaluateAll((items) => items.map((one) => one.querySelector('a')?.getAttribute('aria-label')));
  return words ?? '';
}

/** The texts that are drawn behind others. */
async function behind() {
  return page.evaluate(() => [...document.querySelectorAll('.editor-instance .view-lines .view-line span span')]
    .map((span) => [span, getComputedStyle(span, '::after').content])
    .filter(([span, content]) => /ced-/.test(span.className) && content !== 'none' && content !== '""')
    .map(([, content]) => content.replace(/^"|"$/g, '').replaceAll('\\"', '"')));
}

/** The parts of the text that are struck, one for each line. */
async function struck() {
  return page.evaluate(() => {
    const lines = new Map();
    const byTop = (a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top || a.getBoundingClientRect().left - b.getBoundingClientRect().left;
    const spans = [...document.querySelectorAll('.editor-instance .view-lines .view-line span span')].filter((one) => getComputedStyle(one).textDecorationLine.includes('line-through'));
    for (const span of spans.sort(byTop)) lines.set(span.closest('.view-line'), `${lines.get(span.closest('.view-line')) ?? ''}${span.textContent}`);
    return [...lines.values()].map((one) => one.replaceAll('\u00a0', ' '));
  });
}

/** Waits for lines of actions: as many, the first of them with these. */
async function lenses(pattern, number) {
  const lines = page.locator('.codelens-decoration', { hasText: 'Reject' });
  const found = async () => (await lines.allInnerTexts()).map((one) => one.replaceAll('\u00a0', ' '));
  await steps.until(`${number} lines of actions`, async () => {
    const now = await found();
    return now.length === number && pattern.test(now.join('\n').replaceAll('\n', ' '));
  }, 30_000, async () => JSON.stringify(await found()));
}

async function text(wanted) {
  await steps.until('the text', async () => (await steps.bufferText(world)) === wanted, 15_000, async () => JSON.stringify(await steps.bufferText(world)));
}

/** All that the model was told. */
function said({ messages }) {
  return messages.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content))).join('\n');
}
