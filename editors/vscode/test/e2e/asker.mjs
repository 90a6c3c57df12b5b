// Questions of a server to its client, by a test. The server is the real one: between it and VS Code stands a program that
// passes everything on, and puts the test's requests between the server's own.
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';

/**
 * Puts the program in the server's place, in what `prepare` of `startWorld` is given; resolves, once there is a server, to
 * `ask(method, params)`, which resolves to the client's answer, or rejects with its error.
 */
export async function standBetween({ program }) {
  // `…/extensions/azimuth…/server/azimuth`, below the folder of this code-server.
  const dir = path.resolve(program, '../../../..');
  const [file, socket] = [path.join(dir, 'azimuth-between'), path.join(dir, 'between.sock')];
  fs.writeFileSync(file, `#!${process.execPath}\n${between(program, socket)}`, { mode: 0o755 });
  const machine = path.join(dir, 'data/Machine/settings.json');
  fs.mkdirSync(path.dirname(machine), { recursive: true });
  fs.writeFileSync(machine, JSON.stringify({ 'azimuth.server.path': file }));
  let [connection, count, rest] = [undefined, 0, ''];
  const waiting = new Map();
  const listener = net.createServer((from) => {
    connection = from;
    from.setEncoding('utf8').on('error', () => {}).on('data', (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop();
      for (const { id, result, error } of lines.map((line) => JSON.parse(line))) {
        const { resolve, reject } = waiting.get(id);
        if (error === undefined) resolve(result);
        else reject(new Error(JSON.stringify(error)));
      }
    });
  });
  await new Promise((resolve) => listener.listen(socket, resolve));
  listener.unref();
  return (method, params) => new Promise((resolve, reject) => {
    if (connection === undefined) return reject(new Error('no server runs'));
    const id = `asked-${++count}`;
    waiting.set(id, { resolve, reject });
    connection.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  });
}

function between(program, socket) {
  return `
const { spawn } = require('node:child_process');
const net = require('node:net');
const server = spawn(${JSON.stringify(program)}, process.argv.slice(2), { stdio: ['pipe', 'pipe', 'inherit'] });
const test = net.connect(${JSON.stringify(socket)});
const framed = (body) => Buffer.concat([Buffer.from('Content-Length: ' + body.length + '\\r\\n\\r\\n'), body]);
// Gives whole messages, as they are.
function messages(each) {
  let bytes = Buffer.alloc(0);
  return (more) => {
    bytes = Buffer.concat([bytes, more]);
    for (let end; (end = bytes.indexOf('\\r\\n\\r\\n')) >= 0;) {
      const length = Number(/content-length: *(\\d+)/i.exec(bytes.subarray(0, end).toString())[1]);
      if (bytes.length < end + 4 + length) return;
      each(bytes.subarray(end + 4, end + 4 + length));
      bytes = bytes.subarray(end + 4 + length);
    }
  };
}
process.stdin.on('data', messages((body) => {
  const isAnswer = body.includes('"asked-') && String(JSON.parse(body).id).startsWith('asked-');
  if (isAnswer) test.write(JSON.stringify(JSON.parse(body)) + '\\n');
  else server.stdin.write(framed(body));
}));
process.stdin.on('end', () => server.stdin.end());
server.stdout.on('data', messages((body) => process.stdout.write(framed(body))));
let rest = '';
test.setEncoding('utf8').on('error', () => {}).on('data', (text) => {
  const lines = (rest + text).split('\\n');
  rest = lines.pop();
  for (const line of lines) process.stdout.write(framed(Buffer.from(line)));
});
server.on('exit', (code) => process.exit(code ?? 0));
`;
}
