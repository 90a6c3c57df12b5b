// How the panel looks in a real VS Code: each state in three themes where it is narrow, with axe-core's word, and in one
// where it is wide; with `--all`, wide in each theme too.
// `node test/e2e/looks.mjs --vsix FILE [--shots FOLDER] [--all]`; with `--images FOLDER`, the pictures of the documentation instead.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { playSession } from './plain.mjs';
import * as steps from './steps.mjs';
import { startWorld } from './world.mjs';

const { values } = parseArgs({ options: { vsix: { type: 'string' }, shots: { type: 'string' }, images: { type: 'string' }, all: { type: 'boolean' } } });
const shots = path.resolve(values.images ?? values.shots ?? path.join(import.meta.dirname, '../../../../tests/artifacts/vscode-looks'));
fs.mkdirSync(shots, { recursive: true });

const themes = {
  dark: { name: 'Dark Modern', page: 'vs-dark', chat: 'vscode-dark' },
  light: { name: 'Light Modern', page: 'vs', chat: 'vscode-light' },
  contrast: { name: 'Dark High Contrast', page: 'hc-black', chat: 'vscode-high-contrast' },
};
const sizes = { narrow: { width: 1000, height: 760, chat: 300 }, wide: { width: 1920, height: 1000, chat: 640 } };
const settings = {
  'files.autoSave': 'off', 'terminal.integrated.gpuAcceleration': 'off', 'editor.minimap.enabled': false,
  // The folders of a test would stand there.
  'breadcrumbs.filePath': 'last', 'terminal.integrated.tabs.enabled': false,
  'editor.occurrencesHighlight': 'off', 'typescript.disableAutomaticTypeAcquisition': true, 'workbench.colorTheme': 'Default Dark Modern',
};

const before = `export function greet(name) {
  return 'Hello ' + name;
}

export function leave(name) {
  return 'Bye ' + name;
}

export function meet(names) {
  return names.map((name) => greet(name)).join(', ');
}
`;
const edit = (old_text, new_text) => ({ tool: 'edit_replace_exact', input: { path: 'greeter.mjs', old_text, new_text } });
const greeting = [
  'All of it is in `greeter.mjs`:', '',
  '| function | says |', '| --- | --- |', '| `greet` | Hello, to one |', '| `leave` | Bye, to one |', '| `meet` | Hello, to **all** |', '',
  '```js', 'export function greet(name) {', '  return `Hello, ${name}! 👋`; // with a wave', '}', '```', '',
  '1. Give each a wave.', '2. Try it.',
].join('\n');
const look = (turn) => [
  { text: `I look what \`greet\` does, for the ${turn}th time.`, calls: [{ tool: 'read_file', input: { path: 'greeter.mjs' } }, { tool: 'search_text', input: { query: 'name' } }] },
  { thinking: 'It may have changed.', text: greeting },
];

const world = await startWorld({
  vsix: path.resolve(values.vsix),
  name: 'greeter',
  files: {
    'greeter.mjs': before,
    'main.mjs': "import { createInterface } from 'node:readline/promises';\nimport { greet } from './greeter.mjs';\n\nconst terminal = createInterface(process.stdin, process.stdout);\nconsole.log(greet(await terminal.question('Who is there? ')));\nterminal.close();\n",
    'README.md': '# Greeter\n\nGreets.\n',
  },
  settings,
  answers: values.images ? [] : Array.from({ length: 12 }, (_, turn) => look(turn)).flat(),
  prepare: async (place) => {
    // The project's own program is asked for, to show the question.
    fs.writeFileSync(place.env.AZIMUTH_CONFIG, `project_commands = false\n${fs.readFileSync(place.env.AZIMUTH_CONFIG, 'utf8')}`);
    if (!values.images) await playSession(place, Array.from({ length: 12 }, (_, turn) => `What does @greeter.mjs do? I ask for the ${turn}th time.`));
  },
});
const { page, model } = world;
const told = (what) => console.log(`ok: ${what}`);
const shot = async (name) => {
  // No tip of a button in the picture, and no border that is held.
  await page.mouse.move(400, 5);
  await page.locator('.monaco-hover:visible, .monaco-sash.hover, .monaco-sash.active').first().waitFor({ state: 'detached' });
  await page.locator('.statusbar-item', { hasText: /Activating|Fetching/ }).waitFor({ state: 'detached' });
  await page.screenshot({ path: path.join(shots, `${name}.png`) });
};

/** Puts on a theme, by the command. */
async function dress(theme) {
  const { name, page: pageClass, chat } = themes[theme];
  if (await page.locator(`.monaco-workbench.${pageClass}`).count() === 0) {
    await steps.command(world, 'Preferences: Color Theme');
    await page.locator('.quick-input-widget:visible input.input').fill(name);
    await page.locator('.quick-input-list .monaco-list-row.focused', { hasText: name }).waitFor();
    await page.keyboard.press('Enter');
    await page.locator(`.monaco-workbench.${pageClass}`).waitFor();
  }
  await (await steps.chatFrame(world)).locator(`body.${chat}`).waitFor();
}

async function resize({ width, height, chat }) {
  await page.setViewportSize({ width, height });
  await steps.until('the width of the chat', async () => {
    await steps.widenChat(world, chat);
    return Math.abs((await page.locator('.part.auxiliarybar').boundingBox()).width - chat) < 40;
  });
}

