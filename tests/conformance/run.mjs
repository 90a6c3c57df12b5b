// Leads every client through the one story of `story.mjs`, and tells how each step went in each of them.
//
//   node tests/conformance/run.mjs --server AZIMUTH [--nvim PROGRAM]... [--vsix FILE] [--out FILE] [--shots FOLDER]
//   node tests/conformance/run.mjs --docs      # writes the table of differences into docs/testing.md
//
// VS Code needs what `editors/vscode/test/e2e/world.mjs` needs; FOLDER gets a picture of it after each step. The results
// are a Markdown table, in FILE too.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startWorld as startVsCode } from '../../editors/vscode/test/e2e/world.mjs';
import { Neovim } from './neovim.mjs';
import { Plain } from './plain.mjs';
import { answers, differences, file, files, steps } from './story.mjs';
import { VsCode } from './vscode.mjs';
import { startWorld } from './world.mjs';

const PATIENCE = 30_000;
const guide = path.resolve(import.meta.dirname, '../../docs/testing.md');

const { values } = parseArgs({
  options: {
    server: { type: 'string' }, nvim: { type: 'string', multiple: true, default: [] }, vsix: { type: 'string' },
    out: { type: 'string' }, shots: { type: 'string' }, docs: { type: 'boolean' },
  },
});
if (values.docs) {
  fs.writeFileSync(guide, documented());
  process.exit();
}
if (fs.readFileSync(guide, 'utf8') !== documented()) throw new Error('docs/testing.md is stale: node tests/conformance/run.mjs --docs');

const server = path.resolve(values.server);
const clients = [
  { name: 'plain', kind: 'plain', Driver: Plain },
  ...values.nvim.map((program) => ({ name: version(program), kind: 'Neovim', Driver: Neovim, program })),
  ...(values.vsix === undefined ? [] : [{ name: 'VS Code', kind: 'VS Code', Driver: VsCode }]),
];
for (const client of clients) client.results = await play(client);

const table = [
  ['step', ...clients.map(({ name }) => name)],
  clients.map(() => '---').concat('---'),
  ...steps.map(({ step }, at) => [step, ...clients.map(({ results }) => results[at] ?? 'not reached')]),
].map((row) => `| ${row.join(' | ')} |\n`).join('');
console.log(`\n${table}`);
if (values.out !== undefined) fs.writeFileSync(values.out, table);
process.exit(clients.every(({ results }) => results.every((result) => !result.startsWith('FAILED'))) ? 0 : 1);

/** Leads one client through the story, up to the first step that fails. Resolves to a result for each step. */
async function play({ name, kind, Driver, program }) {
  let nowTyped;
  const script = answers(Driver, new Promise((resolve) => { nowTyped = resolve; }));
  const world = Driver === VsCode
    ? await startVsCode({
      vsix: path.resolve(values.vsix), files, answers: script,
      settings: { 'files.autoSave': 'off', 'editor.accessibilitySupport': 'off', 'terminal.integrated.gpuAcceleration': 'off' },
    })
    : await startWorld({ files, answers: script });
  const client = new Driver(world, { server, program });
  const lacking = differences.filter((one) => one.client === kind).flatMap(({ lacks = [] }) => lacks);
  const lacks = (step, what) => lacking.some(([inStep, thing]) => inStep === step && thing === what);
  const results = [];
  try {
    await client.start();
    for (const { step, does, expects, typed, within = PATIENCE } of steps) {
      if (lacks(step)) {
        results.push('none');
        continue;
      }
      try {
        const shown = Object.entries(expects).filter(([what]) => !lacks(step, what));
        results.push(`${await take(world, client, does, shown, within)} ms`);
        if (typed) nowTyped();
        console.log(`ok: ${name}: ${step} (${results.at(-1)})`);
      } catch (error) {
        results.push('FAILED');
        console.error(`FAILED: ${name}: ${step}: ${error.stack}`);
        break;
      } finally {
        if (values.shots !== undefined) await client.picture?.(path.join(values.shots, `${kind.replace(" ", "-").toLowerCase()}-${String(results.length).padStart(2, '0')}.png`));
      }
    }
  } finally {
    await client.stop();
    await world.stop();
  }
  return results;
}

/** Takes a step. Resolves to the milliseconds from its last deed to where all is as expected. */
async function take(world, client, does, expects, within) {
  let began = performance.now();
  for (const [verb, ...args] of does) {
    began = performance.now();
    await client[verb](...args);
  }
  for (const [what, wanted] of expects) {
    for (;;) {
      const seen = await see(world, client, what);
      if (Array.isArray(wanted) ? wanted.every((text) => seen.includes(text)) : seen === wanted) break;
      if (performance.now() - began > within) {
        throw new Error(`${what} is not as expected within ${within} ms\n  wanted: ${JSON.stringify(wanted)}\n  seen:   ${JSON.stringify(seen)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
  return Math.round(performance.now() - began);
}

/** The things that the world or a client shows. */
function see(world, client, what) {
  if (what === 'disk') return fs.readFileSync(path.join(world.project, file), 'utf8');
  if (what === 'asked') return world.model.asked.at(-1)?.messages.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content))).join('\n') ?? '';
  return client[what]();
}

function version(program) {
  return execFileSync(program, ['--version'], { encoding: 'utf8' }).split('\n')[0].replace('NVIM v', 'Neovim ');
}

/** The guide with the table of differences as it should be. */
function documented() {
  const rows = differences.map(({ client, what, why }) => `| ${client} | ${what} | ${why} |\n`).join('');
  const [begin, end] = ['<!-- generated: tests/conformance -->\n', '<!-- end of what is generated -->'];
  const text = fs.readFileSync(guide, 'utf8');
  return text.slice(0, text.indexOf(begin) + begin.length) + `\n| client | what differs | why |\n| --- | --- | --- |\n${rows}\n` + text.slice(text.indexOf(end));
}
