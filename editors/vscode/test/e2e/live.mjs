// Edits while the model writes them, in a real VS Code: `node test/e2e/live.mjs --vsix FILE [--shots FOLDER] [--theme NAME]`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import * as steps from './steps.mjs';
import { startWorld } from './world.mjs';

const { values } = parseArgs({ options: { vsix: { type: 'string' }, shots: { type: 'string' }, theme: { type: 'string' } } });
const shots = path.resolve(values.shots ?? path.join(import.meta.dirname, '../../../../tests/artifacts/vscode-live'));
fs.mkdirSync(shots, { recursive: true });

const before = 'fn first() -> u8 {\n    1\n}\n\nfn second() -> u8 {\n    2\n}\n';
const world = await startWorld({
  vsix: path.resolve(values.vsix),
  files: { 'lib.rs': before },
  settings: { 'workbench.colorTheme': values.theme ?? 'Default Dark Modern', 'files.autoSave': 'off' },
  models: ['model-1', 'model-2'],
});
const { page, model } = world;
let count = 0;
const shot = (name) => page.screenshot({ path: path.join(shots, `${String(++count).padStart(2, '0')}-${name}.png`) });
const told = (what) => console.log(`ok: ${what}`);

/** A call of which the input stops short of `mark` until `goOn` is called. */
function held(tool, input, ...marks) {
  const waits = marks.map(() => {
    let goOn;
    return { until: new Promise((resolve) => (goOn = resolve)), goOn };
  });
  const pieces = async function* (text) {
    let at = 0;
    for (const [index, mark] of marks.entries()) {
      const next = text.indexOf(mark);
      // In small pieces, as a model's.
      for (; at < next; at += 20) yield text.slice(at, Math.min(at + 20, next));
      at = next;
      await waits[index].until;
    }
    yield text.slice(at);
  };
  return { call: { tool, input, pieces }, goOn: (index = 0) => waits[index].goOn() };
}

try {
  await steps.openFile(world, 'lib.rs');
  const frame = await steps.openChat(world);
  await steps.status(world, /ready/);
  await steps.widenChat(world, 560);

  const edit = held('edit_replace_exact', { path: 'lib.rs', old_text: '    2\n', new_text: '    // twice\n    20\n    // END\n' }, 'END');
  model.add({ text: 'I change the second. ', calls: [edit.call] }, { text: 'Proposed.' });
  await steps.ask(world, 'Make it ten times larger.');
  const live = frame.locator('.entry.diff');
  await live.locator('.insert', { hasText: '20' }).waitFor();
  assert.match(await live.innerText(), /lib\.rs/);
  assert.deepEqual(await live.locator('.remove').allInnerTexts(), ['-    2']);
  assert.equal(await frame.locator('.entry.tool').count(), 0);
  await steps.noSeriousFault(frame, 'while an edit is written');
  await shot('edit');
  edit.goOn();
  await steps.pendingHunks(world, 1);
  assert.equal(await live.count(), 0);
  await frame.locator('.entry.tool', { hasText: 'Editing lib.rs' }).waitFor();
  told('a diff grows while the model writes an edit, and its call and hunks stand for it then');

  const lines = Array.from({ length: 120 }, (_, index) => `let n${index + 1} = ${index + 1};\n`);
  const file = held('edit_create_file', { path: 'long.rs', content: lines.join('') }, 'n60 ', 'n90 ');
  model.add({ calls: [file.call] });
  await steps.ask(world, 'Write a long file.');
  const last = live.locator('.insert').last();
  await steps.until('the first lines', async () => /n59/.test(await live.innerText()));
  const pre = live.locator('pre');
  const look = () => pre.evaluate((one) => ({ height: one.clientHeight, all: one.scrollHeight, rest: one.scrollHeight - one.scrollTop - one.clientHeight }));
  await steps.until('its end', async () => (await look()).rest < 5);
  const { height, all } = await look();
  assert.ok(height <= 260 && all > 2 * height, `it is bounded: ${height} of ${all}`);
  assert.ok(await last.isVisible());
  assert.ok(await frame.locator('.transcript').evaluate((one) => one.scrollHeight - one.scrollTop - one.clientHeight < 5), 'the conversation follows, too');
  await shot('long');
  await pre.evaluate((one) => (one.scrollTop = 0));
  file.goOn(0);
  await steps.until('more lines', async () => /n89/.test(await live.innerText()));
  assert.equal(await pre.evaluate((one) => one.scrollTop), 0, 'who reads its beginning stays there');
  await steps.chord(world, 'q');
  await frame.locator('.entry.end', { hasText: 'Cancelled' }).waitFor();
  assert.equal(await live.count(), 0);
  file.goOn(1);
  told('a long one is bounded, follows its end unless it is read elsewhere, and goes with a turn that is cancelled');

  const limited = { status: 429, headers: { 'retry-after': '90' }, text: 'Too many requests.' };
  model.add(limited, { text: 'Here I am.' });
  await steps.ask(world, 'Are you there?');
  const doing = frame.locator('.status .doing');
  const seconds = async () => Number(/Retry 1 of 3 in (\d+) s/.exec(await doing.innerText())?.[1]);
  await steps.until('the countdown', async () => (await seconds()) > 0);
  const first = await seconds();
  await steps.until('a tick', async () => (await seconds()) < first);
  assert.equal(await doing.locator('.countdown').getAttribute('aria-hidden'), 'true', 'a screen reader is not told of each second');
  await frame.locator('.entry.note', { hasText: 'retry 1 of 3 in 90 s' }).waitFor();
  await steps.noSeriousFault(frame, 'while a request waits');
  await shot('wait');
  await frame.getByRole('button', { name: 'Try now' }).click();
  await frame.locator('.entry.answer', { hasText: 'Here I am.' }).waitFor();
  assert.equal(await frame.getByRole('button', { name: 'Try now' }).count(), 0);

  model.add(limited);
  await steps.ask(world, 'And now?');
  await frame.getByRole('button', { name: 'Try now' }).waitFor();
  await frame.getByRole('button', { name: 'Stop' }).click();
  await steps.until('the end', async () => (await frame.locator('.entry.end', { hasText: 'Cancelled' }).count()) === 2);
  told('a wait for the model counts down, and is ended by "Try now" and "Stop"');

  model.add({ ...limited, headers: { 'retry-after': '3600' } }, { text: 'I am the second one.' });
  await steps.ask(world, '/model test/model-1,test/model-2');
  await steps.ask(world, 'Who is there?');
  await frame.locator('.entry.answer', { hasText: 'I am the second one.' }).waitFor();
  await frame.locator('.entry', { hasText: /test\/model-1 takes no more requests until .*; test\/model-2 continues/ }).waitFor();
  assert.deepEqual(model.asked.slice(-2).map((one) => one.model), ['model-1', 'model-2']);
  await steps.noSeriousFault(frame, 'with another model of the chain');
  await shot('fallback');
  told('a turn goes on with the next model of its chain, and says so');
} catch (error) {
  await shot('failure').catch(() => {});
  throw error;
} finally {
  await world.stop();
}
console.log(`screenshots: ${shots}`);
