// The intents of the chat, carried out.

import * as vscode from 'vscode';
import type { SessionId } from '../generated/protocol';
import type { Held } from '../server/held';
import { messageOf, type Request } from '../server/requests';
import type { Review } from '../review/review';
import type { Session } from '../session/session';
import { restore } from '../session/undo';
import type { Terminals } from '../terminal/terminals';
import { unlinked } from '../text';
import { draftOf, file, labelOf, selection, withMentions } from './attachments';
import type { Attachment, HostMessage, Intent, SentPrompt } from './messages';

/** The session, and what else an intent may need. */
export interface Hands {
  session: Session;
  review: Review;
  request: Request;
  tell: (message: HostMessage) => void;
  attach: (attachments: Attachment[]) => Promise<void>;
  /** Adds to the draft, and shows it. */
  draft: (prompt: SentPrompt) => Promise<void>;
  terminals: Terminals;
  held: Held;
  openDiff: (proposalId: string, hunkId?: string) => Promise<void>;
}

/** Carries out an intent. What goes wrong is told to the user. */
export async function carryOut(intent: Intent, hands: Hands): Promise<void> {
  try {
    await dispatch(intent, hands);
  } catch (error) {
    void vscode.window.showErrorMessage(unlinked(`Azimuth: ${messageOf(error)}`));
  }
}

async function dispatch(intent: Intent, hands: Hands): Promise<void> {
  const { session, tell } = hands;
  switch (intent.type) {
    case 'send': return settle(intent.promptId, withMentions(intent.blocks).then((blocks) => session.prompt(blocks)), tell);
    case 'steer': return settle(intent.promptId, withMentions(intent.blocks).then((blocks) => session.steer(intent.turnId, blocks)), tell);
    case 'queue': return settle(intent.promptId, withMentions(intent.blocks).then((blocks) => session.enqueue(blocks)), tell);
    case 'now': return settle(intent.promptId, withMentions(intent.blocks).then((blocks) => session.now(blocks)), tell);
    case 'first': return session.goesFirst(intent.queueId);
    case 'plan': return session.plan(intent.steps);
    case 'unqueue':
      await session.dequeue(intent.queueId);
      return hands.draft(draftOf(intent.prompt));
    case 'draft': return hands.draft(draftOf(intent.prompt));
    case 'continue': return session.prompt([]);
    case 'cancel': return session.cancel(intent.turnId);
    case 'retry': return session.retry(intent.turnId);
    case 'answer': await session.answer(intent.permissionId, intent.optionId, intent.message, intent.answers); return;
    case 'decide': return hands.review.decide(intent.decision, intent.targets, intent.message);
    case 'complete': return complete(intent, hands);
    case 'openFile': return openFile(hands.held, intent.uri, intent.line);
    case 'openDiff': return hands.openDiff(intent.proposalId, intent.hunkId);
    case 'openTerminal': return hands.terminals.show(intent.terminalId);
    case 'typeLine': return hands.terminals.typeLine(intent.terminalId, intent.text);
    case 'takeTerminal': return hands.terminals.take(intent.taken, intent.terminalId);
    case 'killTerminal': return hands.terminals.kill(intent.terminalId);
    case 'showJobs': return run('azimuth.jobs.show');
    case 'openLink': return openLink(intent.href);
    case 'openText': return openText(intent.text);
    case 'insert': return insert(intent.text);
    case 'copy': return vscode.env.clipboard.writeText(intent.text);
    case 'openSession': return session.open(intent.sessionId);
    case 'pickAcceptEdits': return run('azimuth.acceptEdits.select');
    case 'restore': return restore(intent.direction, { turnId: intent.turnId, andLater: intent.andLater }, session, hands.request);
    case 'correctHandover': return handover(hands, (sessionId) => hands.request('azimuth/compaction/correct', { sessionId, compactionId: intent.compactionId, written: intent.written }));
    case 'takeHandoverBack': return handover(hands, (sessionId) => hands.request('azimuth/compaction/undo', { sessionId, compactionId: intent.compactionId }));
    case 'attachSelection': return attachSelection(hands);
    case 'attachFile': return hands.attach(await pickFiles());
    case 'dropped': return hands.attach(dropped(intent.uris));
    case 'newSession': return run('azimuth.session.new');
    case 'pickSession': return run('azimuth.session.open');
    case 'pickModel': return run('azimuth.model.select');
    case 'pickThinking': return run('azimuth.thinking.select');
    case 'pickMode': return run('azimuth.mode.select');
    case 'setMode': return run('azimuth.mode.select', intent.mode);
    case 'setKey': return run('azimuth.key.set');
    case 'signIn': return run('azimuth.accounts.signIn');
    case 'showCosts': return run('azimuth.costs.show');
    case 'manageTrust': return run('workbench.trust.manage');
    case 'showServers': return run('azimuth.languageServers.show');
    case 'openFolder': return run('workbench.action.files.openFolder');
    case 'restartServer': return run('azimuth.server.restart');
    case 'openLog': return run('azimuth.log.show');
    // The view answers these itself.
    case 'ready':
    case 'focused':
    case 'earlier': return;
  }
}

