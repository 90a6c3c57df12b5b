// Each question, put to the providers that VS Code knows for a document.

import * as vscode from 'vscode';
import type { LangQuery, LangStatus, Range } from '../generated/protocol';
import type { Stand } from '../server/held';
import * as convert from './convert';
import * as typescript from './typescript';

/** A question that providers answer. The others are answered by what VS Code knows itself. */
export type Question = Exclude<LangQuery, { type: 'diagnostics' | 'servers' | 'moveFile' }>;

/** The answer of providers. Without a status, it can be relied on. */
export interface Said extends convert.Told {
  status?: LangStatus;
  message?: string;
  /** True if somebody has surely looked, so that an answer with nothing in it says that there is nothing. */
  isSure?: true;
}

/** How texts stand, by their URIs. */
type Stands = ReadonlyMap<string, Stand>;

/** So many code actions are asked what they would change, when one is wanted. */
const RESOLVED = 50;

const run: typeof vscode.commands.executeCommand = (command, ...of: unknown[]) => vscode.commands.executeCommand(command, ...of);

/**
 * Puts a question. Providers that fail are passed over by VS Code, without a word; it throws where VS Code itself refuses.
 * `stands` gives how the texts of documents stand, which an edit tells; it is asked before anybody is.
 */
export async function ask(question: Question, stands: () => Stands = () => new Map()): Promise<Said> {
  const uri = question.uri === undefined ? undefined : vscode.Uri.parse(question.uri);
  const at = 'position' in question ? new vscode.Position(question.position.line, question.position.character) : undefined;
  switch (question.type) {
    case 'definition': return convert.locations(await run('vscode.executeDefinitionProvider', uri, at));
    case 'typeDefinition': return convert.locations(await run('vscode.executeTypeDefinitionProvider', uri, at));
    case 'implementation': return convert.locations(await run('vscode.executeImplementationProvider', uri, at));
    case 'references': return convert.locations(await run('vscode.executeReferenceProvider', uri, at));
    case 'hover': return convert.hover(await run('vscode.executeHoverProvider', uri, at));
    case 'documentSymbols': return convert.outline(question.uri, await run('vscode.executeDocumentSymbolProvider', uri));
    case 'workspaceSymbols': return convert.symbols(await run('vscode.executeWorkspaceSymbolProvider', question.query));
    case 'incomingCalls': return related(await prepared('vscode.prepareCallHierarchy', uri, at), (item) => run('vscode.provideIncomingCalls', item), convert.callers);
    case 'outgoingCalls': return related(await prepared('vscode.prepareCallHierarchy', uri, at), (item) => run('vscode.provideOutgoingCalls', item), convert.called);
    case 'supertypes': return related(await prepared('vscode.prepareTypeHierarchy', uri, at), (item) => run('vscode.provideSupertypes', item), convert.types);
    case 'subtypes': return related(await prepared('vscode.prepareTypeHierarchy', uri, at), (item) => run('vscode.provideSubtypes', item), convert.types);
    case 'rename': return edit(stands(), await run<vscode.WorkspaceEdit | undefined>('vscode.executeDocumentRenameProvider', uri, at, question.newName));
    case 'codeActions': return convert.actions(await actions(uri, question.range, question.kind), question.kind);
    case 'codeAction': {
      const { kind } = question;
      return action(stands(), question.title, await actions(uri, question.range, kind, RESOLVED));
    }
    case 'format': return format(stands(), question.uri, await run<vscode.TextEdit[] | undefined>('vscode.executeFormatDocumentProvider', uri));
  }
}

/** The symbols of a document as VS Code gives them: none, too, where nobody knows any. */
export async function symbolsOf({ uri }: vscode.TextDocument): Promise<vscode.DocumentSymbol[]> {
  return await run<vscode.DocumentSymbol[] | undefined>('vscode.executeDocumentSymbolProvider', uri) ?? [];
}

/** True if somebody is registered who tells the meanings of a document's words. VS Code says so of no other question. */
export async function hasLegend({ uri }: vscode.TextDocument): Promise<boolean> {
  const legends = await Promise.all([run('vscode.provideDocumentSemanticTokensLegend', uri), run('vscode.provideDocumentRangeSemanticTokensLegend', uri)]);
  return legends.some((legend) => legend !== undefined);
}

async function prepared(command: string, uri?: vscode.Uri, at?: vscode.Position): Promise<unknown[]> {
  return await run<unknown[] | undefined>(command, uri, at) ?? [];
}

/** Most servers have no hierarchy of types, some none of calls: without an item to begin with nobody has looked. */
async function related<T>(items: readonly unknown[], of: (item: unknown) => Thenable<T[] | undefined>, telling: (found: T[]) => convert.Told): Promise<Said> {
  if (items.length === 0) return without('unsupported', 'There is nothing here that has such relations, or no extension that reports them; the editor does not say which.');
  const found = await Promise.all(items.map(of));
  return { ...telling(found.flatMap((some) => some ?? [])), isSure: true };
}

async function actions(uri: vscode.Uri | undefined, { start, end }: Range, kind?: string, resolved?: number): Promise<(vscode.CodeAction | vscode.Command)[]> {
  const range = new vscode.Range(start.line, start.character, end.line, end.character);
  // A kind that is left out is left out where it stands, before the number.
  const found = await run<(vscode.CodeAction | vscode.Command)[] | undefined>('vscode.executeCodeActionProvider', uri, range, kind, resolved);
  return found ?? [];
}

function action(stands: Stands, title: string, found: readonly (vscode.CodeAction | vscode.Command)[]): Said {
  const titled = found.filter((one) => one.title === title);
  const chosen = titled.find((one): one is vscode.CodeAction => (one as vscode.CodeAction).edit !== undefined);
  if (chosen?.edit === undefined) {
    if (titled.length === 0) return without('failed', `There is no action "${title}" here, or no longer.`);
    return without('unsupported', found.findIndex((one) => one.title === title) >= RESOLVED
      ? `"${title}" is one of ${found.length} actions here, and VS Code tells only of the first ${RESOLVED} what they would change; ask for a smaller part of the text.`
      : `"${title}" runs a command of its extension, and does not say what it would change.`);
  }
  const said = edit(stands, chosen.edit);
  return chosen.command === undefined || typescript.onlyCounts(chosen.command) || said.status !== undefined
    ? said
    : { ...said, status: 'partial', message: `In the editor the action also runs the command ${chosen.command.command}; that is not done.` };
}

function edit(stands: Stands, edited: vscode.WorkspaceEdit | undefined): Said {
  if (edited === undefined) return without('failed', 'The server gave no edit.');
  const changes = convert.changes(edited, (uri) => stands.get(uri));
  if (changes === undefined) return without('unsupported', 'The edit has steps that VS Code does not give to an extension, such as snippets.');
  return bounded({ answer: { type: 'edit', changes }, cut: false, isSure: true });
}

function format(stands: Stands, uri: string, edits: vscode.TextEdit[] | undefined): Said {
  return bounded({ answer: { type: 'edit', changes: convert.textEdits(uri, stands.get(vscode.Uri.parse(uri).toString()), edits) }, cut: false });
}

/** An edit is whole or not at all. */
function bounded(said: Said): Said {
  const count = said.answer.type !== 'edit' ? 0 : said.answer.changes.reduce((sum, step) => sum + (step.type === 'text' ? step.edits.length : 1), 0);
  return count > convert.MOST.edits ? without('failed', `The edit has ${count} parts; at most ${convert.MOST.edits} are taken.`) : said;
}

function without(status: LangStatus, message: string): Said {
  return { answer: { type: 'nothing' }, cut: false, status, message };
}
