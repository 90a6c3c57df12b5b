// The answers of VS Code's providers, as answers on the wire. Bounded. Pure.

import type * as vscode from 'vscode';
import type {
  LangAction, LangAnswer, LangCall, LangChange, LangDiagnostic, LangDiagnostics, LangLocation, LangSeverity, LangSymbol, LangTextEdit, Range,
} from '../generated/protocol';
import type { Stand } from '../server/held';

/** So many of each are given at most; a hover's text is counted in UTF-16 units. */
export const MOST = { locations: 500, symbols: 2_000, calls: 500, diagnostics: 1_000, actions: 200, edits: 10_000, text: 32_768 };

/** An answer, and whether there was more than was given. */
export interface Told {
  answer: LangAnswer;
  cut: boolean;
}

/** True if an answer says that there is nothing. */
export function isEmpty(answer: LangAnswer): boolean {
  switch (answer.type) {
    case 'nothing': return true;
    case 'locations': return answer.locations.length === 0;
    case 'text': return answer.text === '';
    case 'symbols': return answer.symbols.length === 0;
    case 'calls': return answer.calls.length === 0;
    case 'edit': return answer.changes.length === 0;
    case 'diagnostics': return answer.documents.every(({ diagnostics }) => diagnostics.length === 0);
    case 'actions': return answer.actions.length === 0;
  }
}

/** Places; each once, though several providers may name it. */
export function locations(found: readonly (vscode.Location | vscode.LocationLink)[] = []): Told {
  const places = new Map(found.map(location).map((place) => [JSON.stringify(place), place]));
  return { answer: { type: 'locations', locations: [...places.values()].slice(0, MOST.locations) }, cut: places.size > MOST.locations };
}

/** The texts of hovers, one below the other. */
export function hover(hovers: readonly vscode.Hover[] = []): Told {
  const texts = hovers.flatMap(({ contents }) => contents.map(markdown)).map((text) => text.trim()).filter((text) => text !== '');
  const text = [...new Set(texts)].join('\n\n---\n\n');
  return { answer: { type: 'text', text: text.slice(0, MOST.text) }, cut: text.length > MOST.text };
}

/** The symbols of a document, each before those that are in it. */
export function outline(uri: string, roots: readonly vscode.DocumentSymbol[] = []): Told {
  const symbols: LangSymbol[] = [];
  // Without recursion: how deep symbols lie in each other is up to others.
  const waiting = lastFirst(roots).map((symbol) => ({ symbol, depth: 0, container: '' }));
  for (let next = waiting.pop(); next !== undefined && symbols.length < MOST.symbols; next = waiting.pop()) {
    const { symbol, depth, container } = next;
    symbols.push({
      name: symbol.name,
      kind: symbol.kind + 1,
      ...some('detail', symbol.detail),
      ...some('container', container),
      depth,
      location: { uri, range: range(symbol.range) },
      selection: range(symbol.selectionRange),
    });
    waiting.push(...lastFirst(symbol.children).map((child) => ({ symbol: child, depth: depth + 1, container: symbol.name })));
    if (symbols.length === MOST.symbols && waiting.length > 0) return { answer: { type: 'symbols', symbols }, cut: true };
  }
  return { answer: { type: 'symbols', symbols }, cut: false };
}

/** Symbols of the workspace. */
export function symbols(found: readonly vscode.SymbolInformation[] = []): Told {
  const all = found.slice(0, MOST.symbols).map((symbol): LangSymbol => ({
    name: symbol.name,
    kind: symbol.kind + 1,
    ...some('container', symbol.containerName),
    depth: 0,
    location: location(symbol.location),
    selection: range({ start: symbol.location.range.start, end: symbol.location.range.start }),
  }));
  return { answer: { type: 'symbols', symbols: all }, cut: found.length > MOST.symbols };
}

