// `azimuth/editor/query`: questions about code, answered by the language servers that the user's extensions run.
//
// VS Code has commands that ask all providers of a document. They do not say who answered, nor whether there is anybody:
// where nobody is, where nothing was found, and where somebody still starts, they look alike. What can be known of that is
// found out here, so that "there is none" is said only where somebody has looked.

import * as vscode from 'vscode';
import type { ClientRequests, LangQuery, LangServer, LangStatus } from '../generated/protocol';
import { messageOf } from '../server/requests';
import { ask, isAlive, type Question, type Said } from './ask';
import { isEmpty, problems } from './convert';
import { named, serves } from './manifest';
import { Problems } from './problems';
import * as typescript from './typescript';

type Query = ClientRequests['azimuth/editor/query'];
type Result = Query['result'];

/** So long an extension may be silent about a language that it should know, in milliseconds. Then it counts as one that does not. */
const PATIENCE_MS = 8_000;
/** So long after its first word a server may still read the project, where it does not tell, in milliseconds. */
const YOUNG_MS = 10_000;
/** How often it is looked whether a silent one speaks, in milliseconds. */
const LOOK_MS = 200;
/** So long before the end of its time an answer is given, in milliseconds. */
const MARGIN_MS = 200;

const OURS = 'azimuth.azimuth';

/** What is known of a language: when it was looked first, since when somebody speaks it, and whether that had to be waited for. */
interface Language {
  looked: number;
  spoken?: number;
  isFresh: boolean;
}

/** Who is there for a document, and how far they are. */
interface Present {
  servers: LangServer[];
  is: 'there' | 'new' | 'starting' | 'silent' | 'nobody';
}

/** One for all servers of ours, one after the other. */
export class Languages implements vscode.Disposable {
  private readonly asked = new Map<string, number>();
  private readonly problems = new Problems();
  private readonly languages = new Map<string, Language>();
  private readonly installed = vscode.extensions.onDidChange(() => this.languages.clear());

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

  /** Whether the providers of this document are being asked. Our own say nothing meanwhile. */
  isAsking(uri: vscode.Uri): boolean {
    return this.asked.has(uri.toString());
  }

  dispose(): void {
    this.installed.dispose();
    this.problems.dispose();
  }

  private async answer(query: LangQuery, until: number): Promise<Result> {
    if (query.type === 'moveFile') return without('unsupported', 'VS Code tells no extension what would change with a file that moves.');
    const uri = uriOf(query);
    if (uri === undefined) return this.ofAll(query, until);
    // It need not be open. It is not shown, and VS Code closes it after some minutes.
    const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
    const fault = misplaced(query, document);
    if (fault !== undefined) return without('failed', fault);
    const present = await this.present(document, until);
    const result = await this.ofDocument(query, document, present, until);
    return { version: document.version, ...result, servers: present.servers };
  }

  /** What can be answered without a document. */
  private async ofAll(query: LangQuery, until: number): Promise<Result> {
    switch (query.type) {
      case 'diagnostics': {
        const isSettled = await this.problems.settled(undefined, 0, until);
        const told = problems(vscode.languages.getDiagnostics());
        // What has not been opened was mostly not looked at.
        return { status: isSettled ? 'partial' : 'indexing', message: 'These are the problems that VS Code shows; most extensions look only at documents that are open.', answer: told.answer };
      }
      case 'workspaceSymbols': return resulting(await ask(query));
      case 'servers': {
        const servers = extensions().filter(({ isActive }) => isActive).map(nameOf);
        return { ...without(servers.length > 0 ? 'ready' : 'noServer'), servers };
      }
      default: return without('failed', 'The question names no document.');
    }
  }

  private async ofDocument(query: Exclude<LangQuery, { type: 'moveFile' }>, document: vscode.TextDocument, { is, servers }: Present, until: number): Promise<Result> {
    const names = servers.map(({ name }) => name).join(', ');
    if (is === 'nobody') return without('noServer', `No extension is there for ${document.languageId}.`);
    if (query.type === 'servers') return without('ready');
    if (is === 'starting') return without('indexing', `Nothing is known of this document yet; ${names} may still start.`);
    const result = query.type === 'diagnostics'
      ? await this.diagnostics(document, until)
      : await this.provided(query, document, until);
    if (is === 'silent' && isEmpty(result.answer)) return without('unsupported', `${names} says nothing of this document.`);
    return is === 'new' && result.status === 'ready'
      ? { ...result, status: 'indexing', message: result.message ?? 'Its server has only just begun, and may still read the project.' }
      : result;
  }

