// The extension: what there is, and how it hangs together.

import * as vscode from 'vscode';
import { FactsKeeper } from './chat/facts';
import { carryOut } from './chat/intents';
import { put } from './chat/put';
import { ChatView } from './chat/view';
import { registerCommands } from './commands';
import { CostsReport } from './costs/report';
import { EditPaint } from './inline/paint';
import { EditLenses } from './inline/lenses';
import { Inline } from './inline/inline';
import { NextEdits } from './inline/next';
import { CountsReport } from './inline/report';
import { InlineStatus } from './inline/status';
import { Switches } from './inline/switches';
import { InstructActions } from './instruct/actions';
import { Changes } from './instruct/changes';
import { Instruct } from './instruct/instruct';
import { ArrivingMarks } from './instruct/live';
import { ChangeMarks } from './instruct/marks';
import { ChangeSigns } from './instruct/sign';
import { SCHEME } from './review/address';
import { trackHunksInEditor } from './review/context';
import { Diffs } from './review/diffs';
import { ReviewFiles } from './review/files';
import { LandedMarks } from './review/marks';
import { Lenses } from './review/lenses';
import { Review } from './review/review';
import { Threads } from './review/threads';
import { ReviewTree } from './review/tree';
import { Held } from './server/held';
import { Keys } from './server/keys';
import { messageOf, type Request } from './server/requests';
import { Server } from './server/server';
import { Follow } from './session/follow';
import { Notices } from './session/notices';
import { Session } from './session/session';
import { Status } from './session/status';
import { Sums } from './session/sums';
import { Feeds } from './terminal/feeds';
import { Tails } from './terminal/tails';
import { Terminals } from './terminal/terminals';

let server: Server | undefined;

/** VS Code calls it once a window has started. The server starts when one of our views is shown or one of our commands is run. */
export function activate(context: vscode.ExtensionContext): void {
  const output = vscode.window.createOutputChannel('Azimuth', { log: true });
  const keys = new Keys(context.secrets, context.globalState);
  const held = new Held();
  const request: Request = (method, params, token) => started.request(method, params, token);
  const switches = new Switches({ all: context.globalState, workspace: context.workspaceState });
  const inline = new Inline(switches, request, output);
  const started = new Server(context, output, keys, held, inline);
  server = started;
  const edits = new NextEdits(inline, request, new EditPaint(context.extensionUri), output);

  const session = new Session(started, context.workspaceState);
  const feeds = new Feeds(started);
  const terminals = new Terminals(feeds, request, session);

  const follow = new Follow(session, held);
  const changes = new Changes(started, context.workspaceState);
  const review = new Review(session, held, changes);
  const files = new ReviewFiles(request, review);
  const threads = new Threads(review);

  const facts = new FactsKeeper(started, session);
  const chat = new ChatView(context.extensionUri, session, facts, started, (intent) => void carryOut(intent, {
    session,
    review,
    request,
    tell: (message) => chat.tell(message),
    attach: (attachments) => chat.attach(attachments),
    draft: (prompt) => chat.add(prompt),
    terminals,
    held,
    openDiff: async (proposalId, hunkId) => {
      await vscode.commands.executeCommand('azimuth.review.open', { proposalId, ...(hunkId === undefined ? {} : { hunkId }) });
    },
  }));

  const signs = new ChangeSigns(changes);
  const instruct = new Instruct(changes, signs, review, session, chat, context.globalState);

  const counts = new CountsReport(inline, request);
  const costs = new CostsReport(session, request);
  const sums = new Sums(started, session);
  const diffs = new Diffs(review, files, held, chat);

  started.onPromptPut((params) => {
    void put(params, session, chat).catch((error: unknown) => output.warn(`a prompt was not put: ${messageOf(error)}`));
  });

  const tails = new Tails(feeds, session, (toolCallId, text) => chat.tell({ type: 'tail', toolCallId, text }));

  context.subscriptions.push(
    output, held, switches, inline, edits, session, feeds, terminals, tails, follow, changes, review, files, diffs, threads, facts, chat, signs, instruct, counts, costs, sums,
    vscode.workspace.registerFileSystemProvider(SCHEME, files, { isCaseSensitive: true }),
    trackHunksInEditor(review),
    new Lenses(review),
    new LandedMarks(review),
    new ArrivingMarks(changes),
    new ChangeMarks(changes, review),
    new InstructActions(),
    new ReviewTree(review),
    new Status(started, session, review, changes, sums),
    new InlineStatus(inline, switches),
    new EditLenses(edits),
    started.onEditChanged((params) => edits.take(params)),
    new Notices(session, chat, terminals),
    chat.onShown((on) => tails.show(on)),
    registerCommands({ server: started, request, session, keys, chat, review, diffs, threads, terminals, follow, inline, edits, instruct, switches, counts, costs, facts, output }),
  );
  // Whoever has text suggested wants it without having to open the chat.
  // A change that waits for a decision is shown again, too.
  if (switches.areUsed || changes.all.length > 0) void started.startQuietly();
}

export async function deactivate(): Promise<void> {
  await server?.dispose();
}