/** Supertypes or subtypes. */
export function types(found: readonly vscode.TypeHierarchyItem[]): Told {
  return { answer: { type: 'symbols', symbols: found.slice(0, MOST.symbols).map(item) }, cut: found.length > MOST.symbols };
}

/** Who calls. */
export function callers(found: readonly vscode.CallHierarchyIncomingCall[]): Told {
  return calls(found.map(({ from, fromRanges }) => ({ of: from, fromRanges })));
}

/** The symbols that are called. */
export function called(found: readonly vscode.CallHierarchyOutgoingCall[]): Told {
  return calls(found.map(({ to, fromRanges }) => ({ of: to, fromRanges })));
}

/** The problems of documents. What Azimuth says itself is not among them. */
export function problems(found: readonly (readonly [vscode.Uri, readonly vscode.Diagnostic[], (number | undefined)?])[]): Told {
  let [room, cut] = [MOST.diagnostics, false];
  const documents: LangDiagnostics[] = [];
  for (const [uri, diagnostics, version] of found) {
    const all = diagnostics.filter(({ source }) => source !== 'azimuth').toSorted((a, b) => a.severity - b.severity);
    const given = all.slice(0, room);
    room -= given.length;
    cut ||= given.length < all.length;
    if (given.length > 0 || all.length === 0) {
      documents.push({ uri: uri.toString(), ...(version === undefined ? {} : { version }), diagnostics: given.map(problem) });
    }
  }
  return { answer: { type: 'diagnostics', documents }, cut };
}

/** The actions that can be done. VS Code does not say what is disabled; it is not among them. */
export function actions(found: readonly (vscode.CodeAction | vscode.Command)[] = [], kind?: string): Told {
  const all = found.map((action): LangAction => ({
    title: action.title,
    ...('command' in action && typeof action.command === 'string' ? {} : ofAction(action as vscode.CodeAction)),
  })).filter((action) => kind === undefined || `${action.kind ?? ''}.`.startsWith(`${kind}.`));
  return { answer: { type: 'actions', actions: all.slice(0, MOST.actions) }, cut: all.length > MOST.actions };
}

/** The edits of one text. */
export function textEdits(uri: string, stand: Stand | undefined, edits: readonly vscode.TextEdit[] = []): LangChange[] {
  return edits.length === 0 ? [] : [{ type: 'text', uri, ...stand, edits: edits.map(textEdit) }];
}

/**
 * The steps of an edit, or undefined if it has steps that cannot be read or are none of ours, such as snippets and
 * cells of notebooks. `standOf` gives how the text of a document that VS Code has stood before.
 */
export function changes(edit: vscode.WorkspaceEdit, standOf: (uri: string) => Stand | undefined): LangChange[] | undefined {
  // `entries()` leaves out all but edits of text, without a word. Who took what it gives would rename a class and leave its
  // file behind. VS Code has only this for the rest.
  const all = (edit as { _allEntries?: () => readonly unknown[] })._allEntries?.();
  if (all === undefined) return undefined;
  const files: LangChange[] = [];
  const texts = new Map<string, LangTextEdit[]>();
  for (const entry of all) {
    if (isText(entry)) {
      const uri = entry.uri.toString();
      const edits = texts.get(uri) ?? [];
      texts.set(uri, edits);
      edits.push(textEdit(entry.edit));
    } else if (isOfFile(entry)) {
      const [from, to] = [entry.from?.toString(), entry.to?.toString()];
      if (from !== undefined && to !== undefined) files.push({ type: 'rename', from, to });
      else if (to !== undefined) files.push({ type: 'create', uri: to });
      else if (from !== undefined) files.push({ type: 'delete', uri: from });
    } else {
      return undefined;
    }
  }
  // VS Code hands an edit on with the files first, whatever its order was. A text is edited where it is then: before its
  // file moves, unless it is called as it will be.
  const made = files.flatMap((step) => (step.type === 'create' ? [step.uri] : step.type === 'rename' ? [step.to] : []));
  const isMade = (uri: string): boolean => made.some((place) => uri === place || uri.startsWith(`${place}/`));
  const steps = [...texts].map(([uri, edits]): LangChange & { uri: string } => (
    { type: 'text', uri, ...(isMade(uri) ? undefined : standOf(uri)), edits }));
  return [...steps.filter(({ uri }) => !isMade(uri)), ...files, ...steps.filter(({ uri }) => isMade(uri))];
}

