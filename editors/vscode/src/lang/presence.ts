// Who is there for a language, and whether they can be believed where they say that there is nothing.

import * as vscode from 'vscode';
import type { LangServer } from '../generated/protocol';
import { ask, hasLegend, symbolsOf, type Question } from './ask';
import { isEmpty, outline } from './convert';
import { named, serves } from './manifest';
import * as typescript from './typescript';

/** So long an extension may be silent about a language that it should know, in milliseconds. Then it counts as one that does not. */
const PATIENCE_MS = 8_000;
/** So long after its first word a server may still read the project, where it does not tell, in milliseconds. */
const YOUNG_MS = 10_000;
/** How often it is looked whether a silent one speaks, in milliseconds. */
const LOOK_MS = 200;
/** At so many symbols of a document it is tried whether anybody answers a question at all. */
const TRIES = 3;

const OURS = 'azimuth.azimuth';

/** Who is there for a document, and how far they are. */
export interface Present {
  servers: LangServer[];
  is: 'there' | 'new' | 'starting' | 'silent' | 'nobody';
}

/** The meaning of an answer with nothing in it: there is nothing; nobody says anything any more; or it cannot be told. */
export type Proof = 'nothing' | 'gone' | 'untold';

/** The facts of a language: when it was first looked for, since when it is spoken, and whether that had to be waited for. */
interface Language {
  looked: number;
  spoken?: number;
  isFresh: boolean;
  /** The questions that were answered with something: somebody is there for these. */
  answers: Set<Question['type']>;
}

export class Presence implements vscode.Disposable {
  private readonly languages = new Map<string, Language>();
  private readonly installed = vscode.extensions.onDidChange(() => this.languages.clear());

  /** Finds who is there for a document, and waits for those that start, for a time. */
  async of(document: vscode.TextDocument, until: number): Promise<Present> {
    const known = extensions(document.languageId);
    const servers = known.map(nameOf);
    const language = this.languages.get(document.languageId) ?? { looked: Date.now(), isFresh: known.some(({ isActive }) => !isActive), answers: new Set() };
    this.languages.set(document.languageId, language);
    // VS Code has begun to start them with the document.
    const started = Promise.allSettled(known.map((extension) => extension.activate()));
    await Promise.race([started, sleep(until - Date.now())]);
    while (language.spoken === undefined) {
      if (await isAlive(document, language)) {
        language.spoken = Date.now();
        break;
      }
      language.isFresh = true;
      if (servers.length === 0) return { servers, is: 'nobody' };
      else if (Date.now() - language.looked >= PATIENCE_MS) return { servers, is: 'silent' };
      else if (Date.now() + LOOK_MS >= until) return { servers, is: 'starting' };
      else await sleep(LOOK_MS);
    }
    const loading = await Promise.race([typescript.loading(document), sleep(until - Date.now())]);
    if (loading === undefined) return { servers, is: 'starting' };
    const isThere = loading === 'untold' ? isOld(language) : loading === 'loaded';
    return { servers, is: isThere ? 'there' : 'new' };
  }

  /** Since when somebody may look for the problems of a document, in milliseconds since 1970. */
  awake({ languageId }: vscode.TextDocument): number {
    const language = this.languages.get(languageId);
    return language === undefined || isOld(language) ? 0 : language.spoken ?? 0;
  }

  /** A question about a document was answered with something. */
  note(type: Question['type'], { languageId }: vscode.TextDocument): void {
    this.languages.get(languageId)?.answers.add(type);
  }

  /** Finds out what it says that a question about a document was answered with nothing. Each time anew: servers end. */
  async proof(question: Question, document: vscode.TextDocument): Promise<Proof> {
    if (await typescript.loading(document) === 'loaded') return 'nothing';
    const language = this.languages.get(document.languageId);
    if (language === undefined || !(await isAlive(document, language))) {
      this.languages.delete(document.languageId);
      return 'gone';
    }
    if (!language.answers.has(question.type) && await isAnswered(question, document)) language.answers.add(question.type);
    return language.answers.has(question.type) ? 'nothing' : 'untold';
  }

  /** As `proof`, where no question was asked: what VS Code holds of a document says nothing. */
  async isThere(document: vscode.TextDocument): Promise<boolean> {
    const language = this.languages.get(document.languageId);
    if (language !== undefined && await isAlive(document, language)) return true;
    this.languages.delete(document.languageId);
    return false;
  }

  dispose(): void {
    this.installed.dispose();
  }
}

/** The extensions with code for a language, or for any. */
export function extensions(language?: string): vscode.Extension<unknown>[] {
  return vscode.extensions.all.filter(({ id, packageJSON }) => id !== OURS && serves(packageJSON, language));
}

/** An extension as a server. */
export function nameOf({ id, packageJSON }: vscode.Extension<unknown>): LangServer {
  return named(id, packageJSON);
}

/** True if anything that VS Code runs says something of a document, or could: the nearest there is to "is a server there?". */
async function isAlive(document: vscode.TextDocument, { answers }: Language): Promise<boolean> {
  const [symbols, isRegistered] = await Promise.all([symbolsOf(document), hasLegend(document)]);
  if (symbols.length > 0) answers.add('documentSymbols');
  return symbols.length > 0 || isRegistered;
}

/** True if anybody answers such a question, where it has an answer: at a name that the document declares. */
async function isAnswered(question: Question, document: vscode.TextDocument): Promise<boolean> {
  const { answer } = outline(document.uri.toString(), await symbolsOf(document));
  for (const { name, selection } of answer.type === 'symbols' ? answer.symbols.slice(0, TRIES) : []) {
    const tried = instead(question, name, selection.start);
    if (tried === undefined) return false;
    const said = await ask(tried);
    if (said.status === undefined && !isEmpty(said.answer)) return true;
  }
  return false;
}

/** The same question about a name that the document declares, where that says something. */
function instead(question: Question, query: string, position: { line: number; character: number }): Question | undefined {
  switch (question.type) {
    case 'definition':
    case 'typeDefinition':
    case 'implementation':
    case 'references':
    case 'hover': return { ...question, position };
    case 'workspaceSymbols': return { ...question, query };
    default: return undefined;
  }
}

/** True if its server has had time to read the project. */
function isOld({ spoken = 0, isFresh }: Language): boolean {
  return !isFresh || Date.now() - spoken >= YOUNG_MS;
}

function sleep(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), ms));
}
