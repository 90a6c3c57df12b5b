// The messages of a client to the server, for a test: a program in the server's place passes everything on and notes it.
import fs from 'node:fs';
import path from 'node:path';

/**
 * Puts the program in the server's place, in what `prepare` of `startWorld` is given. Returns `sent(method)`, which
 * gives the parameters of all messages with this method.
 * `sent.dieAt(method)` has the server killed once when the next message with this method comes to it.
 */
export function tap({ program }) {
  // `…/extensions/azimuth…/server/azimuth`, below the folder of this code-server.
  const dir = path.resolve(program, '../../../..');
  const [file, log] = [path.join(dir, 'azimuth-tapped'), path.join(dir, 'tapped.jsonl')];
  fs.writeFileSync(log, '');
  fs.writeFileSync(file, `#!${process.execPath}\n${tapped(program, log)}`, { mode: 0o755 });
  const machine = path.join(dir, 'data/Machine/settings.json');
  fs.mkdirSync(path.dirname(machine), { recursive: true });
  fs.writeFileSync(machine, JSON.stringify({ 'azimuth.server.path': file }));
  const sent = (method) => fs.readFileSync(log, 'utf8').split('\n').filter((line) => line.endsWith('}')).map((line) => JSON.parse(line)).filter((message) => message.method === method).map(({ params }) => params);
  return Object.assign(sent, { dieAt: (method) => fs.writeFileSync(`${log}.die`, method) });
}

function tapped(program, log) {
  return `
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const server = spawn(${JSON.stringify(program)}, process.argv.slice(2), { stdio: ['pipe', 'pipe', 'inherit'] });
let bytes = Buffer.alloc(0);
const die = ${JSON.stringify(`${log}.die`)};
process.stdin.on('data', (more) => {
  if (fs.existsSync(die) && more.includes('"' + fs.readFileSync(die, 'utf8') + '"')) {
    fs.unlinkSync(die);
    server.kill('SIGKILL');
    return;
  }
  server.stdin.write(more);
  bytes = Buffer.concat([bytes, more]);
  for (let end; (end = bytes.indexOf('\\r\\n\\r\\n')) >= 0;) {
    const length = Number(/content-length: *(\\d+)/i.exec(bytes.subarray(0, end).toString())[1]);
    if (bytes.length < end + 4 + length) return;
    fs.appendFileSync(${JSON.stringify(log)}, bytes.subarray(end + 4, end + 4 + length) + '\\n');
    bytes = bytes.subarray(end + 4 + length);
  }
});
process.stdin.on('end', () => server.stdin.end());
server.stdout.pipe(process.stdout);
server.on('exit', (code) => process.exit(code ?? 0));
`;
}