interface Place {
  readonly line: number;
  readonly character: number;
}

function range({ start, end }: { readonly start: Place; readonly end: Place }): Range {
  const plain = ({ line, character }: Place): Place => ({ line, character });
  return { start: plain(start), end: plain(end) };
}

function location(found: vscode.Location | vscode.LocationLink): LangLocation {
  return 'targetUri' in found
    ? { uri: found.targetUri.toString(), range: range(found.targetSelectionRange ?? found.targetRange) }
    : { uri: found.uri.toString(), range: range(found.range) };
}

/** In the order of the text, which VS Code does not keep, and turned round. */
function lastFirst(symbols: readonly vscode.DocumentSymbol[]): vscode.DocumentSymbol[] {
  return symbols.toSorted((a, b) => b.range.start.line - a.range.start.line || b.range.start.character - a.range.start.character);
}

function markdown(content: string | { value: string; language?: string }): string {
  if (typeof content === 'string') return content;
  return content.language === undefined ? content.value : `\`\`\`${content.language}\n${content.value}\n\`\`\``;
}

function item(found: vscode.CallHierarchyItem | vscode.TypeHierarchyItem): LangSymbol {
  return {
    name: found.name,
    kind: found.kind + 1,
    ...some('detail', found.detail),
    depth: 0,
    location: { uri: found.uri.toString(), range: range(found.range) },
    selection: range(found.selectionRange),
  };
}

function calls(found: readonly { of: vscode.CallHierarchyItem; fromRanges: readonly vscode.Range[] }[]): Told {
  const all = found.slice(0, MOST.calls).map(({ of, fromRanges }): LangCall => ({ symbol: item(of), ranges: fromRanges.map(range) }));
  return { answer: { type: 'calls', calls: all }, cut: found.length > MOST.calls };
}

function ofAction({ kind, isPreferred, disabled }: vscode.CodeAction): Omit<LangAction, 'title'> {
  return { ...some('kind', kind?.value), ...(isPreferred === true ? { preferred: true } : {}), ...some('disabled', disabled?.reason) };
}

const severities: readonly LangSeverity[] = ['error', 'warning', 'information', 'hint'];

function problem({ range: where, severity, message, source, code }: vscode.Diagnostic): LangDiagnostic {
  const plain = typeof code === 'object' ? code.value : code;
  return {
    range: range(where),
    severity: severities[severity] ?? 'error',
    message,
    ...some('source', source),
    ...some('code', plain === undefined ? undefined : String(plain)),
  };
}

function textEdit({ range: where, newText }: vscode.TextEdit): LangTextEdit {
  return { range: range(where), newText };
}

function isText(entry: unknown): entry is { uri: vscode.Uri; edit: vscode.TextEdit } {
  const { uri, edit } = entry as { uri?: unknown; edit?: { range?: unknown; newText?: unknown } };
  return uri !== undefined && typeof edit?.newText === 'string' && edit.range !== undefined;
}

function isOfFile(entry: unknown): entry is { from?: vscode.Uri; to?: vscode.Uri } {
  const { uri, edit, from, to } = entry as Record<string, unknown>;
  return uri === undefined && edit === undefined && (from !== undefined || to !== undefined);
}

/** A property, if there is something to say. */
function some<K extends string>(name: K, value: string | undefined): { [k in K]?: string } {
  return value === undefined || value === '' ? {} : { [name]: value } as { [k in K]: string };
}
