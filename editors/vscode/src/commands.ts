// The commands, one by one. What goes wrong in any is told to the user.

import * as vscode from 'vscode';
import { showAccounts, signIn } from './accounts/accounts';
import { file, selection } from './chat/attachments';
import type { FactsKeeper } from './chat/facts';
import { answerKey, promptKey } from './chat/keys';
import type { ChatView } from './chat/view';
import type { CostsReport } from './costs/report';
import type { Decision, Hunk, HunkId, Mode, Proposal, ProposalId, SearchHit, SessionId, TerminalId } from './generated/protocol';
import type { Inline } from './inline/inline';
import type { NextEdits } from './inline/next';
import type { CountsReport } from './inline/report';
import { pickPause, toggle, type Switches } from './inline/switches';
import { showMenu, showWhy } from './inline/why';
import type { Instruct } from './instruct/instruct';
import { showLanguageServers } from './lang/servers';
import { isIn } from './review/address';
import type { Diffs } from './review/diffs';
import { place } from './review/layout';
import { kindOf, type Kind, type Review } from './review/review';
import type { Threads } from './review/threads';
import type { Item } from './review/tree';
import type { Keys } from './server/keys';
import { messageOf, type Request } from './server/requests';
import type { Server } from './server/server';
import type { Follow } from './session/follow';
import { fillIn } from './session/form';
import { copyLastAnswer, exportSession } from './session/keep';
import { showPermissions } from './session/permissions';
import { chooseMode, pickAcceptEdits, pickMode, pickSession, pickThinking, remove, rename } from './session/pickers';
import { NextModel, pickModel } from './session/modelPicker';
import { pickPrompt, searchSessions } from './session/search';
import type { Session } from './session/session';
import { restore } from './session/undo';
import { showJobs } from './terminal/jobs';
import type { GivenTerminal, Terminals } from './terminal/terminals';
import { iconless, unlinked, visible } from './text';

/** All that a command may need. */
export interface Parts {
  server: Server;
  request: Request;
  session: Session;
  keys: Keys;
  chat: ChatView;
  review: Review;
  diffs: Diffs;
  threads: Threads;
  terminals: Terminals;
  follow: Follow;
  inline: Inline;
  edits: NextEdits;
  instruct: Instruct;
  switches: Switches;
  counts: CountsReport;
  costs: CostsReport;
  facts: FactsKeeper;
  output: vscode.LogOutputChannel;
}

/** The argument of a review command: an item of the tree, what a lens says, a comment thread, a URI, or nothing. */
type Given = Item | { proposalId: ProposalId; hunkId?: HunkId } | vscode.CommentThread | vscode.CommentReply | vscode.Uri | undefined;

