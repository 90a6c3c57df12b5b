import assert from 'node:assert/strict';
import { test } from 'node:test';
import type * as vscode from 'vscode';
import * as convert from '../../src/lang/convert';

const uri = (path: string): vscode.Uri => ({ toString: () => `file://${path}` }) as vscode.Uri;
const range = (start: number, end = start): vscode.Range => ({ start: { line: start, character: 0 }, end: { line: end, character: 1 } }) as vscode.Range;
const plain = (start: number, end = start): unknown => ({ start: { line: start, character: 0 }, end: { line: end, character: 1 } });
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- shorter than `as unknown as` each time
const as = <T>(value: unknown): T => value as T;

test('a link to a definition is the place of its name, and a place that two servers name is one', () => {
  const link = as<vscode.LocationLink>({ targetUri: uri('/a'), targetRange: range(1, 9), targetSelectionRange: range(1) });
  const told = convert.locations([link, as({ uri: uri('/a'), range: range(1) }), as({ uri: uri('/b'), range: range(2) })]);
  assert.deepEqual(told, { answer: { type: 'locations', locations: [{ uri: 'file:///a', range: plain(1) }, { uri: 'file:///b', range: plain(2) }] }, cut: false });
  assert.deepEqual(convert.locations([as({ targetUri: uri('/a'), targetRange: range(1, 9) })]).answer, { type: 'locations', locations: [{ uri: 'file:///a', range: plain(1, 9) }] });
});

test('a flood is cut, and says so', () => {
  const many = Array.from({ length: 501 }, (_, line) => as<vscode.Location>({ uri: uri('/a'), range: range(line) }));
  const told = convert.locations(many);
  assert.ok(told.cut && told.answer.type === 'locations' && told.answer.locations.length === 500);
  assert.ok(!convert.locations(many.slice(1)).cut);
  assert.ok(convert.hover([as({ contents: ['x'.repeat(40_000)] })]).cut);
});

test('nothing is nothing, whether VS Code says so or says nothing', () => {
  for (const told of [convert.locations(undefined), convert.hover([as({ contents: [' ', ''] })]), convert.symbols([]), convert.outline('file:///a'), convert.actions(), convert.callers([])]) {
    assert.ok(convert.isEmpty(told.answer) && !told.cut);
  }
});

test('what several say of a word stands one below the other, code as code', () => {
  const { answer } = convert.hover([as({ contents: [{ language: 'ts', value: 'let a' }, 'A **word**.'] }), as({ contents: [{ value: 'A **word**.' }] })]);
  assert.deepEqual(answer, { type: 'text', text: '```ts\nlet a\n```\n\n---\n\nA **word**.' });
});

test('the symbols of a document are told each before those in it, with LSP\'s numbers', () => {
  const symbol = (name: string, line: number, children: unknown[] = []): vscode.DocumentSymbol => as({ name, kind: 4, detail: '', range: range(line, line + 5), selectionRange: range(line), children });
  const { answer, cut } = convert.outline('file:///a', [symbol('A', 0, [symbol('b', 1, [symbol('c', 2)]), symbol('d', 3)]), symbol('E', 9)]);
  assert.ok(answer.type === 'symbols' && !cut);
  assert.deepEqual(answer.symbols.map(({ name, depth, container }) => [name, depth, container]), [['A', 0, undefined], ['b', 1, 'A'], ['c', 2, 'b'], ['d', 1, 'A'], ['E', 0, undefined]]);
  assert.deepEqual(answer.symbols[0], { name: 'A', kind: 5, depth: 0, location: { uri: 'file:///a', range: plain(0, 5) }, selection: plain(0) });
  let deep = symbol('leaf', 0);
  for (let depth = 0; depth < 50_000; depth++) deep = symbol('s', 0, [deep]);
  const told = convert.outline('file:///a', [deep]);
  assert.ok(told.cut && told.answer.type === 'symbols' && told.answer.symbols.length === convert.MOST.symbols);
});

