// Who has reported problems of which text, as far as that can be told. Pure.
//
// VS Code says of which document problems were reported, and not by whom or for which text. A problem names its source, and a
// report puts other objects in the place of its own and leaves those of others: so it is seen whose they are. A report with
// nothing in it, of somebody who had nothing before, is nobody's that could be told.
//
// Newer versions tell of each report a second time: its window answers each with what stands there by others than this extension
// host, and `ExtHostDiagnostics` tells of that answer even where it is nothing. It looks like such a report of nothing, so one is not
// taken for that until all answers are known to have come.

import { isCalledAs } from './manifest';

/** The part of a problem that is needed. */
export interface Reported {
  readonly source?: string | undefined;
}

/** A language as reports are judged by it: its id, and what the extensions for it are called. */
export interface Judged {
  id: string;
  names: readonly string[];
}

/** Who has reported: surely one for the language; by all that is known one for it; none of these, or nobody. */
export type Reporter = 'known' | 'likely' | 'nobody';

/** The kind of a report: a change, one of nothing by whoever it was, or only the window's answer to another. */
export type Taken = 'change' | 'silence' | 'answer';

/** The source of our own problems. */
const OURS = 'azimuth';

interface Document {
  /** The problems that stand there now, by source. */
  problems: ReadonlyMap<string, ReadonlySet<Reported>>;
  /** Of so many reports the window may not have answered yet. */
  unanswered: number;
  /** When each source reported last. */
  by: Map<string, number>;
  /** When somebody reported last of whom nothing was there before or after. */
  silent: number;
  last: number;
  /** The problems that stood there when the document was closed last. That they go away later is no report. */
  stood: ReadonlySet<Reported>;
}

export class Reports {
  private readonly documents = new Map<string, Document>();
  /** The languages of the documents on which a source has reported. */
  private readonly languages = new Map<string, Set<string>>();

  /**
   * Somebody has reported on a document: these are all its problems now. What we say of it is no report. The language of one that is
   * not open is not known. After a change `answered` has to be called.
   */
  take(uri: string, languageId: string | undefined, problems: readonly Reported[], now: number): Taken {
    const document: Document = this.documents.get(uri) ?? { problems: new Map(), unanswered: 0, by: new Map(), silent: 0, last: 0, stood: new Set() };
    const before = document.problems;
    const after = bySource(problems);
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter((source) => !isSame(before.get(source), after.get(source)));
    if (changed.length === 0 && document.unanswered > 0) return 'answer';
    const isLeftover = (source: string): boolean => !after.has(source) && [...(before.get(source) ?? [])].every((problem) => document.stood.has(problem));
    for (const source of changed.filter((one) => one !== OURS && !isLeftover(one))) {
      document.by.set(source, now);
      if (languageId !== undefined) this.languages.set(source, (this.languages.get(source) ?? new Set()).add(languageId));
    }
    if (changed.length === 0) document.silent = now;
    if (changed.length > 0) document.unanswered += 1;
    document.last = now;
    document.problems = after;
    if (languageId === undefined && after.size === 0 && document.unanswered === 0) this.documents.delete(uri);
    else this.documents.set(uri, document);
    return changed.length > 0 ? 'change' : 'silence';
  }

  /** The answer of the window to a report on a document has been told, if there was one. */
  answered(uri: string, isOpen: boolean): void {
    const document = this.documents.get(uri);
    if (document === undefined) return;
    document.unanswered -= 1;
    if (!isOpen && document.problems.size === 0 && document.unanswered === 0) this.documents.delete(uri);
  }

  /**
   * A document was closed. Its problems may stand on: they are no new report when it is opened again and somebody else reports on it,
   * nor is it one when they are cleared, which comes late if it is opened at once in another language.
   */
  closed(uri: string): void {
    const document = this.documents.get(uri);
    if (document === undefined) return;
    if (document.problems.size === 0 && document.unanswered === 0) this.documents.delete(uri);
    else document.stood = new Set([...document.problems.values()].flatMap((of) => [...of]));
  }

  /** When somebody, whoever it was, reported last on a document; 0 where nobody has. */
  last(uri: string): number {
    return this.documents.get(uri)?.last ?? 0;
  }

  /** Who has reported on a document after a time. */
  since(uri: string, language: Judged, time: number): Reporter {
    const document = this.documents.get(uri);
    if (document === undefined) return 'nobody';
    const heard = [...document.by].filter(([, at]) => at > time).map(([source]) => source);
    if (heard.some((source) => this.isKnown(source, language))) return 'known';
    if (heard.some((source) => !this.isForOthers(source, language))) return 'likely';
    // One for any language that has nothing here may be who said nothing.
    const couldBeOther = [...this.languages.keys()].some((source) => this.isForOthers(source, language) && !document.problems.has(source));
    return document.silent > time && !couldBeOther ? 'likely' : 'nobody';
  }

  /** The sources that have reported on documents of a language. */
  sourcesOf(languageId: string): string[] {
    return [...this.languages].filter(([, of]) => of.has(languageId)).map(([source]) => source);
  }

  private isKnown(source: string, { id, names }: Judged): boolean {
    return isCalledAs(source, [id, ...names]);
  }

  /** True if a source looks at documents of other languages, too, and is not called like something for this: a spell checker. */
  private isForOthers(source: string, language: Judged): boolean {
    const seen = this.languages.get(source) ?? new Set();
    return !this.isKnown(source, language) && [...seen].some((id) => id !== language.id);
  }
}

function bySource(problems: readonly Reported[]): Map<string, Set<Reported>> {
  const found = new Map<string, Set<Reported>>();
  for (const problem of problems) {
    const source = problem.source ?? '';
    found.set(source, (found.get(source) ?? new Set()).add(problem));
  }
  return found;
}

function isSame(one: ReadonlySet<Reported> | undefined, other: ReadonlySet<Reported> | undefined): boolean {
  return one?.size === other?.size && [...(one ?? [])].every((problem) => other?.has(problem) === true);
}