export function registerCommands(parts: Parts): vscode.Disposable {
  const { server, request, session, keys, chat, review, diffs, terminals, follow, inline, edits, instruct, switches, counts, costs, facts, output } = parts;
  const accounts = { request, keys, restart: () => server.restart(), refresh: () => facts.refresh() };
  const next = new NextModel(session, request, server.onModels);
  const commands: Record<string, (...given: never[]) => unknown> = {
    'azimuth.chat.open': () => chat.focus(),
    'azimuth.chat.addSelection': () => addSelection(chat),
    'azimuth.chat.addFile': (uri?: vscode.Uri, uris?: vscode.Uri[]) => addFiles(chat, uri, uris),
    'azimuth.ask': (text?: string) => ask(session, chat, text),
    'azimuth.answer': () => answer(session, instruct),
    'azimuth.answer.option': (option: number) => chat.tell({ type: 'answerOption', option }),
    'azimuth.continue': () => session.prompt([]),
    'azimuth.cancel': () => session.cancel(),
    'azimuth.retry': () => session.retry(),

    'azimuth.session.new': () => session.make().then(() => chat.focus()),
    'azimuth.session.open': () => pickSession(session),
    'azimuth.session.search': () => searchSessions(session, request, (hit) => reveal(chat, hit)),
    'azimuth.prompt.history': async () => {
      const text = await pickPrompt(request);
      if (text !== undefined) await chat.add({ text, attachments: [] });
    },
    'azimuth.session.export': () => exportSession(session, request),
    'azimuth.answer.copy': () => copyLastAnswer(session),
    'azimuth.session.rename': () => withSession(session, (current) => rename(session, current)),
    'azimuth.session.delete': () => withSession(session, (current) => remove(session, current)),
    'azimuth.model.select': () => pickModel(session, request, server.onModels),
    'azimuth.model.next': () => next.take(),
    'azimuth.thinking.select': () => pickThinking(session, request),
    'azimuth.thinking.next': () => pickThinking(session, request, true),
    'azimuth.mode.select': async (mode?: Mode) => {
      const chosen = mode ?? (await pickMode(session.mode));
      if (chosen !== undefined) await chooseMode(session, chosen);
    },
    'azimuth.permissions.show': () => showPermissions(session, request),
    'azimuth.acceptEdits.select': () => pickAcceptEdits(session),
    'azimuth.turn.undo': () => restore('undo', {}, session, request),
    'azimuth.turn.redo': () => restore('redo', {}, session, request),

    'azimuth.review.open': (given?: Given) => openReview(parts, given),
    'azimuth.review.next': () => diffs.go('next'),
    'azimuth.review.previous': () => diffs.go('previous'),
    'azimuth.hunk.accept': (given?: Given) => decideHunk(parts, 'accept', 'proposed', given),
    'azimuth.hunk.reject': (given?: Given) => decideHunk(parts, 'reject', 'proposed', given),
    'azimuth.hunk.comment': (given?: Given) => commentOnHunk(parts, given),
    'azimuth.file.accept': (given?: Given) => decideFile(parts, 'accept', 'proposed', given),
    'azimuth.file.reject': (given?: Given) => decideFile(parts, 'reject', 'proposed', given),
    'azimuth.all.accept': () => decideAll(review, 'accept', review.pending),
    'azimuth.all.reject': () => decideAll(review, 'reject', review.pending),
    // A change that a command has made is decided in the same way, and said in other words; neither means the other.
    'azimuth.hunk.keep': (given?: Given) => decideHunk(parts, 'accept', 'landed', given),
    'azimuth.hunk.takeBack': (given?: Given) => decideHunk(parts, 'reject', 'landed', given),
    'azimuth.file.keep': (given?: Given) => decideFile(parts, 'accept', 'landed', given),
    'azimuth.file.takeBack': (given?: Given) => decideFile(parts, 'reject', 'landed', given),
    'azimuth.all.keep': () => decideAll(review, 'accept', review.landed),
    'azimuth.all.takeBack': () => decideAll(review, 'reject', review.landed),

    'azimuth.terminal.show': (terminalId?: TerminalId) => terminals.show(terminalId),
    'azimuth.terminal.take': (given?: GivenTerminal) => terminals.take(true, given),
    'azimuth.terminal.handBack': (given?: GivenTerminal) => terminals.take(false, given),
    'azimuth.terminal.signal': (given?: GivenTerminal) => terminals.signal(given),
    'azimuth.terminal.kill': (given?: GivenTerminal) => terminals.kill(given),
    'azimuth.jobs.show': () => showJobs(session, terminals),

    'azimuth.instruct': () => instruct.changeSelection(),
    'azimuth.instruct.file': () => instruct.changeFile(),
    'azimuth.instruct.refine': (sessionId?: SessionId) => instruct.refine(sessionId),
    'azimuth.instruct.cancel': () => instruct.cancel(),
    'azimuth.instruct.chat': (sessionId?: SessionId) => instruct.handOver(sessionId),

    'azimuth.follow.toggle': () => follow.toggle(),
    'azimuth.inline.show': () => showMenu(parts),
    'azimuth.inline.explain': () => showWhy(parts),
    'azimuth.inline.counts': () => counts.show(),
    'azimuth.inline.trigger': () => server.start().then(() => inline.invoke()),
    'azimuth.inline.toggle': () => toggle(switches, false),
    'azimuth.inline.toggleLanguage': () => toggle(switches, true),
    'azimuth.inline.pause': (count?: number) => pickPause(switches, count),
    'azimuth.inline.resume': () => switches.pauseFor(0),
    'azimuth.inline.reject': () => inline.reject(),
    'azimuth.nextEdit.trigger': () => server.start().then(() => edits.invoke()),
    'azimuth.nextEdit.go': () => edits.go(),
    'azimuth.nextEdit.jump': () => edits.jump(),
    'azimuth.nextEdit.next': () => edits.next(),
    'azimuth.nextEdit.show': (hunkId?: string) => edits.read(hunkId),
    'azimuth.nextEdit.accept': (hunkId?: string) => edits.accept(hunkId),
    'azimuth.nextEdit.acceptAll': () => edits.acceptAll(),
    'azimuth.nextEdit.reject': (hunkId?: string) => edits.reject(hunkId),
    'azimuth.nextEdit.rejectAll': (by?: unknown) => edits.rejectAll(by === 'escape'),
    'azimuth.languageServers.show': () => showLanguageServers(server, request),

    'azimuth.accounts.show': () => showAccounts(accounts),
    'azimuth.accounts.signIn': () => signIn(accounts),
    'azimuth.costs.show': () => costs.show(),
    'azimuth.key.set': async () => ((await keys.set()) ? server.restart() : undefined),
    'azimuth.key.remove': async () => ((await keys.remove()) ? server.restart() : undefined),
    'azimuth.walkthrough.open': () => vscode.commands.executeCommand('workbench.action.openWalkthrough', 'azimuth.azimuth#start'),
    'azimuth.server.restart': () => server.restart(),
    'azimuth.log.show': () => server.openLog(),
    'azimuth.output.show': () => output.show(),
  };
  const registered = Object.entries(commands).map(([id, run]) => vscode.commands.registerCommand(id, async (...given: never[]) => {
    if (!serverless.has(id)) server.use();
    try {
      await run(...given);
    } catch (error) {
      output.warn(`${id}: ${messageOf(error)}`);
      void vscode.window.showErrorMessage(unlinked(`Azimuth: ${messageOf(error)}`));
    }
  }));
  return vscode.Disposable.from(...registered);
}

