// `azimuth/editor/query`: questions about code, answered by the language servers that the user's extensions run.
//
// VS Code has commands that ask all providers of a document. They do not say who answered, nor whether there is anybody:
// where nobody is, where nothing was found, and where somebody still starts, they look alike. What can be known of that is
// found out here, so that "there is none" is said only where somebody has looked.

import * as vscode from 'vscode';
import type { ClientRequests, LangQuery, LangStatus } from '../generated/protocol';
import { isShown, type Held } from '../server/held';
import { messageOf } from '../server/requests';
import { ask, type Question, type Said } from './ask';
import { isEmpty, problems } from './convert';
import { extensions, nameOf, Presence, type Present } from './presence';
import { Problems, type Settled } from './problems';
import type { Judged } from './reports';
import * as typescript from './typescript';

type Query = ClientRequests['azimuth/editor/query'];
type Result = Query['result'];

/** So long before the end of its time an answer is given, in milliseconds. */
const MARGIN_MS = 200;
/** So long those of open documents may take to start before the workspace is searched without them, in milliseconds. */
const START_MS = 2_000;

/** So long problems are waited for before others are asked, in milliseconds. */
const CONTEXT_MS = 2_000;

const UNTOLD = 'There is none, or the editor has nobody for this; it does not say which.';
const ONLY_WOKEN = 'Only the servers that open documents have woken were asked.';
const UNREPORTED = 'No extension for its language was seen to report on this text; what is known may be about another one.';
const DOUBTFUL = 'The text changed a moment ago, and VS Code does not tell whether these problems are of the text before; ask again in some seconds.';
const CHANGED = 'The text changed while its servers were asked, so the answer may be about the text before or after.';
const UNSEEN = 'No extension has reported on this document; most look only at those that are open in an editor.';

/** One for all servers of ours, one after the other. */
export class Languages implements vscode.Disposable {
  private readonly asked = new Map<string, number>();
  private readonly problems = new Problems();
  private readonly presence = new Presence();

  constructor(private readonly held: Held) {}

  /** Answers a question, in its time whatever the servers do. It never fails: a result says its status. */
  async query({ query, timeoutMs }: Query['params'], token: vscode.CancellationToken): Promise<Result> {
    const until = Date.now() + timeoutMs - MARGIN_MS;
    let timer: NodeJS.Timeout | undefined;
    // The commands of VS Code cannot be cancelled. One that is late goes on, and nobody waits for it.
    const over = new Promise<Result>((resolve) => {
      const leave = (): void => resolve(late());
      timer = setTimeout(leave, Math.max(0, until + MARGIN_MS / 2 - Date.now()));
      token.onCancellationRequested(leave);
    });
    try {
      return await Promise.race([this.answer(query, until), over]);
    } catch (error) {
      return without('failed', messageOf(error));
    } finally {
      clearTimeout(timer);
    }
  }

  /** True while the code actions of this document are being asked for. Our own are not among them. */
  isAsking(uri: vscode.Uri): boolean {
    return this.asked.has(uri.toString());
  }

  dispose(): void {
    this.presence.dispose();
    this.problems.dispose();
  }

  private async answer(query: LangQuery, until: number): Promise<Result> {
    if (query.type === 'moveFile') return without('unsupported', 'VS Code tells no extension what would change with a file that moves.');
    const uri = uriOf(query);
    if (uri === undefined) return this.ofAll(query, until);
    // It need not be open. It is not shown, and VS Code closes it after some minutes.
    const document = await this.held.open(vscode.Uri.parse(uri));
    const fault = await this.held.fault(document, until) ?? misplaced(query, document);
    if (fault !== undefined) return without('failed', fault);
    const isHeld = this.held.isHeld(document);
    const { version } = document;
    const present = await this.presence.of(document, until);
    const result = await this.ofDocument(query, document, present, until);
    const told = { ...result, ...(isHeld ? {} : { version }), servers: present.servers };
    // The question is about the text as it was.
    return document.version === version || told.status !== 'ready' ? told : { ...told, status: 'partial', message: CHANGED };
  }