  private async diagnostics(document: vscode.TextDocument, until: number): Promise<Result> {
    if (!isInTab(document)) {
      const pulled = await typescript.problems(document);
      if (pulled !== undefined) return resulting(problems([[document.uri, pulled, document.version]]));
    }
    const isSettled = await this.settled(document, until);
    if (isSettled && this.isUnseen(document)) return without('unsupported', 'No extension has reported on this document; most look only at those that are open in an editor.');
    const current = this.problems.isCurrent(document.uri) ? document.version : undefined;
    const told = problems([[document.uri, vscode.languages.getDiagnostics(document.uri), current]]);
    return isSettled
      ? resulting(told)
      : { status: 'indexing', message: 'A text was opened or changed just now; problems may still be looked for.', answer: told.answer };
  }

  private async provided(question: Question, document: vscode.TextDocument, until: number): Promise<Result> {
    if (question.type === 'codeActions' || question.type === 'codeAction') {
      // Quick fixes are for the problems that VS Code knows.
      await this.settled(document, until);
      if (`${question.type === 'codeActions' ? question.kind ?? '' : ''}.`.startsWith('quickfix.') && this.isUnseen(document)) {
        return without('unsupported', 'There are quick fixes only for reported problems, and for most extensions the document has to be open in an editor for that.');
      }
    }
    // Whoever types meanwhile makes another version; then this one tells that the answer is old.
    const { version } = document;
    try {
      const said = await this.apart(document.uri, until, () => ask(question));
      return { ...(said === undefined ? late() : resulting(said)), version };
    } catch (error) {
      return without('failed', messageOf(error));
    }
  }

  /** Whether nobody may have looked for problems. */
  private isUnseen(document: vscode.TextDocument): boolean {
    return !isInTab(document) && !this.problems.isKnown(document.uri) && vscode.languages.getDiagnostics(document.uri).length === 0;
  }

  private settled(document: vscode.TextDocument, until: number): Promise<boolean> {
    const language = this.languages.get(document.languageId);
    return this.problems.settled(document.uri, language === undefined || isOld(language) ? 0 : language.spoken ?? 0, until);
  }

  /** Finds who is there for a document, and waits for those that start, for a time. */
  private async present(document: vscode.TextDocument, until: number): Promise<Present> {
    const known = extensions(document.languageId);
    const servers = known.map(nameOf);
    const language = this.languages.get(document.languageId) ?? { looked: Date.now(), isFresh: known.some(({ isActive }) => !isActive) };
    this.languages.set(document.languageId, language);
    // VS Code has begun to start them with the document.
    const started = Promise.allSettled(known.map((extension) => extension.activate()));
    await Promise.race([started, sleep(until - Date.now())]);
    while (language.spoken === undefined) {
      if (await isAlive(document)) {
        language.spoken = Date.now();
        break;
      }
      language.isFresh = true;
      if (servers.length === 0) return { servers, is: 'nobody' };
      else if (Date.now() - language.looked >= PATIENCE_MS) return { servers, is: 'silent' };
      else if (Date.now() + LOOK_MS >= until) return { servers, is: 'starting' };
      else await sleep(LOOK_MS);
    }
    const isWhole = await Promise.race([typescript.isLoaded(document), sleep(until - Date.now())]);
    if (isWhole === undefined) return { servers, is: 'starting' };
    return { servers, is: isWhole || isOld(language) ? 'there' : 'new' };
  }

  /** Does this while our own providers say nothing of a document. Undefined where it takes too long. */
  private async apart<T>(uri: vscode.Uri, until: number, work: () => Promise<T>): Promise<T | undefined> {
    const key = uri.toString();
    this.asked.set(key, (this.asked.get(key) ?? 0) + 1);
    try {
      return await Promise.race([work(), sleep(until - Date.now())]);
    } finally {
      const left = (this.asked.get(key) ?? 1) - 1;
      if (left > 0) this.asked.set(key, left);
      else this.asked.delete(key);
    }
  }
}

/** The extensions with code for a language, or for any. */
function extensions(language?: string): vscode.Extension<unknown>[] {
  return vscode.extensions.all.filter(({ id, packageJSON }) => id !== OURS && serves(packageJSON, language));
}

function nameOf({ id, packageJSON }: vscode.Extension<unknown>): LangServer {
  return named(id, packageJSON);
}

/** Whether its server has had time to read the project. */
function isOld({ spoken = 0, isFresh }: Language): boolean {
  return !isFresh || Date.now() - spoken >= YOUNG_MS;
}

/** Whether an editor has it, in front or not. */
function isInTab({ uri }: vscode.TextDocument): boolean {
  const inputs = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ input }) => input));
  return inputs.some((input) => (
    input instanceof vscode.TabInputText ? [input.uri] : input instanceof vscode.TabInputTextDiff ? [input.original, input.modified] : []
  ).some((shown) => shown.toString() === uri.toString()));
}

function uriOf(query: LangQuery): string | undefined {
  return query.type === 'moveFile' ? query.from : query.uri;
}

/** What is wrong with the place that a question is about, if there is no such place. */
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

function late(): Result {
  return without('timedOut', 'The servers of the editor did not answer in time.');
}

function sleep(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), ms));
}
