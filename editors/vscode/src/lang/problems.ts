// The problems that VS Code knows, and whether they are those of the texts as they are.

import * as vscode from 'vscode';
import { Reports, type Judged } from './reports';

/** Reports come in parts, syntax before types: so long after the last they are taken for all, in milliseconds. */
const QUIET_MS = 1_000;
/** Who reports at all has done so this long after the last change, in milliseconds. */
const SETTLED_MS = 4_000;
/** VS Code collects for 50 ms what it tells of reports. What it has heard of is told after this time, in milliseconds. */
const TOLD_MS = 100;
/** How often it is looked whether it is quiet, in milliseconds. */
const LOOK_MS = 50;

/**
 * How it stands with the problems of a text: told by one for its language; told by one so soon after a change that it may have
 * been of the text before; not told by any in their time; or it is too early.
 */
export type Settled = 'reported' | 'doubtful' | 'unreported' | 'unsettled';

/** Knows when texts changed and when, and as far as can be told by whom, their problems were reported. */
export class Problems implements vscode.Disposable {
  private readonly reports = new Reports();
  private readonly subscriptions: vscode.Disposable[];
  /** When each document was opened or changed last. Those that were there before are not among them. */
  private readonly changes = new Map<string, number>();
  private changed = Date.now();
  /** When a text that was open before changed last: what is reported of that may come after it. */
  private edited = 0;
  private reportedLast = 0;

  constructor() {
    this.subscriptions = [
      vscode.workspace.onDidOpenTextDocument((document) => this.change(document)),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => (contentChanges.length > 0 ? this.change(document, true) : undefined)),
      // Some look only at what stands in a tab, and begin then.
      vscode.window.tabGroups.onDidChangeTabs(({ opened }) => {
        if (opened.length > 0) this.changed = Date.now();
      }),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => {
        this.changes.delete(uri.toString());
        this.reports.closed(uri.toString());
      }),
      vscode.languages.onDidChangeDiagnostics(({ uris }) => {
        this.take(uris.map((uri) => [uri, vscode.languages.getDiagnostics(uri)]));
      }),
    ];
    // Problems that stand there already tell who reports on what.
    this.take(vscode.languages.getDiagnostics());
    this.reportedLast = 0;
  }

  /**
   * Waits until the problems of a document can be taken for those of its text as it is. `awake` is when somebody began to
   * look, in milliseconds since 1970.
   */
  async settled(document: vscode.TextDocument, language: Judged, awake: number, until: number): Promise<Settled> {
    const key = document.uri.toString();
    // A change in one text may be a problem in another.
    const since = (): number => Math.max(this.changed, awake);
    const isTold = (): boolean => this.reports.since(key, language, since()) === 'known';
    // A report does not say of which text it is. One that was on its way when the text changed looks like one of the new text.
    const isDoubtful = (now: number): boolean => now - this.edited < SETTLED_MS;
    const isQuiet = (now: number): boolean => (
      now - this.reports.last(key) >= QUIET_MS && (isTold() ? !isDoubtful(now) : now - since() >= SETTLED_MS));
    if (!(await quiet(isQuiet, until))) return isTold() && isDoubtful(Date.now()) ? 'doubtful' : 'unsettled';
    return this.isCurrent(document, language) ? 'reported' : 'unreported';
  }

  /** Waits until the problems of all documents can be taken for those of the texts as they are. False where that is not before `until`. */
  allSettled(until: number): Promise<boolean> {
    return quiet((now) => (this.reportedLast > this.changed ? now - this.reportedLast >= QUIET_MS : now - this.changed >= SETTLED_MS), until);
  }

  /** True if one for its language was seen to report on a document as it is, or on what it became since. */
  isCurrent({ uri, isClosed }: vscode.TextDocument, language: Judged): boolean {
    const key = uri.toString();
    return !isClosed && this.reports.since(key, language, this.changes.get(key) ?? 0) !== 'nobody';
  }

  /** True if any source but this one reports on documents of a language. */
  hasOthers(languageId: string, but: string): boolean {
    return this.reports.sourcesOf(languageId).some((source) => source !== but);
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private take(reported: readonly (readonly [vscode.Uri, readonly vscode.Diagnostic[]])[]): void {
    const now = Date.now();
    const changed: string[] = [];
    for (const [uri, problems] of reported) {
      const key = uri.toString();
      const taken = this.reports.take(key, documentOf(key)?.languageId, problems, now);
      if (taken !== 'answer') this.reportedLast = now;
      if (taken === 'change') changed.push(key);
    }
    if (changed.length === 0) return;
    void windowAnswered().then(() => {
      for (const key of changed) this.reports.answered(key, documentOf(key) !== undefined);
    });
  }

  private change({ uri }: vscode.TextDocument, isEdit = false): void {
    // Texts that VS Code writes itself, such as output, have no problems.
    if (uri.scheme !== 'file' && uri.scheme !== 'untitled') return;
    this.changed = Date.now();
    this.changes.set(uri.toString(), this.changed);
    if (isEdit) this.edited = this.changed;
  }
}

function documentOf(key: string): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find((one) => one.uri.toString() === key);
}

/** Waits until what VS Code's window says to what it was sent before has been told to those that listen. */
async function windowAnswered(): Promise<void> {
  // Messages keep their order. The window has begun to answer reports after the first, and has done so after the second.
  try {
    for (let time = 0; time < 2; time += 1) await vscode.commands.executeCommand('setContext', 'azimuth.answered', true);
  } catch {
    // The window is going away.
  }
  await new Promise((resolve) => setTimeout(resolve, TOLD_MS));
}

async function quiet(isQuiet: (now: number) => boolean, until: number): Promise<boolean> {
  for (;;) {
    const now = Date.now();
    if (isQuiet(now)) return true;
    if (now >= until) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
