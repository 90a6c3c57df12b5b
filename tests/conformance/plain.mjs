// A language client of the script's own, with nothing but what LSP has: documents, code actions, edits, diagnostics.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { until } from '../../editors/vscode/test/e2e/steps.mjs';
import { file } from './story.mjs';

const chat = '.azimuth/chats/azimuth-chat.md';

export class Plain {
  static terminal = false;

  constructor(world, { server }) {
    Object.assign(this, { world, server, documents: new Map() });
  }

  async start() {
    const { project, env } = this.world;
    this.connection = new Connection(spawn(this.server, ['lsp'], { cwd: project, env, stdio: ['pipe', 'pipe', 'ignore'] }), {
      'workspace/applyEdit': ({ edit }) => this.apply(edit),
      'workspace/configuration': ({ items }) => items.map(() => null),
    });
    const uri = pathToFileURL(project).href;
    await this.connection.request('initialize', {
      processId: process.pid, clientInfo: { name: 'conformance' }, rootUri: uri, workspaceFolders: [{ uri, name: 'project' }],
      initializationOptions: { workspaceTrust: 'trusted' },
      capabilities: {
        textDocument: {
          codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: [] } } }, publishDiagnostics: {}, synchronization: {},
        },
        workspace: { applyEdit: true, workspaceEdit: { documentChanges: true } },
      },
    });
    this.connection.notify('initialized', {});
    for (const document of this.documents.values()) this.didOpen(document);
  }

  async stop() {
    this.connection.process.kill('SIGKILL');
  }

  async open(name) {
    const uri = this.uri(name);
    this.documents.set(uri, { uri, text: fs.readFileSync(path.join(this.world.project, name), 'utf8'), version: 0, before: [] });
    this.didOpen(this.documents.get(uri));
  }

  async typeAtStart(text) {
    this.change(file, (old) => text + old);
  }

  async openChat() {
    await this.connection.request('workspace/executeCommand', { command: 'azimuth.chat.open', arguments: [] });
    await this.open(chat);
  }

  async prompt(text) {
    // The document is written once a second, and invites to the next prompt last.
    await until('the invitation', () => this.chat().endsWith('## You\n\n'));
    this.change(chat, (old) => `${old}${text}\n`);
    await this.choose(chat, 0, 'Send to Azimuth');
  }

  async cancel() {
    await this.choose(chat, 0, 'Cancel what Azimuth does');
  }

  async answer(option) {
    await this.choose(chat, 0, option);
  }

  async openReview() {}

  async closeReview() {
    this.save(chat);
    this.connection.notify('textDocument/didClose', { textDocument: { uri: this.uri(chat) } });
    await this.open(chat);
  }

  async decide(decision) {
    const [{ range }] = this.hints();
    await this.choose(file, range.start.line, decision === 'accept' ? 'Accept this change' : 'Reject this change');
  }

  async undo() {
    const { before } = this.documents.get(this.uri(file));
    const last = before.pop();
    this.change(file, () => last);
    before.pop();
  }

  async killServer() {
    this.connection.process.kill('SIGKILL');
    await this.start();
  }


  buffer() {
    return this.documents.get(this.uri(file)).text;
  }

  chat() {
    return this.documents.get(this.uri(chat)).text;
  }

  async question() {
    const actions = await this.actions(chat, 0);
    return [this.chat(), ...actions.map(({ title }) => title)].join('\n');
  }

  async running() {
    return (await this.actions(chat, 0)).some(({ title }) => title.startsWith('Cancel'));
  }

  hunks() {
    return this.hints().length;
  }

  hints() {
    const { diagnostics = [] } = this.connection.told('textDocument/publishDiagnostics', ({ uri }) => uri === this.uri(file)) ?? {};
    return diagnostics.filter(({ source }) => source === 'azimuth').sort((a, b) => a.range.start.line - b.range.start.line);
  }

  async choose(name, line, title) {
    const action = await until(`the code action ${title}`, async () => (await this.actions(name, line)).find((one) => one.title.startsWith(title)));
    await this.connection.request('workspace/executeCommand', action.command);
  }

  actions(name, line) {
    const here = { line, character: 0 };
    return this.connection.request('textDocument/codeAction', {
      textDocument: { uri: this.uri(name) }, range: { start: here, end: here }, context: { diagnostics: [] },
    });
  }

  /** Applies an edit of the server. Each is a step of undo. */
  apply({ documentChanges = [], changes = {} }) {
    for (const { textDocument, edits } of [...documentChanges, ...Object.entries(changes).map(([uri, edits]) => ({ textDocument: { uri }, edits }))]) {
      const document = this.documents.get(textDocument.uri);
      if (document === undefined || (textDocument.version ?? document.version) !== document.version) return { applied: false };
      const spans = edits.map(({ range, newText }) => [offset(document.text, range.start), offset(document.text, range.end), newText]);
      spans.sort(([a], [b]) => b - a);
      this.change(path.relative(this.world.project, new URL(textDocument.uri).pathname),
        (text) => spans.reduce((whole, [start, end, into]) => whole.slice(0, start) + into + whole.slice(end), text));
    }
    return { applied: true };
  }

  change(name, into) {
    const document = this.documents.get(this.uri(name));
    document.before.push(document.text);
    document.text = into(document.text);
    document.version += 1;
    this.connection.notify('textDocument/didChange', {
      textDocument: { uri: document.uri, version: document.version }, contentChanges: [{ text: document.text }],
    });
  }

  save(name) {
    const { uri, text } = this.documents.get(this.uri(name));
    fs.writeFileSync(path.join(this.world.project, name), text);
    this.connection.notify('textDocument/didSave', { textDocument: { uri } });
  }

  didOpen({ uri, version, text }) {
    this.connection.notify('textDocument/didOpen', { textDocument: { uri, languageId: uri.endsWith('.md') ? 'markdown' : 'rust', version, text } });
  }

  uri(name) {
    return pathToFileURL(path.join(this.world.project, name)).href;
  }
}