  /** Answers a question that names no document. */
  private async ofAll(query: LangQuery, until: number): Promise<Result> {
    switch (query.type) {
      case 'diagnostics': {
        const isSettled = await this.problems.allSettled(until);
        const told = problems(vscode.languages.getDiagnostics());
        // Documents that have not been opened were mostly not looked at.
        return { status: isSettled ? 'partial' : 'indexing', message: 'These are the problems that VS Code shows; most extensions look only at documents that are open.', answer: told.answer };
      }
      case 'workspaceSymbols': return this.ofWorkspace(query, until);
      case 'servers': {
        const servers = extensions().filter(({ isActive }) => isActive).map(nameOf);
        return { ...without(servers.length > 0 ? 'ready' : 'noServer'), servers };
      }
      default: return without('failed', 'The question names no document.');
    }
  }

  /** Symbols of the workspace, asked without a document: of those that run. What no open document has woken does not answer. */
  private async ofWorkspace(query: Question & { type: 'workspaceSymbols' }, until: number): Promise<Result> {
    const open = vscode.workspace.textDocuments.filter(({ uri }) => uri.scheme === 'file');
    const documents = [...new Map(open.map((document) => [document.languageId, document])).values()];
    const wait = Math.min(until, Date.now() + START_MS);
    const present = await Promise.all(documents.map((document) => this.presence.of(document, wait)));
    const who = present.filter(({ is }) => is === 'there' || is === 'new' || is === 'starting');
    const { answer } = await ask(query);
    const servers = [...new Map(who.flatMap((one) => one.servers).map((server) => [server.name, server])).values()];
    const told = (status: LangStatus, message: string): Result => ({ status, message, answer, servers });
    if (who.some(({ is }) => is !== 'there')) return told('indexing', 'Some of the servers have only just begun, and may still read the project.');
    if (!isEmpty(answer)) return told('partial', ONLY_WOKEN);
    return who.length === 0
      ? told('noServer', 'No document is open for which a server runs.')
      : told('unsupported', `${ONLY_WOKEN} ${UNTOLD}`);
  }

  private async ofDocument(query: Exclude<LangQuery, { type: 'moveFile' }>, document: vscode.TextDocument, present: Present, until: number): Promise<Result> {
    const names = present.servers.map(({ name }) => name).join(', ');
    switch (present.is) {
      case 'nobody': return without('noServer', `No extension is there for ${document.languageId}.`);
      case 'starting': return query.type === 'servers' ? without('ready') : without('indexing', `Nothing is known of this document yet; ${names} may still start.`);
      case 'silent':
      case 'new':
      case 'there': break;
    }
    if (query.type === 'servers') return without('ready');
    const result = query.type === 'diagnostics'
      ? await this.diagnostics(document, present, until)
      : await this.provided(query, document, present, until);
    return present.is === 'new' && result.status === 'ready'
      ? { ...result, status: 'indexing', message: result.message ?? 'Its server has only just begun, and may still read the project.' }
      : result;
  }

  private async diagnostics(document: vscode.TextDocument, { is }: Present, until: number): Promise<Result> {
    const known = (): readonly vscode.Diagnostic[] => vscode.languages.getDiagnostics(document.uri);
    // Where TypeScript is asked itself, only others, such as linters, are waited for.
    if (isShown(document) && this.problems.hasOthers(document.languageId, typescript.SOURCE)) await this.settled(document, soon(until));
    const version = this.held.isHeld(document) ? undefined : document.version;
    const pulled = await typescript.problems(document);
    if (pulled !== undefined) return resulting(problems([[document.uri, [...pulled, ...known().filter(({ source }) => source !== typescript.SOURCE)], version]]));
    const settled = await this.settled(document, until);
    // Of which version they are is not known: only time tells that they are of this one.
    const told = problems([[document.uri, known()]]);
    switch (settled) {
      case 'unsettled': return { status: 'indexing', message: 'A text was opened or changed just now; problems may still be looked for.', answer: told.answer };
      case 'unreported': return { status: 'unsupported', message: isShown(document) ? UNREPORTED : UNSEEN, answer: told.answer };
      case 'doubtful': return { status: 'partial', message: DOUBTFUL, answer: told.answer };
      // Who ends takes its problems along, which looks like a report.
      case 'reported': return isEmpty(told.answer) && is !== 'silent' && !(await this.presence.isThere(document)) ? gone() : resulting(told);
    }
  }