/** The commands that need no server, so none starts for them. */
const serverless: ReadonlySet<string> = new Set([
  ...['toggle', 'toggleLanguage', 'pause', 'resume', 'reject'].map((name) => `azimuth.inline.${name}`),
  ...['go', 'jump', 'next', 'show', 'accept', 'acceptAll', 'reject', 'rejectAll'].map((name) => `azimuth.nextEdit.${name}`),
]);

async function addSelection(chat: ChatView): Promise<void> {
  const selected = selection();
  if (selected !== undefined) return chat.attach([selected]);
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) throw new Error('No editor is active, so nothing is selected.');
  await chat.attach([file(editor.document.uri)]);
}

async function addFiles(chat: ChatView, uri?: vscode.Uri, uris?: vscode.Uri[]): Promise<void> {
  const active = vscode.window.activeTextEditor?.document.uri;
  const one = uri ?? active;
  const chosen = uris ?? (one === undefined ? [] : [one]);
  const files = chosen.filter(({ scheme }) => scheme === 'file');
  if (files.length === 0) throw new Error('No file is chosen. Choose one in the Explorer, or open one in an editor.');
  await chat.attach(files.map(file));
}

/** A prompt without the chat. While a turn runs, it waits for its end. */
async function ask(session: Session, chat: ChatView, text?: string): Promise<void> {
  const prompt = text ?? (await vscode.window.showInputBox({ title: 'Azimuth', prompt: 'What should be done?', ignoreFocusOut: true }));
  if (prompt === undefined || prompt.trim() === '') return;
  const blocks = [{ type: 'text' as const, text: prompt }];
  try {
    await session.give(blocks);
  } catch (error) {
    await chat.giveBack({ text: prompt, attachments: [] }, messageOf(error));
  }
}

/** Answers the question that has waited longest: in a change in place, since the user waits there, else in the chat. */
async function answer(session: Session, instruct: Instruct): Promise<void> {
  if (await instruct.answerFirst()) return;
  const [question] = session.state?.questions.values() ?? [];
  if (question === undefined) throw new Error('No question waits for an answer.');
  if (question.form != null) {
    const answers = await fillIn(question.form);
    const send = question.options.find(({ kind }) => kind === 'allow_once');
    if (answers !== undefined && send !== undefined) await session.answer(question.permissionId, send.optionId, undefined, answers);
    return;
  }
  const items = question.options.map(({ name, optionId }) => ({ label: iconless(name), optionId }));
  const picked = await vscode.window.showQuickPick(items, { title: visible(`Azimuth: ${question.title}`), placeHolder: visible(`${question.detail} (${question.reason})`), ignoreFocusOut: true });
  if (picked !== undefined) await session.answer(question.permissionId, picked.optionId);
}

/** Shows the chat where a hit stands in its session, which is open. */
async function reveal(chat: ChatView, { sessionId, kind, seq, messageId }: SearchHit): Promise<void> {
  if (kind === 'prompt' && seq !== undefined) return chat.reveal(sessionId, promptKey(seq));
  if (kind === 'answer' && messageId !== undefined) return chat.reveal(sessionId, answerKey(messageId));
  await chat.focus();
}

async function withSession(session: Session, work: (current: { sessionId: string; title: string }) => Promise<unknown>): Promise<void> {
  if (session.id === undefined || session.state === undefined) throw new Error('No session is open.');
  await work({ sessionId: session.id, title: session.state.title });
}

