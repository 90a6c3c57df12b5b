// The beginning of a chat, in a real VS Code and by keyboard: what an empty one offers, and what stays small later on: questions that
// are answered, and a cost that nobody knows. `node test/e2e/beginnings.mjs --vsix FILE [--shots FOLDER]`.
import assert from 'node:assert/strict';
import path from 'node:path';
import * as steps from './steps.mjs';
import { called, tell, told } from './story.mjs';
import { startWorld } from './world.mjs';

const { vsix, shots } = called('beginnings');
const run = (command) => ({ text: 'I try it. ', calls: [{ tool: 'shell_run', input: { command } }] });
const world = await startWorld({
  vsix,
  files: { 'src/lib.rs': 'fn first() -> u8 {\n    1\n}\n', 'AGENTS.md': 'Use tabs.\n' },
  settings: { 'workbench.colorTheme': 'Default Dark Modern', 'terminal.integrated.gpuAcceleration': 'off' },
  answers: [
    { text: 'It gives one.' },
    run('printf made > made.txt'), { text: 'Then not.' },
    run('printf made > made.txt && cat made.txt'), { text: 'It is made.' },
    { text: 'One, again.' },
  ],
});
const { page, model } = world;
let count = 0;
const shot = (name) => page.screenshot({ path: path.join(shots, `${String(++count).padStart(2, '0')}-${name}.png`) });

