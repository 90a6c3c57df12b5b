// The chat in a real VS Code, by keyboard: `node test/e2e/chat.mjs --vsix FILE [--shots FOLDER] [--theme NAME] [--wide]`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import * as steps from './steps.mjs';
import { startWorld } from './world.mjs';

const { values } = parseArgs({ options: { vsix: { type: 'string' }, shots: { type: 'string' }, theme: { type: 'string' }, wide: { type: 'boolean' } } });
const shots = path.resolve(values.shots ?? path.join(import.meta.dirname, '../../../../tests/artifacts/vscode-chat'));
fs.mkdirSync(shots, { recursive: true });

const answer = [
  'The file has **three** functions:', '',
  '| name | gives |', '| --- | ---: |', '| `first` | 1 |', '| `second` | 2 |', '',
  '```rust', 'fn first() -> u8 {', '    1 // the first', '}', '```', '',
  '1. Look.', '2. Change.', '   - only the numbers', '', '> As you wished.',
].join('\n');

const world = await startWorld({
  vsix: path.resolve(values.vsix),
  files: { 'src/lib.rs': 'fn first() -> u8 {\n    1\n}\n\nfn second() -> u8 {\n    2\n}\n' },
  settings: { 'workbench.colorTheme': values.theme ?? 'Default Dark Modern', 'files.autoSave': 'off', 'terminal.integrated.gpuAcceleration': 'off' },
  answers: [
    { calls: [{ tool: 'read_file', input: { path: 'src/lib.rs' } }, { tool: 'search_text', input: { query: 'fn' } }] },
    { thinking: 'There may be **more** than one function.', text: answer, delayMs: 15 },
    { text: 'I check it first. ', calls: [{ tool: 'shell_run', input: { command: 'printf "made" > made.txt && cat made.txt' } }] },
    { calls: [{ tool: 'edit_replace_exact', input: { path: 'src/lib.rs', old_text: '    1\n', new_text: '    10\n' } }, { tool: 'edit_create_file', input: { path: 'notes.md', content: '# Notes\n\nTen.\n' } }] },
    { text: 'Both are proposed.' },
    { text: 'word ', delayMs: 5, forever: true },
    { text: 'I heard you.' },
    { calls: [{ tool: 'ask_user', input: { questions: [
      { header: 'Storage', question: 'Where are the notes kept?', options: [
        { label: 'A file', description: 'Easy to read, and to lose.' }, { label: 'SQLite', description: 'Survives a crash.', recommended: true }] },
      { header: 'Tests', question: 'Which tests do you want?', multiple: true, options: [{ label: 'Unit' }, { label: 'End to end' }] },
      { header: 'Name', question: 'How is it called?', options: [{ label: 'notes' }, { label: 'memo' }] },
    ] } }] },
    { text: 'Noted.' },
    { calls: [{ tool: 'update_plan', input: { steps: [{ content: 'Find it', status: 'in_progress' }, { content: 'Mend it', status: 'pending' }] } }] },
    { text: 'Planned.' },
    { text: 'I wait for you.' },
    { text: 'word ', delayMs: 5, forever: true },
    { text: 'At once.' },
    { text: 'The second.' },
    { text: 'The first.' },
    { text: '### Done\nBoth files.\n### Next step\nWrite the **printer**.' },
    { text: 'SAME' },
  ],
});
const { page, model, project } = world;
let count = 0;
const shot = (name) => page.screenshot({ path: path.join(shots, `${String(++count).padStart(2, '0')}-${name}.png`) });
const told = (what) => console.log(`ok: ${what}`);
const press = (...keys) => keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());

