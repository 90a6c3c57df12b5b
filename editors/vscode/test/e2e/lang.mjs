// Questions about code, answered by the TypeScript that VS Code brings: `node test/e2e/lang.mjs --vsix FILE [--shots FOLDER]`.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { standBetween } from './asker.mjs';
import * as steps from './steps.mjs';
import { called, questions, tell, told } from './story.mjs';
import { startWorld } from './world.mjs';

const { vsix, shots } = called('lang');

const files = {
  'tsconfig.json': '{ "compilerOptions": { "strict": true, "noEmit": true, "target": "es2022", "module": "es2022", "moduleResolution": "bundler" }, "include": ["src"] }\n',
  'src/shape.ts': `export interface Shape {
  area(): number;
}

export class Square implements Shape {
  constructor(private readonly side: number) {}
  area(): number {
    return times(this.side, this.side);
  }
}

/** Multiplies. */
export function times(a: number, b: number): number {
  return a * b;
}
`,
  'src/main.ts': `import { Square, times } from './shape';

const square = new Square(3);
console.log(square.area(), times(2, 5));
`,
  'src/wrong.ts': `export const text: string = 7;
export const six = times(2, 3);
`,
  'src/ugly.ts': 'export function   ugly( ) {\nreturn   1 }\n',
  'notes.nobody': 'square\n',
};

/** A language server that Azimuth could start beside VS Code's own: it says that it was started, and nothing more. */
function setTrap(folder) {
  const bin = path.join(folder, 'node_modules/.bin');
  fs.mkdirSync(bin, { recursive: true });
  // It runs in the sandbox, which has the system's programs.
  const program = `#!/bin/sh\n: >'${path.join(folder, '../started')}'\nwhile :; do sleep 1; done\n`;
  fs.writeFileSync(path.join(bin, 'typescript-language-server'), program, { mode: 0o755 });
}

/** The language servers that run below Azimuth's own process, and whether one ever did. */
function ownServers() {
  const isStarted = fs.existsSync(path.join(project, '../started'));
  return { isStarted, processes: steps.descendants(steps.serverPid(server.dir)).filter((command) => /language-server|tsserver/.test(command)) };
}

let ask;
const world = await startWorld({
  vsix,
  files,
  settings: { 'workbench.colorTheme': 'Default Dark Modern', 'files.autoSave': 'off', 'editor.accessibilitySupport': 'off', 'typescript.disableAutomaticTypeAcquisition': true },
  answers: [{ calls: [{ tool: 'edit_replace_exact', input: { path: 'src/main.ts', old_text: 'times(2, 5)', new_text: 'times(2, 6)' } }] }, { text: 'Proposed.' },
    { calls: [{ tool: 'lsp_definition', input: { path: 'src/main.ts', line: 4, text: 'times' } }, { tool: 'lsp_references', input: { symbol: 'times' } }] },
    { calls: [{ tool: 'lsp_rename', input: { symbol: 'times', path: 'src/shape.ts', new_name: 'product' } }] }, { text: 'Renamed.' }],
  prepare: async (parts) => {
    setTrap(parts.project);
    ask = await standBetween(parts);
  },
});
const { page, model, project, server } = world;
const { uri, query } = questions(world, ask);
const fileOf = (of) => path.relative(project, decodeURIComponent(new URL(of).pathname));

/** The place of the first `needle` in a file, `more` characters on. */
function at(file, needle, more = 0, text = files[file]) {
  const before = text.slice(0, text.indexOf(needle) + more).split('\n');
  assert.ok(text.includes(needle));
  return { line: before.length - 1, character: before.at(-1).length };
}
const place = (file, needle, more) => ({ uri: uri(file), position: at(file, needle, more) });

/** Asks until the answer can be relied on, as whoever is told "indexing" would. */
async function whole(type, more) {
  let last;
  await steps.until(`a whole answer to ${type}`, async () => {
    last = await query(type, more);
    return last.status !== 'indexing' && !/changed while/.test(last.message ?? '');
  }, 60_000, async () => JSON.stringify(last));
  return last;
}

/** As `whole`, and it has an answer that is all there is. */
async function ready(type, more) {
  const result = await whole(type, more);
  assert.equal(result.status, 'ready', JSON.stringify(result));
  return result;
}
const lines = (locations) => locations.map((one) => `${fileOf(one.uri)}:${one.range.start.line}:${one.range.start.character}`).toSorted();

