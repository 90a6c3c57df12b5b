// What becomes of hunks that wait while files go on changing, in a real VS Code: an edit lands where it was meant, or is
// refused with a reason, and what the user typed stays. `node test/e2e/pending.mjs --vsix FILE [--shots FOLDER] [--theme NAME]`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import * as steps from './steps.mjs';
import { startWorld } from './world.mjs';

const { values } = parseArgs({ options: { vsix: { type: 'string' }, shots: { type: 'string' }, theme: { type: 'string' } } });
const shots = path.resolve(values.shots ?? path.join(import.meta.dirname, '../../../../tests/artifacts/vscode-pending'));
fs.mkdirSync(shots, { recursive: true });

const three = 'fn first() -> u8 {\n    1\n}\n\nfn second() -> u8 {\n    2\n}\n\nfn third() -> u8 {\n    3\n}\n';
const bom = '\ufeff';
const windows = `${bom}first\r\nsecond\r\nthird\r\n`;
const edit = (file, old_text, new_text) => ({ tool: 'edit_replace_exact', input: { path: file, old_text, new_text } });

const world = await startWorld({
  vsix: path.resolve(values.vsix),
  files: { 'lib.rs': three, 'gone.rs': three, 'open.txt': windows, 'closed.txt': windows, 'late.rs': three },
  settings: { 'workbench.colorTheme': values.theme ?? 'Default Dark Modern', 'files.autoSave': 'off', 'editor.accessibilitySupport': 'off', 'comments.openView': 'never' },
});
const { page, model, project } = world;
await page.setViewportSize({ width: 1600, height: 900 });
let count = 0;
const shot = (name) => page.screenshot({ path: path.join(shots, `${String(++count).padStart(2, '0')}-${name}.png`) });
const told = (what) => console.log(`ok: ${what}`);
const at = (name) => path.join(project, name);
const row = (text) => page.locator('.pane', { has: page.locator('.pane-header[aria-label^="Review"]') }).locator('.monaco-list-row').filter({ hasText: text }).first();
const heard = () => JSON.stringify(model.asked.at(-1).messages);
/** Asks for edits, and waits until their hunks do. */
const propose = async (hunks, ...calls) => {
  model.add({ calls }, { text: 'Proposed.' });
  await steps.ask(world, `Propose ${hunks}.`);
  await steps.pendingHunks(world, hunks);
};
/** Puts the cursor of the focused editor at a line, from 1. */
const goTo = async (line) => {
  await page.keyboard.press('Control+g');
  const input = page.locator('.quick-input-widget:visible input.input');
  await input.fill(`:${line}`);
  await page.keyboard.press('Enter');
  await page.locator('.editor-instance .monaco-editor.focused').first().waitFor();
};

try {
  await steps.openFile(world, 'lib.rs');
  await steps.azimuth(world, 'Open Chat');
  const frame = await steps.chatFrame(world);
  await steps.status(world, /ready/);

  // Typing above a hunk, below it, and in its own lines.
  await propose(3, edit('lib.rs', '    1\n', '    10\n'), edit('lib.rs', '    2\n', '    20\n'), edit('lib.rs', '    3\n', '    30\n'));
  await steps.openFile(world, 'lib.rs');
  const mine = 'static MINE: u8 = 7; /* \u{1F980} */\n';
  await steps.typeAtStart(world, mine);
  await goTo(12);
  await page.keyboard.press('End');
  await page.keyboard.insertText(' // mine');
  const typed = `${mine}${three}`.replace('    3\n}', '    3\n} // mine');
  assert.equal(await steps.bufferText(world), typed);
  await goTo(7);
  await page.keyboard.press('End');
  await page.keyboard.insertText('2');
  await row('does not fit the text any more').waitFor();
  await steps.pendingHunks(world, 2);
  await shot('typed');
  await steps.azimuth(world, 'Accept All Hunks');
  await steps.pendingHunks(world, 0);
  await steps.openFile(world, 'lib.rs');
  assert.equal(await steps.bufferText(world), typed.replace('    2\n', '    22\n').replace('    1\n', '    10\n').replace('    3\n', '    30\n'));
  told('hunks follow what is typed above and below them; one whose own lines were typed into is marked, and left out');

  // A decision while the turn goes on.
  let goOn;
  model.add(
    { calls: [edit('lib.rs', '    10\n', '    11\n'), edit('lib.rs', '    30\n', '    31\n')] },
    { text: 'I look at more. ', until: new Promise((resolve) => (goOn = resolve)), calls: [{ tool: 'read_file', input: { path: 'closed.txt' } }] },
    { text: 'As you wish.' },
  );
  await steps.ask(world, 'One more for two of them.');
  await steps.status(world, /works.*2 hunks wait/s);
  await steps.openReview(world);
  await steps.chord(world, 'x');
  await steps.status(world, /works.*1 hunk waits/s);
  await shot('running');
  const before = model.asked.length;
  goOn();
  await steps.pendingHunks(world, 1);
  assert.equal(model.asked.length, before + 1);
  assert.match(heard(), /rejected/);
  await steps.chord(world, 'g');
  await steps.pendingHunks(world, 0);
  await steps.openFile(world, 'lib.rs');
  assert.match(await steps.bufferText(world), /^    10$[^]*^    31$/m);
  told('a hunk is rejected while the turn runs, and the model hears of it at its next request');

  // A file that is deleted meanwhile.
  await propose(1, edit('gone.rs', '    2\n', '    20\n'));
  fs.rmSync(at('gone.rs'));
  await steps.azimuth(world, 'Accept All Hunks');
  await shot('deleted');
  console.log(await steps.status(world, /./), await frame.locator('.transcript').innerText(), await row('gone.rs').innerText());
} catch (error) {
  await shot('failure').catch(() => {});
  throw error;
} finally {
  await world.stop();
}
console.log(`screenshots: ${shots}`);
