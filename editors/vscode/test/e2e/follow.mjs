// Following the agent: an editor beside shows where it looks: `node test/e2e/follow.mjs --vsix FILE [--shots FOLDER]`.
import assert from 'node:assert/strict';
import path from 'node:path';
import * as steps from './steps.mjs';
import { called, tell, told } from './story.mjs';
import { startWorld } from './world.mjs';

const { vsix, shots } = called('follow');
const lines = (name) => Array.from({ length: 200 }, (_, line) => `${name} ${line + 1}`).join('\n');
const files = { 'mine.txt': 'mine\n', 'one.txt': lines('one'), 'two.txt': lines('two'), 'three.txt': lines('three') };
const world = await startWorld({ vsix, files, settings: { 'workbench.colorTheme': 'Default Dark Modern', 'files.autoSave': 'off' } });
const { page, model } = world;
const groups = page.locator('.editor-group-container');
const beside = groups.nth(1);
const tabs = (name) => page.locator(`.tab[data-resource-name="${name}"]`);
const shows = (name, line) => beside.locator('.view-line').filter({ hasText: new RegExp(`^${name}.${line}$`) }).waitFor();
const look = (name, line) => ({ tool: 'read_around', input: { path: `${name}.txt`, anchor: `${name} ${line}\n` } });

/** A turn that looks at each place when it is told to; gives `[next, …, end]`. */
async function turn(...places) {
  const gates = [...places, undefined].map(() => Promise.withResolvers());
  model.add(...places.map((place, index) => ({ until: gates[index].promise, calls: [look(...place)] })), { until: gates.at(-1).promise, text: 'Seen.' });
  await steps.ask(world, 'Look.');
  await steps.status(world, /works/);
  return gates.map(({ resolve }) => resolve);
}

/** Types into the editor that has the keyboard, which has to be the user's. */
async function typeMine(text) {
  await page.locator('.editor-group-container.active .tab[data-resource-name="mine.txt"].active').waitFor();
  await page.keyboard.type(text);
}
const pause = () => page.waitForTimeout(3_500);

await tell(world, shots, async () => {
  await steps.openChat(world);
  await steps.status(world, /ready/);
  const chat = await steps.chatFrame(world);
  await steps.openFile(world, 'mine.txt');
  const [lookFirst, endFirst] = await turn(['one', 150]);
  lookFirst();
  await chat.getByText(/one\.txt/).first().waitFor();
  endFirst();
  await steps.pendingHunks(world, 0);
  assert.deepEqual([await groups.count(), await tabs('one.txt').count()], [1, 0]);
  told('without a word nothing is followed');

  const item = page.locator('.statusbar-item[id$="azimuth.follow"]');
  assert.equal(await item.isVisible(), false);
  await steps.azimuth(world, 'Follow the Agent');
  await item.getByText('follows').waitFor();
  await steps.openFile(world, 'mine.txt');
  const [lookAgain, lookOn, lookThere, end] = await turn(['one', 150], ['two', 20], ['three', 30]);
  lookAgain();
  await shows('one', 150);
  assert.equal(await groups.count(), 2);
  assert.ok(/italic/.test(await tabs('one.txt').locator('.label-name').evaluate((element) => getComputedStyle(element).fontStyle)), 'it is a preview');
  await page.locator('.editor-group-container.active .tab[data-resource-name="mine.txt"]').waitFor();
  await page.screenshot({ path: path.join(shots, 'follows.png') });
  told('an editor beside shows the line that the agent looks at, and the keyboard stays');

  await typeMine('a');
  let isTyping = true;
  // On a busy machine keys may come so slowly that the user has paused, and then it may show.
  let [last, longest] = [Date.now(), 0];
  const typing = (async () => {
    for (; isTyping; last = Date.now()) {
      await page.keyboard.type('b', { delay: 200 });
      longest = Math.max(longest, Date.now() - last);
    }
  })();
  // The extension hears of a key a moment after it was typed.
  await page.waitForTimeout(1_000);
  lookOn();
  await chat.getByText(/two\.txt/).first().waitFor();
  await page.waitForTimeout(1_000);
  const during = await tabs('two.txt').count();
  isTyping = false;
  await typing;
  if (longest < 1_500) assert.equal(during, 0, 'not while the user types');
  await shows('two', 20);
  assert.deepEqual([await groups.count(), await tabs('one.txt').count(), await tabs('two.txt').count()], [2, 0, 1], 'in the same place');
  await typeMine('c');
  assert.match(await steps.bufferText(world), /ab+c/);
  told('it waits while the user types, and takes the same place again');

  await tabs('two.txt').locator('.tab-actions .action-label').click();
  await steps.until('its end', async () => await groups.count() === 1);
  await pause();
  lookThere();
  await chat.getByText(/three\.txt/).first().waitFor();
  await pause();
  assert.equal(await tabs('three.txt').count(), 0);
  end();
  await steps.pendingHunks(world, 0);
  const [lookOnce, endAgain] = await turn(['three', 30]);
  lookOnce();
  await shows('three', 30);
  told('who closes it sees nothing more until the next turn');

  await steps.azimuth(world, 'Follow the Agent');
  await item.waitFor({ state: 'hidden' });
  await steps.until('no editor beside', async () => await tabs('three.txt').count() === 0);
  endAgain();
  await steps.pendingHunks(world, 0);
  told('the command ends it');

  await steps.openFile(world, 'mine.txt');
  await steps.command(world, 'File: Revert File');
  await page.locator('.tab.dirty').waitFor({ state: 'detached' });
  await steps.command(world, 'View: Close All Editors');
  await page.locator('.tab').waitFor({ state: 'detached' });
  await steps.azimuth(world, 'Follow the Agent');
  const [lookAlone, lookBeside, endLast] = await turn(['one', 150], ['two', 20]);
  lookAlone();
  await tabs('one.txt').waitFor();
  assert.equal(await groups.count(), 1);
  await steps.openFile(world, 'mine.txt');
  await pause();
  lookBeside();
  await shows('two', 20);
  assert.equal(await groups.count(), 2);
  await steps.until('the end of the last one', async () => await tabs('one.txt').count() === 0);
  await page.screenshot({ path: path.join(shots, 'beside.png') });
  await typeMine('d');
  endLast();
  await steps.pendingHunks(world, 0);
  told('who opens a file where it showed the last one keeps that place');
});