/** The offset of an LSP position, whose characters are UTF-16 code units, as those of JavaScript are. */
function offset(text, { line, character }) {
  let at = 0;
  for (let passed = 0; passed < line; passed += 1) at = text.indexOf('\n', at) + 1;
  return at + character;
}

/** JSON-RPC with a process, with LSP's framing. `answers` are what it asks of us, by method; the rest is answered null. */
class Connection {
  constructor(process, answers) {
    Object.assign(this, { process, answers, waiting: new Map(), notes: [], next: 0, received: Buffer.alloc(0) });
    process.stdout.on('data', (chunk) => {
      this.received = Buffer.concat([this.received, chunk]);
      while (this.take()) { /* one message each */ }
    });
    process.stdin.on('error', () => { /* the server was killed */ });
  }

  request(method, params) {
    const id = ++this.next;
    this.send({ id, method, params });
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject, method }));
  }

  notify(method, params) {
    this.send({ method, params });
  }

  /** The last notification of a method that is as wished. */
  told(method, wish) {
    return this.notes.findLast((note) => note.method === method && wish(note.params))?.params;
  }

  take() {
    const head = this.received.indexOf('\r\n\r\n');
    if (head < 0) return false;
    const end = head + 4 + Number(/content-length: (\d+)/i.exec(this.received.toString('latin1', 0, head))[1]);
    if (this.received.length < end) return false;
    const message = JSON.parse(this.received.toString('utf8', head + 4, end));
    this.received = this.received.subarray(end);
    if (message.method === undefined) {
      const { resolve, reject, method } = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (message.error) reject(new Error(`${method}: ${message.error.message}`));
      else resolve(message.result);
    } else if (message.id === undefined) this.notes.push(message);
    else this.send({ id: message.id, result: this.answers[message.method]?.(message.params) ?? null });
    return true;
  }

  send(message) {
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
    this.process.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.process.stdin.write(body);
  }
}