await tell(world, shots, async () => {
  await steps.openFile(world, 'lib.rs');
  const frame = await steps.openChat(world);
  await page.setViewportSize({ width: 1440, height: 1000 });
  await steps.widenChat(world, 460);
  const beginnings = frame.locator('.beginnings');
  const choice = (name) => beginnings.getByRole('button', { name });
  await choice('Explain src/lib.rs').waitFor();
  await choice('Write tests for src/lib.rs').waitFor();
  const setUp = beginnings.getByRole('region', { name: 'Set up' });
  assert.match(await setUp.innerText(), /Model: test\/model-1[\s\S]*Rules: AGENTS\.md/);
  assert.equal(await beginnings.getByRole('region', { name: 'Go on with' }).count(), 0, 'there is nothing to go on with yet');
  await steps.noSeriousFault(frame, 'with an empty chat');
  await shot('empty');
  // The things to try follow the file that is open.
  await steps.openFile(world, 'AGENTS.md');
  await choice('Bring AGENTS.md up to date').waitFor();
  await steps.openFile(world, 'lib.rs');
  await choice('Explain src/lib.rs').focus();
  await page.keyboard.press('Enter');
  const text = frame.locator('textarea');
  await frame.locator('.chip', { hasText: 'src/lib.rs' }).waitFor();
  assert.match(await text.inputValue(), /^Explain this file/);
  await steps.until('the keyboard in the prompt', () => frame.evaluate(() => document.activeElement?.tagName === 'TEXTAREA'));
  await shot('chosen');
  await page.keyboard.press('Enter');
  const ends = frame.locator('.entry.end');
  await ends.first().waitFor();
  assert.ok(JSON.stringify(model.asked[0].messages).includes('fn first()'), 'the file is before the model');
  assert.match(model.asked[0].messages[0].content, /^Editor: .*(code|Code)/m, 'and it is told which editor it is');
  assert.equal(await beginnings.locator('section').count(), 0, 'a chat that has begun offers none');
  assert.match(await ends.first().innerText(), /cost unknown: test\/model-1 has no known price/);
  await shot('unknown-cost');
  told('an empty chat offers what to try at the open file, and one of them is sent by keyboard');

  const question = frame.locator('.entry.question');
  const answered = frame.locator('.entry.question:not(.open)');
  const decide = async (command, word, option) => {
    await text.fill(`Try it with ${command}.`);
    await text.press('Enter');
    await question.and(frame.locator('.open')).waitFor();
    await frame.locator('.entry.question.open input.reason').fill(word);
    await frame.locator('.entry.question.open').getByRole('button', { name: option, exact: true }).focus();
    await page.keyboard.press('Enter');
    await frame.locator('.entry.question.open').waitFor({ state: 'detached' });
  };
  await decide('printf', 'not in this folder', 'Reject');
  await shot('refused');
  await ends.nth(1).waitFor();
  const line = async (at) => (await answered.nth(at).boundingBox()).height;
  assert.ok(await line(0) < 32, `an answered question takes a line and not ${await line(0)} pixels`);
  const refused = answered.first();
  assert.match(await refused.innerText(), /Reject: not in this folder/);
  assert.match(await refused.getAttribute('aria-label'), /the answer: Reject: not in this folder$/);
  assert.equal(await refused.locator('pre').isVisible(), false);
  await refused.locator('summary').focus();
  await page.keyboard.press('Enter');
  await refused.locator('pre', { hasText: 'printf made > made.txt' }).waitFor();
  await steps.noSeriousFault(frame, 'with an answered question unfolded');
  await shot('unfolded');
  await page.keyboard.press('Enter');
  assert.doesNotMatch(await ends.nth(1).innerText(), /unknown/, 'it is known by now that the cost is not');
  await decide('cat', '', 'Allow once');
  await ends.nth(2).waitFor();
  assert.match(await answered.nth(1).innerText(), /Allow once[\s\S]*Run a command\? printf made/);
  assert.ok(await line(1) < 32, `an answered question takes a line and not ${await line(1)} pixels`);
  await steps.noSeriousFault(frame, 'with answered questions');
  await shot('answered');
  told('answered questions are a line each with their answers, and unfold; an unknown cost is said once');

  await steps.newSession(world);
  const recent = choice(/Explain this file/);
  await recent.waitFor();
  await shot('go-on');
  await recent.focus();
  await page.keyboard.press('Enter');
  await frame.locator('.entry.answer', { hasText: 'It gives one.' }).waitFor();
  await steps.until('the keyboard in the prompt', () => frame.evaluate(() => document.activeElement?.tagName === 'TEXTAREA'));
  told('an empty chat offers the conversations of before, and a key opens one');

  // The same is asked once more, so that two conversations are called the same.
  await steps.openFile(world, 'lib.rs');
  await steps.newSession(world);
  await choice('Explain src/lib.rs').press('Enter');
  await frame.waitForFunction(() => document.querySelector('textarea').value.startsWith('Explain this file') && document.activeElement?.tagName === 'TEXTAREA');
  await page.keyboard.press('Enter');
  await frame.locator('.entry.answer', { hasText: 'One, again.' }).waitFor();
  await ends.first().waitFor();
  await steps.newSession(world);
  await recent.nth(1).waitFor();
  // The host tells anew what it told last, and of one thing less to try; or of one conversation more.
  await frame.evaluate(() => addEventListener('message', ({ data }) => {
    if (data.type === 'facts') globalThis.told = data.facts;
  }));
  await steps.openFile(world, 'AGENTS.md');
  await choice('Bring AGENTS.md up to date').waitFor();
  const tellAnew = (more) => frame.evaluate((more) => {
    const { beginnings, sessions, ...rest } = globalThis.told;
    const facts = {
      ...rest, beginnings: { ...beginnings, beginnings: beginnings.beginnings.slice(1) },
      sessions: more ? [{ ...sessions.find(({ title }) => title !== ''), sessionId: 'another' }, ...sessions] : sessions,
    };
    dispatchEvent(new MessageEvent('message', { data: { type: 'facts', facts } }));
  }, more);
  const focused = () => frame.evaluate(() => document.activeElement?.textContent);
  await choice('Bring AGENTS.md up to date').focus();
  await tellAnew(false);
  await choice('Explain AGENTS.md').waitFor({ state: 'detached' });
  assert.equal(await focused(), 'Bring AGENTS.md up to date', 'the keyboard stays at its link');
  assert.equal(await recent.count(), 2);
  await recent.nth(1).focus();
  await tellAnew(true);
  await recent.nth(2).waitFor();
  await page.keyboard.press('Enter');
  await frame.locator('.entry.answer', { hasText: 'It gives one.' }).waitFor();
  told('the keyboard stays at its link while other links come and go, also at one of two conversations that are called the same');
});
