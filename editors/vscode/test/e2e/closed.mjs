// Files that are asked about and stand in no editor: what is accepted is in the file, and not in a text that nobody sees.
// `node test/e2e/closed.mjs --vsix FILE [--shots FOLDER]`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as steps from './steps.mjs';
import { called, tell, told } from './story.mjs';
import { startWorld } from './world.mjs';

const { vsix, shots } = called('closed');

const files = {
  'tsconfig.json': '{ "compilerOptions": { "strict": true, "noEmit": true, "target": "es2022", "module": "es2022", "moduleResolution": "bundler" }, "include": ["src"] }\n',
  'src/shape.ts': '/** Multiplies. */\nexport function times(a: number, b: number): number {\n  return a * b;\n}\n',
  'src/main.ts': "import { times } from './shape';\n\nconsole.log(times(2, 5));\n",
  'src/old.ts': 'export const old = 1;\n',
  'src/here.ts': 'export const here = 1;\n',
  'src/mine.ts': 'export const mine = 1;\n',
};

const world = await startWorld({
  vsix,
  files,
  settings: { 'workbench.colorTheme': 'Default Dark Modern', 'files.autoSave': 'off', 'editor.accessibilitySupport': 'off', 'typescript.disableAutomaticTypeAcquisition': true },
});
const { page, model, project } = world;
const at = (name) => path.join(project, name);
const read = (name) => (fs.existsSync(at(name)) ? fs.readFileSync(at(name), 'utf8') : undefined);
const onDisk = (name, text) => steps.until(`${name} on the disk`, () => read(name) === text, 10_000, async () => `it is ${JSON.stringify(read(name))}`);
const tabs = page.locator('.tab');
const ask = (path, symbol) => ({ tool: 'lsp_references', input: { path, symbol } });
const replace = (path, old_text, new_text) => ({ tool: 'edit_replace_exact', input: { path, old_text, new_text } });

/** A turn of these calls, one after the other, of which the user accepts what is proposed. */
async function turn(...calls) {
  model.add(...calls.map((call) => ({ calls: [call] })), { text: 'Proposed.' });
  await steps.ask(world, 'Go on.');
  await steps.status(world, /^(?!.*works).*hunks? waits?/s).catch((error) => { throw new Error(`${error.message}\n${lastResult()}`); });
  await steps.azimuth(world, 'Accept All Hunks');
  await steps.pendingHunks(world, 0);
}

await tell(world, shots, async () => {
  await steps.openChat(world);
  await steps.status(world, /ready/);

  const rename = (symbol, new_name) => ({ tool: 'lsp_rename', input: { symbol, path: 'src/shape.ts', new_name } });
  await turn(ask('src/shape.ts', 'times'), rename('times', 'product'));
  await onDisk('src/shape.ts', files['src/shape.ts'].replaceAll('times', 'product'));
  await onDisk('src/main.ts', files['src/main.ts'].replaceAll('times', 'product'));
  assert.equal(await tabs.count(), 0, 'no file is opened by it');
  await page.screenshot({ path: path.join(shots, 'accepted.png') });
  told('what is accepted in files that were asked about is on the disk, and nothing is left to save');

  // VS Code reads a file again a little after it changed. Nobody is asked about the text before.
  await turn(replace('src/shape.ts', '/** Multiplies. */\n', '/**\n * Multiplies.\n */\n'));
  await turn(rename('product', 'result'));
  await onDisk('src/shape.ts', files['src/shape.ts'].replace('/** Multiplies. */', '/**\n * Multiplies.\n */').replaceAll('times', 'result'));
  await onDisk('src/main.ts', files['src/main.ts'].replaceAll('times', 'result'));
  assert.equal(await tabs.count(), 0);
  told('a question right after that is about the text that is in the file');

  await turn(ask('src/old.ts', 'old'), { tool: 'edit_delete_file', input: { path: 'src/old.ts' } });
  await steps.until('the end of the file', () => read('src/old.ts') === undefined);
  await turn(ask('src/here.ts', 'here'), { tool: 'edit_move_file', input: { path: 'src/here.ts', to: 'src/there.ts' } });
  await onDisk('src/there.ts', files['src/here.ts']);
  await steps.until('the end of the moved file', () => read('src/here.ts') === undefined);
  assert.equal(await tabs.count(), 0);
  told('a file that was asked about is deleted and another moved, since nobody has them open');

  // It is the user's as soon as they look at it.
  await turn(ask('src/mine.ts', 'mine'), replace('src/mine.ts', '= 1', '= 2'));
  await onDisk('src/mine.ts', 'export const mine = 2;\n');
  await steps.openFile(world, 'mine.ts');
  await steps.typeAtStart(world, 'const a = 0;\n');
  await turn(replace('src/mine.ts', 'const a = 0;\nexport', 'const a = 0;\nconst b = 1;\nexport'));
  await steps.until('the edit in the editor', async () => await steps.bufferText(world) === 'const a = 0;\nconst b = 1;\nexport const mine = 2;\n');
  assert.equal(read('src/mine.ts'), 'export const mine = 2;\n', 'the document is the editor’s to save');
  await page.keyboard.press('Control+s');
  await onDisk('src/mine.ts', 'const a = 0;\nconst b = 1;\nexport const mine = 2;\n');
  told('one that the user opens then is theirs, with what they have not saved');

  await steps.closeTab(world);
  await turn(replace('src/mine.ts', '= 2', '= 3'));
  await onDisk('src/mine.ts', 'const a = 0;\nconst b = 1;\nexport const mine = 3;\n');
  assert.equal(await tabs.count(), 0);
  told('and the file’s again when they have closed it');

  const pid = await steps.killServer(world);
  await steps.until('a new server', () => ![undefined, pid].includes(steps.serverPid(world.server.dir)));
  await steps.status(world, /ready/);
  await turn(ask('src/mine.ts', 'mine'), replace('src/mine.ts', '= 3', '= 4'));
  await onDisk('src/mine.ts', 'const a = 0;\nconst b = 1;\nexport const mine = 4;\n');
  assert.equal(await tabs.count(), 0);
  told('a server that starts anew is not told of them either');
});