await tell(world, shots, async () => {
  await steps.openChat(world);
  await steps.status(world, /ready/);

  // No file is open, and TypeScript does not run yet.
  const began = Date.now();
  const first = await ready('definition', place('src/main.ts', 'times(2'));
  assert.deepEqual(lines(first.answer.locations), ['src/shape.ts:12:16']);
  assert.deepEqual(first.servers.map(({ name }) => name).filter((name) => /TypeScript/.test(name)).length, 1, JSON.stringify(first.servers));
  assert.equal(first.version, undefined, 'it is not open for the user');
  console.log(`   (the first answer after ${Date.now() - began} ms)`);
  assert.equal(await page.locator('.tab').count(), 0, 'no file is shown for it');
  told('a definition is found for a file that is not open, by a server that had not begun, and nothing is shown');

  const references = await ready('references', place('src/shape.ts', 'times(a'));
  assert.deepEqual(lines(references.answer.locations), ['src/main.ts:0:17', 'src/main.ts:3:27', 'src/shape.ts:12:16', 'src/shape.ts:7:11']);
  const hover = await ready('hover', place('src/main.ts', 'times(2'));
  assert.match(hover.answer.text, /times\(a: number, b: number\): number[^]*Multiplies\./);
  assert.deepEqual(lines((await ready('implementation', place('src/shape.ts', 'Shape {'))).answer.locations), ['src/shape.ts:4:13']);
  assert.deepEqual(lines((await ready('typeDefinition', place('src/main.ts', 'square.area'))).answer.locations), ['src/shape.ts:4:13']);
  const outline = await ready('documentSymbols', { uri: uri('src/shape.ts') });
  assert.deepEqual(outline.answer.symbols.map(({ name, kind, depth }) => `${name} ${kind} ${depth}`), ['Shape 11 0', 'area 6 1', 'Square 5 0', 'constructor 9 1', 'side 7 1', 'area 6 1', 'times 12 0']);
  const found = await ready('workspaceSymbols', { query: 'Squar', uri: uri('src/main.ts') });
  assert.ok(found.answer.symbols.some(({ name, location }) => name === 'Square' && fileOf(location.uri) === 'src/shape.ts'));
  told('references, hover, implementations, types and symbols are those of TypeScript');

  const callers = await ready('incomingCalls', place('src/shape.ts', 'times(a'));
  assert.deepEqual(callers.answer.calls.map(({ symbol, ranges }) => `${symbol.name} ${ranges.length}`).toSorted(), ['area 1', 'main.ts 1']);
  const called = await ready('outgoingCalls', place('src/shape.ts', 'area(): number {'));
  assert.deepEqual(called.answer.calls.map(({ symbol }) => symbol.name), ['times']);
  told('callers and called are told');

  const renamed = await ready('rename', { ...place('src/shape.ts', 'times(a'), newName: 'product' });
  assert.deepEqual(renamed.answer.changes.map(({ type, uri: of, edits }) => `${type} ${fileOf(of)} ${edits.length}`).toSorted(), ['text src/main.ts 2', 'text src/shape.ts 2']);
  const hash = (file) => createHash('sha256').update(files[file]).digest('hex');
  const stands = renamed.answer.changes.map(({ uri: of, hash: its, version }) => [its === hash(fileOf(of)), version]);
  assert.ok(stands.some(([isTheirs]) => isTheirs), 'of a file that is not open it is told of which text');
  assert.deepEqual(stands.filter(([, version]) => version !== undefined), []);
  const refused = await query('rename', { ...place('src/shape.ts', 'return', 1), newName: 'x' });
  assert.equal(refused.status, 'failed');
  assert.match(refused.message, /rename/i);
  const ugly = await ready('format', { uri: uri('src/ugly.ts') });
  assert.ok(ugly.answer.changes[0].edits.length > 0);
  for (const [name, text] of Object.entries(files)) assert.equal(fs.readFileSync(path.join(project, name), 'utf8'), text);
  told('what a rename and formatting would change is told across files, and nothing is changed');

  const problems = await ready('diagnostics', { uri: uri('src/wrong.ts') });
  const [document] = problems.answer.documents;
  assert.deepEqual(document.diagnostics.filter(({ severity }) => severity === 'error').map(({ code, source }) => `${source} ${code}`).toSorted(), ['ts 2304', 'ts 2322']);
  const clean = await ready('diagnostics', { uri: uri('src/shape.ts') });
  assert.deepEqual(clean.answer.documents.map(({ uri: of, diagnostics }) => [fileOf(of), diagnostics]), [['src/shape.ts', []]]);
  told('problems are told for files that no editor shows, with their codes, and that there is none where there is none');

  const missing = { start: at('src/wrong.ts', 'times'), end: at('src/wrong.ts', 'times', 5) };
  assert.equal((await query('codeActions', { uri: uri('src/wrong.ts'), range: missing, kind: 'quickfix' })).status, 'unsupported', 'TypeScript fixes only what it has shown');
  await steps.openFile(world, 'wrong.ts');
  const shown = await ready('diagnostics', { uri: uri('src/wrong.ts') });
  assert.deepEqual(shown.answer.documents[0].diagnostics, document.diagnostics);
  const actions = await ready('codeActions', { uri: uri('src/wrong.ts'), range: missing, kind: 'quickfix' });
  const { title } = actions.answer.actions.find((action) => /import/i.test(action.title)) ?? assert.fail(JSON.stringify(actions));
  const fixed = await ready('codeAction', { uri: uri('src/wrong.ts'), range: missing, title });
  assert.match(fixed.answer.changes[0].edits[0].newText, /import \{ times \} from ["']\.\/shape["'];/);
  assert.equal((await query('codeAction', { uri: uri('src/wrong.ts'), range: missing, title: 'Make it right' })).status, 'failed');
  assert.equal(await steps.bufferText(world), files['src/wrong.ts']);
  told('a quick fix says what it would change, and changes nothing');

  // "There is none" and "nobody knows" do not look alike.
  const nobody = await query('definition', { uri: uri('notes.nobody'), position: { line: 0, character: 2 } });
  assert.equal(nobody.status, 'noServer');
  const none = await ready('references', place('src/ugly.ts', 'return', 2));
  assert.deepEqual(none.answer, { type: 'locations', locations: [] });
  assert.equal((await whole('subtypes', place('src/shape.ts', 'Shape {'))).status, 'unsupported');
  assert.equal((await query('moveFile', { from: uri('src/shape.ts'), to: uri('src/form.ts') })).status, 'unsupported');
  for (const wrong of [{ uri: uri('src/gone.ts'), position: { line: 0, character: 0 } }, { uri: uri('src/ugly.ts'), position: { line: 99, character: 0 } }]) {
    const { status, message } = await query('definition', wrong);
    assert.ok(status === 'failed' && message, JSON.stringify(wrong));
  }
  assert.equal((await query('references', place('src/shape.ts', 'times(a'), 0)).status, 'timedOut');
  const { servers } = await query('servers', { uri: uri('src/main.ts') });
  assert.ok(servers.some(({ name }) => /TypeScript/.test(name)));
  told('where there is none, nobody, no such place or no time, that is what is said');

  // Text that is typed and not saved counts.
  await steps.openFile(world, 'shape.ts');
  const mine = 'export const mine = 1;\n\nexport const bad: number = "no";\n';
  await steps.typeAtStart(world, 'export const mine = 1;\n\n');
  // The typed text is there a little after the keys.
  await steps.until('the definition where it is now', async () => {
    const moved = await ready('definition', place('src/main.ts', 'times(2'));
    return lines(moved.answer.locations).join() === 'src/shape.ts:14:16';
  });
  await page.keyboard.insertText('export const bad: number = "no";\n');
  const now = await steps.until('the problem', async () => {
    const result = await ready('diagnostics', { uri: uri('src/shape.ts') });
    return result.answer.documents[0].diagnostics.length > 0 ? result : undefined;
  });
  assert.deepEqual(now.answer.documents[0].diagnostics.map(({ code, range }) => `${code} ${range.start.line}`), ['2322 2']);
  assert.ok(now.answer.documents[0].version === now.version && now.version > 1, JSON.stringify(now));
  await page.screenshot({ path: path.join(shots, 'unsaved.png') });
  told('unsaved text counts, and its problems come with its version');

  // Our own code actions are for the user, and not among the answers.
  await steps.ask(world, 'Change it.');
  await steps.pendingHunks(world, 1);
  const line = at('src/main.ts', 'times(2');
  const ours = await ready('codeActions', { uri: uri('src/main.ts'), range: { start: line, end: line } });
  assert.deepEqual(ours.answer.actions.filter((action) => /this change|all in file/.test(action.title)), []);
  assert.ok(ours.answer.actions.length > 0, 'TypeScript has some there');
  await steps.openFile(world, 'main.ts');
  await page.keyboard.press('Control+End');
  await page.keyboard.press('ArrowUp');
  // A list that opens while the editor still draws what it was told of is closed again.
  await steps.until('our action in the list', async () => {
    await page.keyboard.press('Control+.');
    return page.locator('.action-widget').getByText('Accept this change').waitFor({ timeout: 5_000 }).then(() => true, () => false);
  });
  await page.screenshot({ path: path.join(shots, 'actions.png') });
  await page.keyboard.press('Escape');
  told('a question never reaches Azimuth itself; the user has its code actions as before');

  // The model asks, by its tools.
  await steps.azimuth(world, 'Reject All Hunks');
  await steps.pendingHunks(world, 0);
  await steps.ask(world, 'Call times a product.');
  await steps.pendingHunks(world, 4);
  const results = model.asked.flatMap(({ messages }) => messages).filter(({ role }) => role === 'tool').map(({ content }) => JSON.stringify(content));
  assert.ok(results.some((result) => /src\/shape\.ts:16/.test(result) && /function times/.test(result)), results.join('\n'));
  // One call, one proposal over both files, which the review shows.
  const chat = await steps.chatFrame(world);
  await chat.getByText(/^Renaming times in src\/shape\.ts/).waitFor();
  const waiting = page.locator('.pane', { has: page.locator('.pane-header[aria-label^="Review"]') }).locator('.monaco-list-row', { hasText: '2 pending' });
  await steps.until('both files in the review', async () => (await waiting.count()) === 2);
  assert.deepEqual((await waiting.allTextContents()).map((text) => text.match(/(main|shape)\.ts/)?.[0]).toSorted(), ['main.ts', 'shape.ts']);
  for (const name of ['src/main.ts', 'src/shape.ts']) assert.equal(fs.readFileSync(path.join(project, name), 'utf8'), files[name], 'nothing is written before it is accepted');
  await page.screenshot({ path: path.join(shots, 'renamed.png') });
  await steps.azimuth(world, 'Accept All Hunks');
  await steps.pendingHunks(world, 0);
  const renamedIn = { 'main.ts': files['src/main.ts'].replaceAll('times', 'product'), 'shape.ts': mine + files['src/shape.ts'].replaceAll('times', 'product') };
  for (const [name, text] of Object.entries(renamedIn)) {
    await steps.openFile(world, name);
    assert.equal(await steps.bufferText(world), text);
  }
  told('the model renames what is in two files, one with unsaved text, and the user accepts it as one');

  await steps.azimuth(world, 'Undo Last Turn');
  const list = page.locator('.quick-input-widget:visible .monaco-list-row');
  await list.filter({ hasText: 'main.ts' }).waitFor();
  assert.deepEqual((await list.locator('.label-name').allTextContents()).toSorted(), ['src/main.ts', 'src/shape.ts']);
  await page.keyboard.press('Enter');
  // Another list in its place would take it back before it is done.
  await page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
  for (const [name, text] of [['shape.ts', mine + files['src/shape.ts']], ['main.ts', files['src/main.ts']]]) {
    await steps.openFile(world, name);
    await steps.until(`the old name in ${name}`, async () => await steps.bufferText(world) === text);
  }
  told('and undoes it as one');

  assert.deepEqual(ownServers(), { isStarted: false, processes: [] });
  // It would have been seen: what moves with a file VS Code does not tell, so Azimuth asks a server of its own.
  model.add({ calls: [{ tool: 'lsp_move_file', input: { from: 'src/ugly.ts', to: 'src/nice.ts' } }] }, { text: 'Moved.' });
  await steps.ask(world, 'Move it.');
  // The project brings it along, so it is asked for.
  await steps.answer(world, 'Start it, until it changes');
  await steps.until('a server of our own', () => ownServers().isStarted && ownServers().processes.length > 0);
  // It never says that it is there.
  await steps.azimuth(world, 'Show Language Servers');
  const own = list.filter({ hasText: 'typescript-language-server' });
  await own.filter({ hasText: /starts/ }).waitFor();
  assert.equal(await list.count(), 1, 'those of VS Code are not among them');
  await page.screenshot({ path: path.join(shots, 'servers.png') });
  await page.keyboard.press('Enter');
  await list.filter({ hasText: 'Restart' }).waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.notification-toast', { hasText: /typescript-language-server was ended/ }).waitFor();
  told('the list of Azimuth’s own servers shows it, and starts it anew');

  await steps.azimuth(world, 'Cancel Turn');
  told('while VS Code\'s own TypeScript answers, Azimuth starts no server beside it');
});