  private async provided(question: Question, document: vscode.TextDocument, { is }: Present, until: number): Promise<Result> {
    if (question.type === 'codeActions' || question.type === 'codeAction') {
      // Quick fixes are for the problems that VS Code knows. The user may type without a pause.
      await this.settled(document, soon(until));
      if (`${question.type === 'codeActions' ? question.kind ?? '' : ''}.`.startsWith('quickfix.') && this.isUnseen(document)) {
        return without('unsupported', 'There are quick fixes only for reported problems, and for most extensions the document has to be open in an editor for that.');
      }
    }
    const work = async (): Promise<Result> => {
      const said = await ask(question, () => this.held.stands());
      if (!isEmpty(said.answer)) this.presence.note(question.type, document);
      return said.status !== undefined || said.isSure === true || !isEmpty(said.answer) ? resulting(said) : this.nothing(question, document, said, is);
    };
    const isOfActions = question.type === 'codeActions' || question.type === 'codeAction';
    try {
      const inTime = (): Promise<Result | undefined> => Promise.race([work(), sleep(until - Date.now())]);
      return await (isOfActions ? this.apart(document.uri, inTime) : inTime()) ?? late();
    } catch (error) {
      return without('failed', messageOf(error));
    }
  }

  /** Says what an answer with nothing in it is worth. */
  private async nothing(question: Question, document: vscode.TextDocument, said: Said, is: Present['is']): Promise<Result> {
    if (is === 'silent') return { ...resulting(said), status: 'unsupported', message: 'The extensions for its language say nothing of this document.' };
    switch (await this.presence.proof(question, document)) {
      case 'nothing': return resulting(said);
      case 'gone': return gone();
      // Of one that has only just begun it may be told later.
      case 'untold': return { ...resulting(said), status: is === 'new' ? 'indexing' : 'unsupported', message: UNTOLD };
    }
  }

  /** True if perhaps nobody has looked for problems. */
  private isUnseen(document: vscode.TextDocument): boolean {
    return !isShown(document) && !this.problems.isCurrent(document, judged(document)) && vscode.languages.getDiagnostics(document.uri).length === 0;
  }

  private settled(document: vscode.TextDocument, until: number): Promise<Settled> {
    return this.problems.settled(document, judged(document), this.presence.awake(document), until);
  }

  /** Does this while our own code actions are kept from those that are asked for. */
  private async apart<T>(uri: vscode.Uri, work: () => Promise<T>): Promise<T> {
    const key = uri.toString();
    this.asked.set(key, (this.asked.get(key) ?? 0) + 1);
    try {
      return await work();
    } finally {
      const left = (this.asked.get(key) ?? 1) - 1;
      if (left > 0) this.asked.set(key, left);
      else this.asked.delete(key);
    }
  }
}

/** The language of a document, as reports are judged by it. */
function judged({ languageId }: vscode.TextDocument): Judged {
  const names = extensions(languageId).flatMap((extension) => [extension.id, nameOf(extension).name]);
  return { id: languageId, names: typescript.LANGUAGES.includes(languageId) ? [...names, typescript.SOURCE] : names };
}

function uriOf(query: LangQuery): string | undefined {
  return query.type === 'moveFile' ? query.from : query.uri;
}

/** Says what is wrong with the position that a question is about, if there is no such position. */
function misplaced(query: LangQuery, document: vscode.TextDocument): string | undefined {
  const places = 'position' in query ? [query.position] : 'range' in query ? [query.range.start, query.range.end] : [];
  const outside = places.find(({ line, character }) => {
    const place = new vscode.Position(line, character);
    return !document.validatePosition(place).isEqual(place);
  });
  return outside && `The document has no character ${outside.character} in line ${outside.line}, counted from 0.`;
}

function resulting({ answer, cut, status, message }: Said): Result {
  return { status: status ?? (cut ? 'partial' : 'ready'), ...(message === undefined ? {} : { message }), answer };
}

function without(status: LangStatus, message?: string): Result {
  return { status, ...(message === undefined ? {} : { message }), answer: { type: 'nothing' } };
}

function gone(): Result {
  return without('indexing', 'The extension that knew this document no longer answers for it; it has ended, or is restarting.');
}

function late(): Result {
  return without('timedOut', 'The servers of the editor did not answer in time.');
}

/** The end of what only comes before the question itself. */
function soon(until: number): number {
  return Math.min(until, Date.now() + CONTEXT_MS);
}

function sleep(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), ms));
}
