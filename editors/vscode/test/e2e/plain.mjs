// A client without an editor, for making sessions: it talks to the server over standard input and output.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const { createMessageConnection, StreamMessageReader, StreamMessageWriter } = createRequire(import.meta.url)('vscode-jsonrpc/node');

/** Plays prompts, each to the end of its turn, in one new session in this folder. */
export async function playSession({ program, project, env }, prompts) {
  const server = spawn(program, ['lsp'], { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] });
  const connection = createMessageConnection(new StreamMessageReader(server.stdout), new StreamMessageWriter(server.stdin));
  let ended = () => {};
  connection.onNotification('azimuth/event', ({ event }) => {
    if (event.type === 'turnEnded') ended(event);
  });
  connection.onUnhandledNotification(() => {});
  connection.listen();
  const folder = { uri: pathToFileURL(project).href, name: 'project' };
  await connection.sendRequest('initialize', {
    processId: process.pid, rootUri: folder.uri, workspaceFolders: [folder], capabilities: { experimental: { azimuth: { panel: true } } },
    // Else it would ask first whether the folder is trusted.
    initializationOptions: { workspaceTrust: 'trusted' },
  });
  await connection.sendNotification('initialized', {});
  const { session: { sessionId } } = await connection.sendRequest('azimuth/session/new', {});
  for (const text of prompts) {
    const end = new Promise((resolve) => (ended = resolve));
    // Queued, since right after its end a turn may still count as running.
    await connection.sendRequest('azimuth/turn/queue', { type: 'add', sessionId, prompt: [{ type: 'text', text }] });
    const { stopReason, error } = await end;
    if (stopReason !== 'end_turn') throw new Error(`a turn ended with ${stopReason}: ${error}`);
  }
  await connection.sendRequest('shutdown');
  const gone = new Promise((resolve) => server.once('exit', resolve));
  await connection.sendNotification('exit');
  await gone;
  connection.dispose();
}
