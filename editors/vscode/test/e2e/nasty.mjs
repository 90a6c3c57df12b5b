// Questions about code to extensions that are slow, silent, late, too talkative or broken: `node test/e2e/nasty.mjs --vsix FILE
// [--shots FOLDER]`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { standBetween } from './asker.mjs';
import * as steps from './steps.mjs';
import { called, questions, tell, told } from './story.mjs';
import { startWorld } from './world.mjs';

const { vsix, shots } = called('nasty');

const language = (id) => ({ contributes: { languages: [{ id, extensions: [`.${id}`] }] }, activationEvents: [`onLanguage:${id}`] });
const symbols = "vscode.languages.registerDocumentSymbolProvider(of, { provideDocumentSymbols: () => [new vscode.DocumentSymbol('it', '', 11, at(0), at(0))] });";
const code = (id, body) => `
const vscode = require('vscode');
const of = { language: ${JSON.stringify(id)} };
const at = (line) => new vscode.Range(line, 0, line, 1);
exports.activate = () => { ${body} };
`;
const extensions = {
  nasty: {
    manifest: language('nasty'),
    code: code('nasty', `
      ${symbols}
      const { languages, CodeAction, CodeActionKind, Location, Uri, WorkspaceEdit } = vscode;
      languages.registerDefinitionProvider(of, { provideDefinition: () => new Promise(() => {}) });
      languages.registerReferenceProvider(of, { provideReferences: ({ uri }) => Array.from({ length: 100_000 }, (_, line) => new Location(uri, at(line))) });
      languages.registerHoverProvider(of, { provideHover: () => { throw new Error('broken'); } });
      languages.registerImplementationProvider(of, { provideImplementation: () => ({ not: 'a place' }) });
      languages.registerRenameProvider(of, { provideRenameEdits: async ({ uri }, _, name) => {
        if (name === 'no') throw new Error('this cannot be called so');
        const edit = new WorkspaceEdit();
        if (name === 'while') {
          // The user types while it thinks.
          edit.insert(uri, new vscode.Position(2, 0), 'typed');
          await vscode.workspace.applyEdit(edit);
          const other = new WorkspaceEdit();
          other.replace(uri, at(0), name);
          return other;
        }
        const made = Uri.joinPath(uri, '../made.txt');
        edit.replace(uri, at(0), name);
        edit.renameFile(uri, Uri.joinPath(uri, '../' + name + '.nasty'));
        edit.createFile(made);
        edit.insert(made, new vscode.Position(0, 0), 'made');
        return edit;
      } });
      languages.registerCodeActionsProvider(of, { provideCodeActions: ({ uri }) => {
        const action = (title, fields) => Object.assign(new CodeAction(title, CodeActionKind.QuickFix), fields);
        const [plain, snippet] = [new WorkspaceEdit(), new WorkspaceEdit()];
        plain.replace(uri, at(0), 'x');
        snippet.set(uri, [new vscode.SnippetTextEdit(at(0), new vscode.SnippetString('$' + '{1:x}'))]);
        const command = { title: 'More', command: 'nasty.more' };
        return [action('edits', { edit: plain }), action('edits and more', { edit: plain, command }), action('snippet', { edit: snippet }), action('command', { command })];
      } });`),
  },
  // Has very many actions, and says of each what it would change only when it is asked for that one.
  many: {
    manifest: language('many'),
    code: code('many', `
      ${symbols}
      vscode.languages.registerCodeActionsProvider(of, {
        provideCodeActions: ({ uri }) => Array.from({ length: 60 }, (_, number) => Object.assign(new vscode.CodeAction('number ' + number, vscode.CodeActionKind.QuickFix), { uri })),
        resolveCodeAction: (action) => {
          action.edit = new vscode.WorkspaceEdit();
          action.edit.replace(action.uri, at(0), 'x');
          return action;
        },
      });`),
  },
  // Reports a second after it has read a text, whatever has become of that since; one that says so it does not read.
  stale: {
    manifest: language('stale'),
    code: code('stale', `
      ${symbols}
      const problems = vscode.languages.createDiagnosticCollection('stale');
      const check = (document) => document.languageId === 'stale' && !document.getText().includes('unread')
        && setTimeout(() => problems.set(document.uri, [Object.assign(new vscode.Diagnostic(at(0), 'It is wrong.', 0), { source: 'stale' })]), 1_000);
      vscode.workspace.textDocuments.forEach(check);
      vscode.workspace.onDidOpenTextDocument(check);
      vscode.workspace.onDidChangeTextDocument(({ document }) => check(document));`),
  },
  silent: { manifest: language('silent'), code: code('silent', '') },
  late: { manifest: language('late'), code: code('late', `setTimeout(() => { ${symbols} }, 2_000);`) },
  // Checks spelling, in whatever text there is and at once.
  speller: {
    manifest: { activationEvents: ['onStartupFinished'] },
    code: `
const vscode = require('vscode');
exports.activate = () => {
  const words = vscode.languages.createDiagnosticCollection('words');
  const check = ({ uri, fileName }) => /\\.(slow|txt)$/.test(fileName)
    && words.set(uri, [Object.assign(new vscode.Diagnostic(new vscode.Range(0, 0, 0, 2), 'It is misspelt.', 1), { source: 'spell' })]);
  vscode.workspace.textDocuments.forEach(check);
  vscode.workspace.onDidOpenTextDocument(check);
  vscode.workspace.onDidChangeTextDocument(({ document }) => check(document));
};
`,
  },
  // Reports three seconds after the last change, unless the text says that it shall not, and ends where it says that.
  slow: {
    manifest: language('slow'),
    code: code('slow', `
      const problems = vscode.languages.createDiagnosticCollection('slow');
      const registered = [vscode.languages.registerDocumentSymbolProvider(of, { provideDocumentSymbols: () => [new vscode.DocumentSymbol('it', '', 11, at(0), at(0))] }),
        vscode.languages.registerDefinitionProvider(of, { provideDefinition: ({ uri }, { line }) => (line === 0 ? new vscode.Location(uri, at(0)) : []) })];
      let waiting;
      const check = (document) => {
        if (document.languageId !== 'slow') return;
        if (document.getText().includes('end')) return registered.forEach((one) => one.dispose());
        clearTimeout(waiting);
        waiting = setTimeout(() => document.getText().includes('quiet') || problems.set(document.uri, [Object.assign(new vscode.Diagnostic(at(0), 'It is wrong.', 0), { source: 'slow' })]), 3_000);
      };
      vscode.workspace.textDocuments.forEach(check);
      vscode.workspace.onDidOpenTextDocument(check);
      vscode.workspace.onDidChangeTextDocument(({ document }) => check(document));`),
  },
};

