// Code actions that begin in the chat: what stands at the cursor is explained or asked about, and a problem is mended.
// `node test/e2e/workflows.mjs --vsix FILE [--shots FOLDER]`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as steps from './steps.mjs';
import { called, tell, told } from './story.mjs';
import { startWorld } from './world.mjs';

const { vsix, shots } = called('workflows');

const files = {
  'tsconfig.json': '{ "compilerOptions": { "strict": true, "noEmit": true, "target": "es2022", "module": "es2022", "moduleResolution": "bundler" }, "include": ["src"] }\n',
  'src/area.ts': `/** The side of a square. */
export const side: number = '3';

export function area(): number {
  return side * side;
}
`,
};

const world = await startWorld({
  vsix,
  files,
  settings: { 'workbench.colorTheme': 'Default Dark Modern', 'files.autoSave': 'off', 'editor.accessibilitySupport': 'off', 'typescript.disableAutomaticTypeAcquisition': true },
});
const { page, model, project } = world;
const shot = (name) => page.screenshot({ path: path.join(shots, `${name}.png`) });
const asked = () => JSON.stringify(model.asked.at(-1).messages.filter(({ role }) => role === 'user').at(-1).content);

/** Chooses a code action at a place, by the keyboard. */
async function choose(place, title, name) {
  await steps.openFile(world, 'area.ts');
  await steps.goTo(world, place);
  await steps.codeAction(world, title, () => shot(name));
}

await tell(world, shots, async () => {
  const chat = await steps.openChat(world);
  await steps.status(world, /ready/);
  const prompt = chat.locator('textarea');
  const hasKeyboard = () => steps.until('the keyboard in the chat', () => prompt.evaluate((element) => document.hasFocus() && document.activeElement === element));

  const gate = Promise.withResolvers();
  model.add({ text: 'It gives the area of a square.', until: gate.promise });
  await choose('4:20', 'Explain `area` with Azimuth', 'menu');
  await chat.locator('.bubble', { hasText: 'Explain `area`' }).waitFor();
  await hasKeyboard();
  await shot('explaining');
  assert.equal(await prompt.inputValue(), '', 'it is sent');
  assert.match(asked(), /return side \* side/, 'with the code');
  told('what is at the cursor is explained in the chat, which has the keyboard');

  // While that turn runs, the next waits.
  model.add({ text: 'Tests, then.' });
  await choose('4:20', 'Write tests for `area` with Azimuth', 'menu-running');
  await chat.getByText(/Write tests for `area`/).first().waitFor();
  await shot('waits');
  assert.equal(model.asked.length, 1, 'the turn that runs is not disturbed');
  gate.resolve();
  await chat.locator('.entry.answer', { hasText: 'It gives the area of a square.' }).waitFor();
  await chat.locator('.entry.answer', { hasText: 'Tests, then.' }).waitFor();
  assert.match(asked(), /Write tests for `area`/);
  await steps.status(world, /ready/);
  told('one that is chosen while a turn runs comes after it');

  await choose('4:20', 'Ask Azimuth about `area`', 'menu-ask');
  await chat.locator('form.prompt .chip', { hasText: 'src/area.ts:4-6' }).waitFor();
  await hasKeyboard();
  await shot('asking');
  const before = model.asked.length;
  model.add({ text: 'Nine.' });
  await page.keyboard.type('How large is it?');
  await page.keyboard.press('Enter');
  await chat.locator('.entry.answer', { hasText: 'Nine.' }).waitFor();
  assert.equal(model.asked.length, before + 1);
  assert.match(asked(), /return side \* side[^]*How large is it\?/);
  told('what is at the cursor stands in the prompt, and the question is the user’s');

  // TypeScript reports it.
  await steps.openFile(world, 'area.ts');
  await page.locator('.monaco-editor .squiggly-error').first().waitFor();
  model.add({ calls: [{ tool: 'edit_replace_exact', input: { path: 'src/area.ts', old_text: "'3'", new_text: '3' } }] }, { text: 'It was a text.' });
  await choose('2:15', 'Fix this problem with Azimuth', 'menu-fix');
  await chat.getByText(/Type 'string' is not assignable/).first().waitFor();
  // The conversation's title has the word "works", so it is no word for how the turn stands.
  await steps.status(world, /1 hunk waits/);
  await shot('fixing');
  assert.equal(fs.readFileSync(path.join(project, 'src/area.ts'), 'utf8'), files['src/area.ts'], 'nothing is changed before it is accepted');
  await steps.openReview(world);
  await shot('fix');
  await steps.azimuth(world, 'Accept All Hunks');
  await steps.status(world, /^(?!.*hunk)/s);
  await steps.openFile(world, 'area.ts');
  assert.equal(await steps.bufferText(world), files['src/area.ts'].replace("'3'", '3'));
  told('a problem is sent with what TypeScript says of it, and what would mend it is reviewed');
});