try {
  let frame = await steps.openChat(world);
  await steps.status(world, /ready/);
  if (values.wide) {
    await page.setViewportSize({ width: 1920, height: 1000 });
    await steps.widenChat(world);
  }
  let text = frame.locator('textarea');
  // VS Code's own Alt+1 would jump into it.
  await steps.openFile(world, 'lib.rs');
  await text.click();
  await page.keyboard.type('What is in @lib', { delay: 10 });
  await frame.locator('#completions li').first().waitFor();
  await shot('completion');
  await steps.noSeriousFault(frame, 'with completions open');
  await press('Tab');
  await page.keyboard.type(' and why?');
  assert.match(await text.inputValue(), /@src\/lib\.rs\s+and why\?$/);
  await press('Enter');
  await frame.locator('.entry.answer h3, .entry.answer table').first().waitFor();
  await frame.locator('.entry.end').waitFor();
  assert.equal(await frame.locator('.entry.answer .code pre').innerText(), 'fn first() -> u8 {\n    1 // the first\n}');
  assert.equal(await frame.locator('.entry.tool').count(), 2);
  assert.ok(JSON.stringify(model.asked[0].messages).includes('fn second()'), 'the file that was mentioned is before the model');
  await shot('answer');
  const thinking = frame.locator('details.thinking');
  await thinking.locator('summary').click();
  await thinking.locator('strong', { hasText: 'more' }).waitFor();
  await steps.noSeriousFault(frame, 'with thinking unfolded');
  await text.click();
  told('a prompt with an @file is completed, sent by keys, and the answer shows as Markdown');

  await frame.locator('.status button', { hasText: /^context \d+%$/ }).press('Enter');
  await frame.locator('.entry.command', { hasText: 'tool results' }).waitFor();
  await shot('context');
  await text.click();
  told('what fills the context is told at a key');

  await page.keyboard.type('Make it ten.');
  await press('Enter');
  const question = frame.locator('.entry.question.open');
  await question.waitFor();
  await shot('question');
  await steps.noSeriousFault(frame, 'with a question open');
  assert.match(await question.innerText(), /printf "made" > made\.txt/);
  assert.match(await question.innerText(), /Always allow/);
  await frame.locator('.entry.question input.reason').fill('go');
  await press('Alt+1');
  await frame.locator('.outcome', { hasText: /: go$/ }).waitFor();
  assert.ok(await frame.evaluate(() => document.hasFocus()), 'the keyboard stays in the chat');
  await text.click();
  await frame.locator('.changes .row.head', { hasText: '2 changes in 2 files' }).waitFor();
  assert.equal(fs.readFileSync(path.join(project, 'made.txt'), 'utf8'), 'made');
  await frame.locator('.entry.end').nth(1).waitFor();
  assert.match(await frame.locator('.changes').innerText(), /1 change by commands in 1 file/);
  await shot('changes');
  await steps.noSeriousFault(frame, 'with changes open');
  told('axe-core finds no serious fault, with thinking and with changes');
  // By keyboard: one file after the other.
  await frame.getByRole('button', { name: 'Accept all changes of notes.md' }).focus();
  await press('Enter');
  await frame.getByRole('button', { name: 'Accept all changes of notes.md' }).waitFor({ state: 'detached' });
  await steps.until('the keyboard at what is left', () => frame.evaluate(() => document.activeElement?.ariaLabel?.endsWith('changes of src/lib.rs')));
  await frame.locator('.changes button', { hasText: 'Accept all' }).focus();
  await press('Enter');
  await steps.until('the file on disk', () => fs.existsSync(path.join(project, 'notes.md')));
  await steps.until('the keyboard in the prompt', () => frame.evaluate(() => document.activeElement?.tagName === 'TEXTAREA'));
  // The file that the command made is a decision of its own.
  await frame.locator('.changes button', { hasText: 'Keep all' }).focus();
  await press('Enter');
  await frame.locator('.changes .row').first().waitFor({ state: 'detached' });
  assert.equal(fs.readFileSync(path.join(project, 'made.txt'), 'utf8'), 'made');
  await steps.until('the keyboard in the prompt', () => frame.evaluate(() => document.activeElement?.tagName === 'TEXTAREA'));
  told('a command is allowed by Alt+1 with a word to it, both changes are accepted, and the keyboard is never lost');

  // Code of an answer, copied and put at the cursor of the editor.
  await steps.openFile(world, 'notes.md');
  await press('Control+End');
  const code = frame.locator('.entry.answer .code').first();
  await code.getByRole('button', { name: 'Copy this code' }).click();
  await steps.until('the code in the clipboard', async () => (await page.evaluate(() => navigator.clipboard.readText())) === 'fn first() -> u8 {\n    1 // the first\n}');
  await code.getByRole('button', { name: 'Insert this code' }).click();
  await page.locator('.editor-instance .monaco-editor.focused').first().waitFor();
  assert.equal(await steps.bufferText(world), '# Notes\n\nTen.\nfn first() -> u8 {\n    1 // the first\n}');
  told('code of an answer is copied, and inserted at the cursor');

  // A selection and a dragged file go with the prompt.
  await press('Control+Home', 'Shift+ArrowDown');
  await steps.chord(world, 'Shift+A');
  await frame.locator('.chip', { hasText: 'notes.md:1' }).waitFor();
  await steps.dragFile(world, 'made.txt', frame.locator('textarea'));
  await frame.locator('.chip', { hasText: 'made.txt' }).waitFor();
  await text.click();
  await page.keyboard.type('/hel');
  await frame.locator('#completions li', { hasText: '/help' }).waitFor();
  await shot('attached');
  await press('Escape');
  await text.fill('Go on for ever.');
  await text.press('Enter');
  await frame.locator('.entry.answer.streaming').waitFor();
  const sent = JSON.stringify(model.asked.at(-1).messages);
  assert.ok(sent.includes('# Notes') && sent.includes('made.txt'), 'what was attached is before the model');
  told('/ is completed, and a selection and a dragged file are attached');

  // A word to the running turn, one for after it, and the end of it.
  await page.keyboard.type('Mind the tests.');
  await press('Enter');
  let waits = frame.locator('.row.queued');
  await waits.filter({ hasText: 'Mind the tests.' }).waitFor();
  await page.keyboard.type('and stop when I say');
  await press('Alt+Enter');
  await waits.filter({ hasText: 'and stop when I say' }).waitFor();
  await shot('streaming');
  const began = Date.now();
  await press('Escape');
  await frame.locator('.end-reason', { hasText: 'Cancelled' }).waitFor();
  console.log(`cancel shows after ${Date.now() - began} ms`);
  // The word is in the conversation now, and the prompt still waits for the user to decide.
  await frame.locator('.entry.prompt', { hasText: 'Mind the tests.' }).waitFor();
  assert.match(await waits.innerText(), /and stop when I say/);
  await page.keyboard.type('A draft,');
  await waits.locator('button').click();
  await waits.waitFor({ state: 'detached' });
  await steps.until('the prompt in the draft', async () => (await text.inputValue()) === 'A draft,\nand stop when I say');
  await steps.until('the keyboard in the prompt', () => frame.evaluate(() => document.activeElement?.tagName === 'TEXTAREA'));
  await text.fill('');
  await press('ArrowUp', 'ArrowUp');
  assert.equal(await text.inputValue(), 'Go on for ever.');
  await text.fill('two\nlines');
  await press('Enter');
  await frame.locator('.entry.answer', { hasText: 'I heard you.' }).waitFor();
  await page.keyboard.type('mine');
  await press('ArrowUp');
  assert.equal(await text.inputValue(), 'two\nlines');
  await press('ArrowDown');
  assert.equal(await text.inputValue(), 'mine');
  told('a turn is told something, a prompt waits and is taken back, Escape cancels, and the history comes back by keys');
  await shot('cancelled');

  // Something that was said is found from a new conversation, at its place, and an earlier prompt comes back by a key.
  await steps.command(world, 'Azimuth: New Session');
  await frame.locator('.entry').first().waitFor({ state: 'detached' });
  await steps.chord(world, 'Shift+F');
  const search = page.locator('.quick-input-widget:visible input.input');
  await search.waitFor();
  await steps.until('the keyboard in the search', () => search.evaluate((input) => input === document.activeElement));
  const rows = page.locator('.quick-input-list .monaco-list-row');
  await page.keyboard.type('unicorn');
  await rows.filter({ hasText: 'Nothing was found.' }).waitFor();
  await search.fill('FUNCTIONS three');
  await rows.filter({ hasText: 'The model: The file has **three** functions:' }).waitFor();
  await shot('search');
  await press('Enter');
  const found = frame.locator('.entry.answer.found', { hasText: 'three' });
  await found.waitFor();
  const seen = () => found.evaluate((element) => element.getBoundingClientRect().top >= 0 && element.getBoundingClientRect().top < innerHeight);
  await steps.until('the place in view', seen);
  assert.equal(await text.inputValue(), 'mine', 'the keys of the search type nothing here');
  await shot('found');
  await text.fill('');
  await press('Control+R');
  await search.waitFor();
  await steps.until('the keyboard in the search', () => search.evaluate((input) => input === document.activeElement));
  await page.keyboard.type('ten make');
  await rows.filter({ hasText: 'Make it ten.' }).waitFor();
  await shot('prompts');
  await press('Enter');
  await steps.until('the earlier prompt in the draft', async () => (await text.inputValue()) === 'Make it ten.');
  await text.fill('');
  told('what was said is found and shown at its place, and an earlier prompt is searched and comes back, by keys');

  // The session as a page, which loads nothing, and its last answer in the clipboard.
  await steps.command(world, 'Azimuth: Copy Last Answer');
  await steps.until('the answer in the clipboard', async () => (await page.evaluate(() => navigator.clipboard.readText())) === 'I heard you.');
  await steps.command(world, 'Azimuth: Export Session…');
  await rows.filter({ hasText: 'A page in one file' }).waitFor();
  await press('Enter');
  await steps.until('the name of the file', async () => /azimuth-.*\.html$/.test(await search.inputValue()));
  await press('Enter');
  const exported = await steps.until('the exported page', () => fs.readdirSync(project).find((name) => /^azimuth-.*\.html$/.test(name)));
  const reader = await page.context().newPage();
  const loaded = [];
  reader.on('request', (request) => loaded.push(request.url()));
  await reader.goto(`file://${path.join(project, exported)}`);
  assert.deepEqual(loaded.length, 1, `the page loads nothing else: ${loaded}`);
  await reader.locator('details', { hasText: 'printf "made"' }).first().locator('summary').click();
  assert.match(await reader.locator('main').innerText(), /I heard you\./);
  await reader.screenshot({ path: path.join(shots, 'exported.png') });
  await reader.close();
  told('the session is exported as a page that loads nothing, and its last answer is copied');

  // A form of the model, filled in by keys alone.
  await text.fill('Keep my notes.');
  await press('Enter');
  const form = frame.locator('.entry.question.open form');
  await form.waitFor();
  await form.scrollIntoViewIfNeeded();
  await shot('form');
  await steps.noSeriousFault(frame, 'with a form open');
  assert.ok(await form.getByRole('radio', { name: /SQLite/ }).isChecked(), 'what is recommended is chosen');
  // Back from the prompt to the form's last control, and on to its first.
  const isIn = () => frame.evaluate(() => document.activeElement?.closest('form') !== null);
  for (let tabs = 0; tabs < 30 && !(await isIn()); tabs++) await press('Shift+Tab');
  const at = () => frame.evaluate(() => document.activeElement?.getAttribute('type') === 'radio' && document.activeElement.closest('fieldset')?.innerText.includes('Storage'));
  for (let tabs = 0; tabs < 30 && !(await at()); tabs++) await press('Shift+Tab');
  await press('ArrowUp', 'Tab', 'Tab', 'Space', 'Tab', 'Space', 'Tab', 'Tab', 'Tab');
  await page.keyboard.type('jotter');
  await shot('form-filled');
  // A look elsewhere loses nothing.
  await steps.command(world, 'View: Toggle Secondary Side Bar Visibility');
  await steps.until('the end of the page', () => frame.isDetached());
  frame = await steps.openChat(world);
  text = frame.locator('textarea');
  waits = frame.locator('.row.queued');
  const again = frame.locator('.entry.question.open form');
  await again.waitFor();
  assert.ok(await again.getByRole('radio', { name: /A file/ }).isChecked(), 'what was chosen is chosen still');
  assert.equal(await again.getByLabel('Name: in your own words').inputValue(), 'jotter');
  await again.getByLabel('Name: in your own words').focus();
  await press('Enter');
  await frame.locator('.outcome', { hasText: 'Storage: A file; Tests: Unit, End to end; Name: “jotter”' }).waitFor();
  await frame.locator('.entry.answer', { hasText: 'Noted.' }).waitFor();
  assert.ok(JSON.stringify(model.asked.at(-1).messages).includes("- Name, in the user's own words: jotter"));
  await text.click();
  told('a form of three questions is filled in and sent by keys, with options and own words');

  // The plan, ticked and changed by keys.
  await text.fill('Plan it.');
  await press('Enter');
  await frame.locator('.entry.answer', { hasText: 'I wait for you.' }).waitFor();
  assert.match(JSON.stringify(model.asked.at(-1).messages), /these steps of the plan are open: Find it; Mend it/);
  const plan = frame.locator('.entry.plan').last();
  await plan.getByRole('button', { name: 'now: Find it; mark as done' }).focus();
  await press('Enter');
  await plan.locator('li.completed', { hasText: 'Find it' }).waitFor();
  await plan.getByRole('button', { name: 'Edit the plan' }).focus();
  await press('Enter');
  await shot('plan');
  await steps.noSeriousFault(frame, 'with a plan being changed');
  await plan.getByRole('button', { name: 'Move up: Mend it' }).focus();
  await press('Enter');
  await plan.getByRole('button', { name: 'Add a step' }).focus();
  await press('Enter');
  await page.keyboard.type('Tell them');
  await press('Enter');
  await plan.locator('li', { hasText: 'Tell them' }).waitFor();
  assert.deepEqual(await plan.locator('li').allInnerTexts().then((all) => all.map((it) => it.split(':').at(-1).trim())), ['Mend it', 'Find it', 'Tell them']);
  await text.click();
  told('the plan is ticked, its steps are moved and one is added, by keys');

  // Prompts that wait, of which one goes first, and one that breaks off what runs.
  await text.fill('Go on again.');
  await press('Enter');
  await frame.locator('.entry.answer.streaming').waitFor();
  for (const words of ['first waits', 'second waits']) {
    await page.keyboard.type(words);
    await press('Alt+Enter');
    await waits.filter({ hasText: words }).waitFor();
  }
  await waits.filter({ hasText: 'second waits' }).getByRole('button', { name: 'Move this prompt to the top' }).focus();
  await press('Enter');
  await steps.until('the second first', async () => /second waits/.test(await waits.first().innerText()));
  await shot('waiting');
  await text.click();
  await page.keyboard.type('Now this.');
  await press('Shift+Alt+Enter');
  await frame.locator('.entry.answer', { hasText: 'The first.' }).waitFor();
  const prompts = await frame.locator('.entry.prompt .bubble').allInnerTexts();
  assert.deepEqual(prompts.slice(-4), ['Go on again.', 'Now this.', 'second waits', 'first waits']);
  await waits.first().waitFor({ state: 'detached' });
  told('a prompt that waits goes first by keys, and another one breaks off what runs');

  // Two pictures, as they come from the clipboard.
  await text.evaluate((element) => {
    const clipboardData = new DataTransfer();
    const bytes = Uint8Array.from(atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='), (c) => c.charCodeAt(0));
    for (const name of ['a.png', 'b.png', 'c.png']) clipboardData.items.add(new File([bytes], name, { type: 'image/png' }));
    element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
  });
  await frame.locator('.chip', { hasText: 'image 3' }).waitFor();
  await frame.getByRole('button', { name: 'Take away image 1' }).click();
  await text.evaluate((element) => {
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File(['x'], 'd.png', { type: 'image/png' }));
    element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
  });
  await frame.locator('.chips .chip').nth(2).waitFor();
  for (const name of ['image 1', 'image 2', 'image 3']) await frame.getByRole('button', { name: `Take away ${name}` }).click();
  told('every picture that is pasted is attached');

  // A handover is read, corrected and taken back, by keys.
  await text.fill('/compact --keep-last 0 the numbers');
  await press('Escape');
  await text.press('Enter');
  const card = frame.locator('.entry.handover');
  await card.locator('strong', { hasText: 'printer' }).waitFor();
  await card.locator('summary', { hasText: 'The facts' }).press('Enter');
  await card.locator('.markdown', { hasText: 'Make it ten.' }).waitFor();
  await card.scrollIntoViewIfNeeded();
  await shot('handover');
  await steps.noSeriousFault(frame, 'with a handover');
  await card.getByRole('button', { name: 'Correct' }).press('Enter');
  const notes = card.getByLabel('The notes for the model');
  await steps.until('the keyboard in the notes', () => notes.evaluate((element) => element === document.activeElement));
  await notes.fill('Ten, not eleven.');
  await shot('correcting');
  await notes.press('Control+Enter');
  await card.locator('summary', { hasText: 'Your notes' }).waitFor();
  await card.locator('.markdown', { hasText: 'Ten, not eleven.' }).waitFor();
  await card.getByRole('button', { name: 'Take back' }).press('Enter');
  await card.filter({ hasText: 'The handover is taken back' }).waitFor();
  await text.click();
  told('a handover is written, read, corrected and taken back by keys');

  // A prompt that is not taken while nobody looks.
  await text.fill('Hear me.');
  const pid = await steps.until('the process of the server', () => steps.serverPid(world.server.dir));
  process.kill(pid, 'SIGSTOP');
  await press('Enter');
  await steps.until('the prompt on its way', async () => (await text.inputValue()) === '');
  await steps.command(world, 'View: Toggle Secondary Side Bar Visibility');
  await steps.until('the end of the chat', () => frame.isDetached());
  process.kill(pid, 'SIGKILL');
  await page.locator('.notification-list-item', { hasText: 'The chat still has what you wrote' }).first().waitFor();
  const later = await steps.openChat(world);
  await steps.until('the prompt again', async () => (await later.locator('textarea').inputValue()) === 'Hear me.');
  await shot('refused');
  told('a prompt that is not taken while the chat is hidden is told, and there again');
} catch (error) {
  await shot('failure').catch(() => {});
  console.error(world.messages?.slice(-30));
  throw error;
} finally {
  await world.stop();
}