async function openReview({ review, diffs, threads }: Parts, given: Given): Promise<void> {
  const meant = resolve(review, threads, given);
  const proposal = meant?.proposal ?? review.open[0];
  if (proposal === undefined) throw new Error('No hunk waits for a decision.');
  await diffs.open(proposal, meant?.hunk?.hunkId);
}

async function decideHunk({ review, threads }: Parts, decision: Decision, kind: Kind, given: Given): Promise<void> {
  const { proposal, hunk } = resolveHunk(review, threads, given, kind);
  await review.decideHunks(decision, proposal, [hunk], wordOf(given));
}

/** Says something of a hunk without deciding it: what stands in its thread, else what an input box is told. */
async function commentOnHunk({ review, threads }: Parts, given: Given): Promise<void> {
  const { proposal, hunk } = resolveHunk(review, threads, given);
  const text = wordOf(given) ?? (await vscode.window.showInputBox({
    title: `Azimuth: Comment on Hunk in ${visible(proposal.path)}`,
    prompt: 'Your comment for the model. It does not decide the hunk.',
    ignoreFocusOut: true,
  }));
  if (text === undefined || text.trim() === '') return;
  await review.comment(proposal, hunk, text);
}

async function decideFile({ review, threads }: Parts, decision: Decision, kind: Kind, given: Given): Promise<void> {
  const meant = resolve(review, threads, given, kind);
  if (meant === undefined) throw new Error(`The file in the editor has no hunk ${undecided[kind]}.`);
  await review.decideFile(decision, meant.proposal);
}

async function decideAll(review: Review, decision: Decision, proposals: readonly Proposal[]): Promise<void> {
  if (proposals.length === 0) throw new Error('No hunk waits for a decision.');
  await review.decideAll(decision, proposals);
}

/** Returns what was written in the thread that a command was given. */
function wordOf(given: Given): string | undefined {
  return given !== undefined && 'text' in given ? given.text : undefined;
}

const undecided: Record<Kind, string> = {
  proposed: 'that waits for a decision. For what commands changed, use "Keep" and "Take Back"',
  landed: 'from a command to keep or take back. For proposed hunks, use "Accept" and "Reject"',
};

/** As `resolve`, where a command is about one hunk. */
function resolveHunk(review: Review, threads: Threads, given: Given, kind?: Kind): { proposal: Proposal; hunk: Hunk } {
  if (given === undefined || given instanceof vscode.Uri) {
    const editor = editorOf(given);
    const here = review.at(editor, kind)?.here;
    if (editor === undefined || here === undefined) throw new Error(`The cursor is at no hunk ${kind === undefined ? 'that is not decided' : undecided[kind]}. "Azimuth: Next Hunk" goes to the next one.`);
    review.checkPlace(editor, here);
    return here;
  }
  const meant = resolve(review, threads, given, kind);
  if (meant?.hunk === undefined) throw new Error('That hunk no longer exists.');
  return { proposal: meant.proposal, hunk: meant.hunk };
}

/** The proposal, of this kind or of any, and the hunk that a command was given, with the revision that was shown; without any, those at the cursor. */
function resolve(review: Review, threads: Threads, given: Given, kind?: Kind): { proposal: Proposal; hunk?: Hunk } | undefined {
  if (given === undefined || given instanceof vscode.Uri) {
    const at = review.at(editorOf(given), kind);
    return at && { proposal: at.proposal, ...(at.here === undefined ? {} : { hunk: at.here.hunk }) };
  }
  const meant = named(review, threads, given);
  return meant === undefined || (kind !== undefined && kindOf(meant.proposal) !== kind) ? undefined : meant;
}

function named(review: Review, threads: Threads, given: Exclude<Given, undefined | vscode.Uri>): { proposal: Proposal; hunk?: Hunk } | undefined {
  if ('proposal' in given) return given;
  if ('proposalId' in given) {
    const proposal = review.proposal(given.proposalId);
    const placed = proposal && place(proposal).find(({ hunk }) => hunk.hunkId === given.hunkId);
    return proposal && { proposal, ...(placed === undefined ? {} : { hunk: placed.hunk }) };
  }
  const shown = threads.find('thread' in given ? given.thread : given);
  return shown && { proposal: shown.proposal, hunk: shown.placed.hunk };
}

/** A button in an editor's title bar gives the document there: of a diff the right one, wherever its cursor is. */
function editorOf(uri: vscode.Uri | undefined): vscode.TextEditor | undefined {
  const active = vscode.window.activeTextEditor;
  const { activeTab } = vscode.window.tabGroups.activeTabGroup;
  if (uri === undefined || (active !== undefined && isIn(activeTab, uri) && isIn(activeTab, active.document.uri))) return active;
  return vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === uri.toString());
}