const files = { ...Object.fromEntries(Object.keys(extensions).map((id) => [`a.${id}`, 'it\n\n'])), 'notes.txt': 'it\n' };

let ask;
const world = await startWorld({
  vsix,
  files,
  extensions,
  prepare: async (parts) => { ask = await standBetween(parts); },
});
const { page, project } = world;
const { uri, query } = questions(world, ask);
const start = { line: 0, character: 0 };
const about = (id, more) => ({ uri: uri(`a.${id}`), position: start, ...more });

/** As `query`, with how long it took. */
async function timed(type, more, timeoutMs) {
  const began = performance.now();
  return { ...await query(type, more, timeoutMs), ms: performance.now() - began };
}

/** As `query`, as soon as the server has had its time. */
function settled(type, more) {
  return steps.until(`an answer to ${type} of one that has begun`, async () => {
    const result = await query(type, more);
    return result.status === 'indexing' ? undefined : result;
  });
}

await tell(world, shots, async () => {
  await steps.openChat(world);
  await steps.status(world, /ready/);

  const early = await timed('definition', about('silent'), 1_500);
  assert.equal(early.status, 'indexing', JSON.stringify(early));
  assert.ok(early.ms < 2_500, String(early.ms));
  assert.match(early.message, /test\.silent/);
  const silent = await query('definition', about('silent'));
  assert.equal(silent.status, 'unsupported', JSON.stringify(silent));
  const again = await timed('definition', about('silent'));
  assert.ok(again.status === 'unsupported' && again.ms < 2_000, JSON.stringify(again));
  told('an extension that says nothing is waited for once, and is not one that found nothing');

  const late = await query('documentSymbols', about('late', { position: undefined }));
  assert.equal(late.answer.symbols[0].name, 'it');
  assert.equal(late.status, 'indexing', 'it has only just begun');
  await steps.until('its being there', async () => (await query('documentSymbols', about('late', { position: undefined }))).status === 'ready');
  told('one that comes late is waited for, and is taken at its word some seconds later');

  const slow = await timed('definition', about('nasty'), 2_000);
  assert.equal(slow.status, 'timedOut', JSON.stringify(slow));
  assert.ok(slow.ms < 3_000, String(slow.ms));
  const flood = await timed('references', about('nasty'));
  assert.equal(flood.status, 'partial');
  assert.equal(flood.answer.locations.length, 500);
  assert.equal((await query('hover', about('nasty'))).answer.text, '', 'VS Code does not say that it failed');
  const garbage = await query('implementation', about('nasty'));
  assert.ok(['ready', 'failed'].includes(garbage.status) && (garbage.answer.locations ?? []).length === 0, JSON.stringify(garbage));
  const hidden = await query('diagnostics', { uri: uri('a.nasty') });
  assert.equal(hidden.status, 'unsupported');
  told('no answer, a flood of answers and broken answers stay within the time and the bounds');

  const refused = await query('rename', about('nasty', { newName: 'no' }));
  assert.equal(refused.status, 'failed');
  assert.match(refused.message, /cannot be called so/);
  const { answer: { changes } } = await query('rename', about('nasty', { newName: 'new' }));
  assert.deepEqual(changes.map(({ type, uri: of, from, to }) => [type, ...[of, from, to].filter(Boolean).map((place) => path.basename(place))]), [
    ['text', 'a.nasty'], ['rename', 'a.nasty', 'new.nasty'], ['create', 'made.txt'], ['text', 'made.txt'],
  ]);
  assert.deepEqual(fs.readdirSync(project).toSorted(), Object.keys(files).toSorted(), 'nothing is made or moved');
  const action = (title) => query('codeAction', { uri: uri('a.nasty'), range: { start, end: start }, title });
  // On a slow machine the extension may have only just begun.
  const plain = await steps.until('an answer of one that has begun', async () => {
    const found = await action('edits');
    return found.status === 'indexing' ? undefined : found;
  });
  assert.deepEqual([plain.status, plain.message], ['ready', undefined]);
  const more = await action('edits and more');
  assert.equal(more.status, 'partial', 'half of it is not done');
  assert.match(more.message, /nasty\.more/);
  const numbered = (number) => query('codeAction', { uri: uri('a.many'), range: { start, end: start }, title: `number ${number}` });
  await steps.until('an answer of one that has begun', async () => (await numbered(3)).status === 'ready');
  const last = await numbered(59);
  assert.equal(last.status, 'unsupported');
  assert.match(last.message, /one of 60 actions .* the first 50/);
  for (const title of ['snippet', 'command']) assert.equal((await action(title)).status, 'unsupported', title);
  told('an edit is told with the files that it makes and moves, and one that cannot be told whole is not told');

  // Who has not looked has not found nothing.
  const other = await settled('references', about('slow'));
  assert.equal(other.status, 'unsupported', JSON.stringify(other));
  assert.match(other.message, /does not say which/);
  const second = { ...about('slow'), position: { line: 1, character: 0 } };
  const none = await settled('definition', second);
  assert.deepEqual([none.status, none.answer], ['ready', { type: 'locations', locations: [] }], 'it answers this where there is something');
  const formatted = await settled('format', { uri: uri('a.slow') });
  assert.equal(formatted.status, 'unsupported', JSON.stringify(formatted));
  const everywhere = await query('workspaceSymbols', { query: 'it' });
  assert.notEqual(everywhere.status, 'ready', JSON.stringify(everywhere));
  told('an empty answer is "there is none" only of one that answers such a question where it has an answer');

  await steps.openFile(world, 'notes.txt');
  // Only a report seen in another language tells that it reports on others too.
  await page.locator('.editor-instance .squiggly-warning').first().waitFor();
  await steps.openFile(world, 'a.slow');
  const problems = await query('diagnostics', { uri: uri('a.slow') });
  assert.deepEqual([problems.status, problems.answer.documents[0].diagnostics.map(({ source }) => source)], ['ready', ['slow', 'spell']], JSON.stringify(problems));
  await steps.typeAtStart(world, 'quiet');
  // The typed text comes letter by letter, each with a version of its own.
  const quiet = await steps.until('an answer for the new text', async () => {
    const result = await query('diagnostics', { uri: uri('a.slow') });
    return result.version > 5 ? result : undefined;
  });
  assert.equal(quiet.status, 'unsupported', JSON.stringify(quiet));
  assert.match(quiet.message, /was seen to report on this text/);
  assert.deepEqual([quiet.answer.documents[0].version, quiet.answer.documents[0].diagnostics.length], [undefined, 2], 'what is known is told, for no version');
  told('a spell checker that has reported is not the language server that has not');

  // It was asked about the text before; what is typed meanwhile is another.
  await steps.openFile(world, 'a.nasty');
  const { version } = await query('documentSymbols', { uri: uri('a.nasty') });
  const renamed = await query('rename', about('nasty', { newName: 'while' }));
  assert.deepEqual([renamed.status, renamed.version, renamed.answer.changes.map((step) => step.version)], ['partial', version, [version]], JSON.stringify(renamed));
  assert.match(renamed.message, /changed while/);
  told('an answer is for the text that was asked about, and doubted where that changed meanwhile');

  await steps.openFile(world, 'a.stale');
  await steps.until('a report', async () => (await query('diagnostics', { uri: uri('a.stale') })).status === 'ready');
  await steps.typeAtStart(world, 'x');
  await page.keyboard.insertText('unread');
  await page.waitForTimeout(100);
  const doubtful = await query('diagnostics', { uri: uri('a.stale') }, 2_700);
  assert.deepEqual([doubtful.status, doubtful.answer.documents[0].version, doubtful.answer.documents[0].diagnostics.length], ['partial', undefined, 1], JSON.stringify(doubtful));
  assert.match(doubtful.message, /of the text before/);
  told('a report that may be of the text before is doubted, and is told for no version');

  await steps.openFile(world, 'a.slow');
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText('end\n\n');
  const gone = await steps.until('the end of the server', async () => {
    const result = await query('definition', second, 3_000);
    return result.status === 'ready' ? undefined : result;
  });
  assert.ok(['indexing', 'unsupported'].includes(gone.status), JSON.stringify(gone));
  told('a server that has ended has not found nothing');
});
