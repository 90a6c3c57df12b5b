// Compiles the bodies of requests, as a server got them, against the types of the vendors' own SDKs, and looks up the models
// of our data file in the SDK's lists. `node check.mjs FOLDER`, with a file for each body; `run` makes them.

import fs from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const here = import.meta.dirname;

/** The fields whose texts may be any. */
const WORDS = new Set([
  'text', 'content', 'thinking', 'reasoning', 'reasoning_content', 'output', 'instructions', 'description', 'arguments', 'data', 'url', 'image_url',
  'id', 'call_id', 'tool_use_id', 'tool_call_id', 'signature', 'thought_signature', 'thoughtSignature', 'encrypted_content', 'prompt_cache_key', 'error',
]);

const problems = [...typeProblems(process.argv[2]), ...modelProblems()];
for (const problem of problems) console.error(problem);
process.exit(problems.length === 0 ? 0 : 1);

/** Returns what the vendors' types say of the bodies in a folder. */
function typeProblems(folder) {
  const bodies = new Map();
  // Those of Amazon's are held against botocore (check-amazon.py).
  const isTyped = (file) => file.endsWith('.json') && !file.startsWith('Converse-');
  for (const name of fs.readdirSync(folder).filter(isTyped).sort()) {
    const body = shape(JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')));
    const type = typeOf(name.split('-')[0], body);
    // Most differ in words alone.
    bodies.set(`const body: ${type} = ${JSON.stringify(body)};`, name);
  }
  const lines = [...bodies.keys()].map((line, at) => `export ${line.replace('const body', `const body${at}`)}`);
  const kinds = new Set(lines.map((line) => /: (\w+) =/.exec(line)[1]));
  for (const kind of ['Messages', 'Responses', 'Chat', 'Gemini', 'GeminiChat', 'Moonshot', 'OpenRouter', 'Groq']) {
    if (!kinds.has(kind)) return [`no body of ${kind} came, so nothing was compared`];
  }
  const names = [...bodies.values()];
  const head = fs.readFileSync(path.join(here, 'types.ts'), 'utf8').split('\n');
  const found = compile([...head, ...lines].join('\n'));
  console.log(`${names.length} kinds of bodies were compiled against the vendors' types`);
  return found.map(({ line, column, text }) => {
    const at = line - head.length;
    if (at < 0) return `types.ts:${line + 1}: ${text}`;
    return `${names[at]}: ${text}\n  at ${lines[at].slice(Math.max(0, column - 80), column + 120)}`;
  });
}

/** The type of a body: the vendor's own where nothing is in it that only one of those compatible with it has. */
function typeOf(wire, body) {
  const text = JSON.stringify(body);
  const isBeta = (text) => text.includes('"block_binding"') || text.includes('"role":"system"');
  if (wire === 'Anthropic') return isBeta(text) ? 'BetaMessages' : 'Messages';
  if (wire === 'Responses' || wire === 'Gemini') return wire;
  if (['thinking', 'reasoning', 'enable_thinking', 'chat_template_kwargs'].some((name) => name in body)) return 'Asking';
  if (wire === 'Chat' && text.includes('"reasoning_content"')) return 'Moonshot';
  return wire !== 'Chat' && /"(reasoning|reasoning_content|reasoning_details|extra_content)":/.test(text) ? wire : 'Chat';
}

/** A body without its many words and with each tool's schema shortened: only the shape has a type. */
function shape(value, key = '') {
  if (typeof value === 'string') return WORDS.has(key) ? '…' : value.slice(0, 40);
  if (key === 'input_schema' || key === 'parameters' || key === 'parametersJsonSchema') return { type: value.type };
  if (key === 'tools' || key === 'functionDeclarations') return value.slice(0, 2).concat(value.slice(-1)).map((tool) => shape(tool));
  if (Array.isArray(value)) return value.map((item) => shape(item));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shape(inner, name)]));
}

/** The errors of the compiler in a source that lies beside this file. */
function compile(source) {
  const file = path.join(here, 'bodies.ts');
  const options = {
    strict: true, noEmit: true, skipLibCheck: true, target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, types: [],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => name === file || fileExists(name);
  host.getSourceFile = (name, ...more) => name === file ? ts.createSourceFile(name, source, options.target, true) : getSourceFile(name, ...more);
  const program = ts.createProgram([file], options, host);
  return ts.getPreEmitDiagnostics(program).map((diagnostic) => {
    const { line, character } = diagnostic.file?.getLineAndCharacterOfPosition(diagnostic.start) ?? { line: 0, character: 0 };
    return { line, column: character, text: ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n') };
  });
}

/** The models of our data file that their vendor's SDK does not know any more, or says will end soon after the file's day. */
function modelProblems() {
  const read = (file) => fs.readFileSync(path.join(here, 'node_modules', file), 'utf8');
  const data = fs.readFileSync(path.join(here, '../../server/crates/providers/src/models.toml'), 'utf8');
  const messages = '@anthropic-ai/sdk/resources/messages/messages';
  const known = new Set(quoted(/export type Model = ([^;]*);/.exec(read(`${messages}.d.ts`))?.[1]));
  const table = /const DEPRECATED_MODELS = \{([^}]*)\}/.exec(read(`${messages}.js`))?.[1] ?? '';
  const ends = new Map([...table.matchAll(/'([^']+)': '(\w+ \d+)\w*, (\d+)'/g)].map(([, id, day, year]) => [id, new Date(`${day} ${year} UTC`)]));
  const anthropic = ends.size;
  // OpenAI says it in the comment on its type.
  const comment = /Deprecated values:([\s\S]*?)\*\//.exec(read('openai/resources/shared.d.ts'))?.[1].replaceAll(/\n \*/g, ' ') ?? '';
  for (const entry of comment.split(/ - (?=")/)) {
    const day = /shutdown date:\s+(\d{4}-\d\d-\d\d)/.exec(entry)?.[1];
    if (day !== undefined) for (const [, id] of entry.matchAll(/"([^"]+)"/g)) ends.set(id, new Date(day));
  }
  const asOf = new Date(/^as_of = "([^"]+)"/m.exec(data)?.[1]);
  const gemini = new Set(read('@google/genai/dist/genai.d.ts').match(/declare type Model_\d+ = "gem[^;]*;/)?.[0].match(/(?<=")[^"]+(?=")/g));
  if (known.size === 0 || gemini.size === 0 || anthropic === 0 || ends.size === anthropic || Number.isNaN(asOf.getTime())) {
    return ['the SDKs keep their lists of models elsewhere, or the data file has no day; mend check.mjs'];
  }
  const soon = new Date(asOf.getTime() + 60 * 24 * 3600 * 1000);
  const ours = data.split('[[model]]').slice(1);
  console.log(`${ours.length} models were looked up in the SDKs' lists`);
  return ours.flatMap((model) => {
    const [id, vendor] = ['id', 'provider'].map((name) => new RegExp(`^${name} = "([^"]+)"`, 'm').exec(model)[1]);
    if (ends.get(id) < soon) return [`models.toml: ${id} ends on ${ends.get(id).toISOString().slice(0, 10)}, says the SDK`];
    const lists = { anthropic: known, gemini };
    return lists[vendor]?.has(id) === false ? [`models.toml: the SDK does not know ${id} any more`] : [];
  });
}

function quoted(text = '') {
  return [...text.matchAll(/'([^']+)'/g)].map(([, word]) => word);
}