test('problems are told worst first, and ours are not among them', () => {
  const diagnostic = (severity: number, message: string, more = {}): vscode.Diagnostic => as({ range: range(1), severity, message, ...more });
  const told = convert.problems([
    [uri('/a'), [diagnostic(3, 'hint'), diagnostic(0, 'error', { source: 'ts', code: { value: 2304, target: uri('/x') } }), diagnostic(3, 'Azimuth proposes', { source: 'azimuth' })], 7],
    [uri('/clean'), []],
  ]);
  assert.deepEqual(told, { answer: { type: 'diagnostics', documents: [
    { uri: 'file:///a', version: 7, diagnostics: [{ range: plain(1), severity: 'error', message: 'error', source: 'ts', code: '2304' }, { range: plain(1), severity: 'hint', message: 'hint' }] },
    { uri: 'file:///clean', diagnostics: [] },
  ] }, cut: false });
  assert.ok(convert.problems([[uri('/a'), Array.from({ length: 2_000 }, () => diagnostic(1, 'w'))]]).cut);
});

test('a kind of action is that kind and those below it', () => {
  const found = [as<vscode.CodeAction>({ title: 'Import', kind: { value: 'quickfix.import' }, isPreferred: true }), as<vscode.CodeAction>({ title: 'Odd', kind: { value: 'quickfixes' } }), as<vscode.Command>({ title: 'Run', command: 'run' })];
  assert.deepEqual(convert.actions(found, 'quickfix').answer, { type: 'actions', actions: [{ title: 'Import', kind: 'quickfix.import', preferred: true }] });
  const all = convert.actions(found).answer;
  assert.ok(all.type === 'actions' && all.actions.length === 3);
});

const text = (path: string, line: number, newText: string): unknown => ({ _type: 2, uri: uri(path), edit: { range: range(line), newText } });
const file = (from?: string, to?: string): unknown => ({ _type: 1, from: from && uri(from), to: to && uri(to) });
const edit = (...entries: unknown[]): vscode.WorkspaceEdit => as({ entries: () => [], _allEntries: () => entries });
const of = (...entries: unknown[]): unknown => convert.changes(edit(...entries), (path) => (path.endsWith('/open') ? { version: 3 } : path.endsWith('/held') ? { hash: 'ab' } : undefined));

test('the edits of a text are one step, for the version that is open', () => {
  assert.deepEqual(of(text('/open', 1, 'x'), text('/b', 2, 'y'), text('/open', 4, 'z')), [
    { type: 'text', uri: 'file:///open', version: 3, edits: [{ range: plain(1), newText: 'x' }, { range: plain(4), newText: 'z' }] },
    { type: 'text', uri: 'file:///b', edits: [{ range: plain(2), newText: 'y' }] },
  ]);
  assert.deepEqual(of(), []);
});

test('a class that is renamed with its file is edited where it is, and then moved; a new file is made, and then written', () => {
  assert.deepEqual(of(file('/open', '/New'), file(undefined, '/made'), file('/gone'), text('/open', 1, 'New'), text('/made', 0, 'text')), [
    { type: 'text', uri: 'file:///open', version: 3, edits: [{ range: plain(1), newText: 'New' }] },
    { type: 'rename', from: 'file:///open', to: 'file:///New' },
    { type: 'create', uri: 'file:///made' },
    { type: 'delete', uri: 'file:///gone' },
    { type: 'text', uri: 'file:///made', edits: [{ range: plain(0), newText: 'text' }] },
  ]);
  assert.deepEqual(of(text('/new/a', 0, 'x'), file('/old', '/new')), [
    { type: 'rename', from: 'file:///old', to: 'file:///new' },
    { type: 'text', uri: 'file:///new/a', edits: [{ range: plain(0), newText: 'x' }] },
  ]);
});

test('an edit that cannot be read whole is not read at all', () => {
  assert.equal(of(text('/a', 1, 'x'), { _type: 6, uri: uri('/a'), range: range(1), edit: { value: '$1' } }), undefined, 'a snippet');
  assert.equal(of(text('/a', 1, 'x'), { _type: 5, uri: uri('/n'), index: 0, count: 1, cells: [] }), undefined, 'a cell');
  assert.equal(convert.changes(as({ entries: () => [] }), () => undefined), undefined, 'another VS Code, which tells less');
});