/** Tells what became of a prompt, so that the draft goes only when it was taken. */
async function settle(promptId: string, sent: Promise<void>, tell: (message: HostMessage) => void): Promise<void> {
  const error = await sent.then(() => undefined, messageOf);
  tell({ type: 'promptSettled', promptId, ...(error === undefined ? {} : { error }) });
}

async function complete({ requestId, text, cursor }: Extract<Intent, { type: 'complete' }>, { session, request, tell }: Hands): Promise<void> {
  // A completion that fails is none; an error at each key would be worse.
  const result = await session.some().then((sessionId) => request('azimuth/prompt/complete', { sessionId, text, cursor })).catch(() => undefined);
  tell({ type: 'completions', requestId, ...(result === undefined ? {} : { result }) });
}

/** Does something with a handover of the session that is shown. */
async function handover({ session }: Hands, act: (sessionId: SessionId) => Promise<unknown>): Promise<void> {
  await act(await session.some());
}

/** Only files are opened: what a model names may be any URI. */
async function openFile(held: Held, address: string, line?: number): Promise<void> {
  const uri = vscode.Uri.parse(address);
  if (uri.scheme !== 'file') throw new Error(`${address} is not a file, and is not opened.`);
  const at = line === undefined ? {} : { selection: new vscode.Range(line, 0, line, 0) };
  await vscode.window.showTextDocument(await held.open(uri), { preview: true, ...at });
}

async function openLink(href: string): Promise<void> {
  const uri = vscode.Uri.parse(href);
  if (uri.scheme !== 'http' && uri.scheme !== 'https') throw new Error(`${href} is not a web page, and is not opened.`);
  // VS Code shows the whole address and asks first, unless the user trusts its domain.
  await vscode.env.openExternal(uri);
}

async function openText(content: string): Promise<void> {
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content }), { preview: true });
}

async function insert(text: string): Promise<void> {
  const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
  if (editor === undefined) throw new Error('No editor is open to insert this into. Open a file, put the cursor where it should go, and try again.');
  const done = await editor.edit((edit) => {
    for (const selected of editor.selections) edit.replace(selected, text);
  });
  if (!done) throw new Error(`Nothing could be inserted into ${labelOf(editor.document.uri)}: it cannot be written, or changed at that moment. Try again.`);
  await vscode.window.showTextDocument(editor.document, editor.viewColumn);
}

async function attachSelection({ attach }: Hands): Promise<void> {
  const selected = selection();
  if (selected === undefined) throw new Error('Nothing is selected in the editor.');
  await attach([selected]);
}

function dropped(addresses: string[]): Attachment[] {
  const files = addresses.map((address) => vscode.Uri.parse(address)).map(here).filter(({ scheme }) => scheme === 'file');
  if (files.length === 0) throw new Error('What you dropped is not a file on this machine, and is not attached.');
  return files.map(file);
}

/** A window that looks at another machine, over SSH or in a container, names that machine's files its own way. */
function here(uri: vscode.Uri): vscode.Uri {
  return uri.scheme === 'vscode-remote' ? uri.with({ scheme: 'file', authority: '' }) : uri;
}

async function pickFiles(): Promise<Attachment[]> {
  const picked = await vscode.window.showOpenDialog({ canSelectMany: true, openLabel: 'Add to chat' });
  return (picked ?? []).map(file);
}

async function run(command: string, ...rest: unknown[]): Promise<void> {
  await vscode.commands.executeCommand(command, ...rest);
}