/** Pictures of the state that is shown now. */
async function looks(state, begin = async () => {}) {
  for (const [size, measures] of Object.entries(sizes)) {
    await resize(measures);
    // To put on a theme takes a second or more, so the wide picture is in the one that the last narrow one had.
    for (const theme of Object.keys(themes).slice(size === 'narrow' || values.all ? 0 : -1)) {
      await dress(theme);
      await begin();
      // The chat's own story does it in the dark theme.
      if (size === 'narrow' && theme !== 'dark') await steps.noSeriousFault(await steps.chatFrame(world), `${state}, ${theme}`);
      await shot(`${state}-${theme}-${size}`);
    }
  }
  told(`${state}, in every theme, narrow and wide`);
}

/** The question for the command that greets, and what it needs. */
async function askToGreet() {
  model.add({ text: 'I try it. ', calls: [{ tool: 'shell_run', input: { command: 'node main.mjs' } }] }, { text: 'It greets.' });
  await steps.ask(world, 'Try it.');
  await (await steps.chatFrame(world)).locator('.entry.question.open').waitFor();
}

async function giveName() {
  await steps.openTerminal(world);
  await steps.terminalShows(world, 'Who is there?');
  await page.keyboard.type('Ada');
  await page.keyboard.press('Enter');
  await steps.terminalShows(world, 'Hello');
  await steps.status(world, /^(?!.*(works|asks))/s);
}

async function proposeWaves() {
  model.add(
    { text: 'I read it again, and propose them.', calls: [{ tool: 'read_file', input: { path: 'greeter.mjs' } }] },
    { calls: [edit("'Hello ' + name", '`Hello, ${name}! 👋`'), edit("'Bye ' + name", '`Bye, ${name}! 👋`'), edit(".join(', ')", ".join('\\n')")] },
    { text: 'Three changes are **proposed**:\n\n1. `greet` waves.\n2. `leave` waves too.\n3. `meet` greets each on a line of their own.\n\nNothing is written before you accept it.' },
  );
  await steps.ask(world, 'Give each greeting a wave.');
  await steps.pendingHunks(world, 3);
  await steps.openReview(world);
}

try {
  await steps.openFile(world, 'greeter.mjs');
  const frame = await steps.openChat(world);
  await steps.status(world, /ready/);
  if (values.images) await takeImages(frame);
  else await takeLooks(frame);
} catch (error) {
  await shot('failure').catch(() => {});
  throw error;
} finally {
  await world.stop();
}
console.log(`screenshots: ${shots}`);

async function takeLooks(frame) {
  await frame.locator('.beginnings button', { hasText: 'Explain greeter.mjs' }).waitFor();
  await frame.locator('.beginnings button', { hasText: 'What does' }).first().waitFor();
  await looks('empty');

  await steps.choose(world, 'Open Session…', 'What does');
  await frame.locator('.entry.answer', { hasText: 'for the 11th time' }).waitFor();
  await looks('long');

  await askToGreet();
  await looks('question');
  await steps.answer(world, 'Allow once');
  await frame.locator('.waiting').waitFor();
  await looks('waits');
  await giveName();
  await looks('terminal');

  await proposeWaves();
  await looks('review');
  await steps.azimuth(world, 'Accept All Hunks');
  await steps.pendingHunks(world, 0);

  const link = 'command:workbench.action.files.newUntitledFile';
  model.add({ text: `# <b onclick="x()">bold</b> [run](${link})\n\n<script>alert(1)</script> user\u202egnp.exe \u001b[31mred\u001b[0m\n\n${'x'.repeat(3_000)}\n\n| <img src=x> | ${'wide '.repeat(40)} |\n| --- | --- |\n| 1 | ${'y'.repeat(300)} |\n\n\`\`\`html\n<script>${'z'.repeat(300)}</script>\n\`\`\`\n` });
  await steps.ask(world, `<img src=x onerror=alert(1)> ${'w'.repeat(200)}`);
  await frame.locator('.entry.answer', { hasText: 'gnp.exe' }).waitFor();
  await steps.status(world, /ready/);
  await looks('hostile', () => frame.locator('.entry.prompt', { hasText: '<img' }).evaluate((entry) => entry.scrollIntoView({ block: 'start' })));
}

async function takeImages(frame) {
  await resize({ width: 1440, height: 860, chat: 420 });
  // Shown later, its new size would have the prompt drawn anew, and the command would look busy for that long.
  await steps.openTerminal(world);
  await askToGreet();
  await steps.answer(world, 'Allow once');
  await steps.terminalShows(world, 'Who is there?');
  await frame.locator('.waiting').waitFor();
  await shot('vscode-shell');
  await giveName();
  await proposeWaves();
  await shot('vscode');
  await steps.azimuth(world, 'Accept All Hunks');
  await steps.pendingHunks(world, 0);

  await dress('light');
  await steps.command(world, 'View: Hide Panel');
  await steps.azimuth(world, 'New Session');
  await frame.locator('.header', { hasText: 'New conversation' }).waitFor();
  await resize({ width: 1440, height: 860, chat: 640 });
  model.add({ calls: [{ tool: 'read_file', input: { path: 'greeter.mjs' } }, { tool: 'search_text', input: { query: 'name' } }] }, { text: greeting });
  await frame.locator('textarea').click();
  await page.keyboard.type('What does @greeter.mjs say?');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Enter');
  await frame.locator('.entry.end').waitFor();
  await steps.openFile(world, 'README.md');
  await steps.azimuth(world, 'Add File to Chat');
  await frame.locator('.chip', { hasText: 'README.md' }).waitFor();
  await frame.locator('textarea').click();
  await page.keyboard.type('/hel');
  await frame.locator('#completions li', { hasText: '/help' }).waitFor();
  await shot('vscode-chat');
  told('the pictures of the documentation are taken');
}
