// The words and deeds of a hostile model, in a real VS Code: all of it is text, and nothing runs.
// `node test/e2e/hostile.mjs --vsix FILE [--shots FOLDER] [--theme NAME]`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import * as steps from './steps.mjs';
import { startWorld } from './world.mjs';

const { values } = parseArgs({ options: { vsix: { type: 'string' }, shots: { type: 'string' }, theme: { type: 'string' } } });
const shots = path.resolve(values.shots ?? path.join(import.meta.dirname, '../../../../tests/artifacts/vscode-hostile'));
fs.mkdirSync(shots, { recursive: true });

const world = await startWorld({
  vsix: path.resolve(values.vsix),
  files: { 'lib.rs': 'fn first() {}\n' },
  settings: { 'workbench.colorTheme': values.theme ?? 'Default Dark Modern', 'files.autoSave': 'off', 'terminal.integrated.gpuAcceleration': 'off' },
});
const { page, model, project } = world;
let count = 0;
const shot = (name) => page.screenshot({ path: path.join(shots, `${String(++count).padStart(2, '0')}-${name}.png`) });
const told = (what) => console.log(`ok: ${what}`);

const beacon = `${model.url}/beacon`;
const script = `top.owned=1;self.owned=1;fetch('${beacon}')`;
/** The command would open a tab, which is seen. */
const link = 'command:workbench.action.files.newUntitledFile';
const markup = `<img src="${beacon}" onerror="${script}"><a href="${link}" onclick="${script}">here</a>`;
const icon = '$(flame)';
const bidi = 'user\u202egnp.exe\u202c \u2066x\u2069 a\u200bb \u{e0041}';
const escapes = '\u001b]0;owned\u0007\u001b]52;c;b3duZWQ=\u0007\u001b[2J\u009b31m';
/** Questions that an emulator would answer, as if the user had typed the answer. */
const questions = '\u001b[6n\u001b[c\u001b[>c\u001b]10;?\u0007\u001b]11;?\u001b\\\u001b[?25$p\u001b[5n\u001b[>q\u001bP$qm\u001b\\\u009b6n';

/** Nothing of ours or theirs has run, and nothing was loaded. */
async function nothingRan(frame) {
  for (const one of [page.mainFrame(), frame]) assert.equal(await one.evaluate(() => globalThis.owned), undefined);
  assert.deepEqual(model.strays.filter((address) => address.includes('beacon')), []);
  assert.equal(await page.locator('.tab[data-resource-name^="Untitled-"]').count(), 0);
}

try {
  const frame = await steps.openChat(world);
  await steps.status(world, /ready/);
  await frame.evaluate(() => {
    globalThis.violations = [];
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => globalThis.violations.push(`${violatedDirective} ${blockedURI}`));
  });

  model.add({
    text: [
      markup, `<script>${script}</script><iframe srcdoc="<script>${script}</script>"></iframe><style>body{display:none}</style><svg onload="${script}">`,
      `[run](${link}) <${link}> [it][it] [look](javascript:${encodeURIComponent(script)}) [file](file:///etc/passwd) ![beacon](${beacon})`, `[it]: ${link} "title"`,
      `# ${markup}`, `- ${markup}`, `| ${markup} |\n| --- |\n| ${markup} |`, `\`\`\`"><img src=x onerror=${script}>\n${markup}\n${bidi}\n\`\`\``,
      `${escapes} ${bidi}`, 'x'.repeat(1_000_000),
    ].join('\n\n'),
  });
  const began = Date.now();
  await steps.ask(world, `${icon} Say something evil. ${markup} ${bidi}`);
  await frame.locator('.entry.end').waitFor();
  console.log(`an answer with a line of 1 MB is there after ${Date.now() - began} ms`);
  const chat = frame.locator('#chat');
  assert.deepEqual(await chat.locator('img, script, iframe, style, svg, object, [onerror], [onclick], [style*="expression"]').count(), 0);
  const answer = frame.locator('.entry.answer');
  assert.equal(await answer.locator('a').count(), 0, 'no link that is not of the web is one');
  const said = await answer.innerText();
  for (const words of ['<script>', '<iframe', `run (${link})`, 'onerror=']) assert.ok(said.includes(words), `it says ${words}`);
  const marks = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/u;
  assert.deepEqual((await chat.innerText()).match(marks), null, 'what cannot be seen is shown as what it is');
  assert.ok(said.includes('\\u202egnp.exe'));
  assert.deepEqual(await frame.evaluate(() => globalThis.violations), [], 'nothing even tried');
  await nothingRan(frame);
  await frame.locator('.transcript').evaluate((list) => (list.scrollTop = 0));
  await shot('answer');
  told('markup, scripts, links to commands, escapes and marks of direction in an answer are text');

  await steps.azimuth(world, 'Open Session…');
  const picker = page.locator('.quick-input-widget:visible');
  await picker.locator('.monaco-list-row', { hasText: '$ (flame) Say' }).first().waitFor();
  assert.equal(await page.locator('.codicon-flame').count(), 0, 'a title is words, and no icon');
  await page.keyboard.press('Escape');

  // Texts that go deeper than a parser can, or take it minutes.
  model.add({ text: `deep\n\n${'>'.repeat(5_000)}\n\n${'1. '.repeat(5_000)}\n\n${'_a'.repeat(90_000)}` }, { text: 'Still here.' });
  await steps.ask(world, 'Say something deep.');
  await frame.locator('.entry.end').nth(1).waitFor();
  await steps.ask(world, 'Are you still there?');
  await frame.locator('.entry.answer', { hasText: 'Still here.' }).waitFor();
  await steps.command(world, 'View: Toggle Secondary Side Bar Visibility');
  await steps.until('the end of the chat', () => frame.isDetached());
  const opened = await steps.openChat(world);
  await opened.locator('.entry.answer', { hasText: 'Still here.' }).waitFor();
  assert.ok((await opened.locator('.entry.answer').nth(1).innerText()).startsWith('deep'));
  told('a text that a parser cannot take is shown all the same, with what comes after it and when the chat is opened again');

  // A question that stands in a notification too, since the chat is not to be seen.
  await steps.command(world, 'View: Toggle Secondary Side Bar Visibility');
  model.add(
    { calls: [{ tool: 'shell_run', input: { command: `printf '%s' '${escapes} [free money](${link}) ${bidi}' # [click](${link})` } }] },
    { text: `[done](${link})` },
  );
  await steps.ask(world, 'Ask me something evil.');
  const notice = page.locator('.notification-toast .notification-list-item', { hasText: 'free money' });
  await notice.waitFor();
  await page.locator('.notifications-toasts.visible .notification-toast.notification-fade-in-done').first().waitFor();
  await shot('notice');
  assert.equal(await notice.locator('.notification-list-item-message a').count(), 0, 'a link in a notice would run a command of VS Code');
  assert.equal((await notice.innerText()).match(marks), null);
  await notice.getByRole('button', { name: 'Allow once' }).click();
  await steps.status(world, /ready/);
  await steps.openTerminal(world);
  await steps.terminalShows(world, 'free money');
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()).catch(() => ''), '', 'the clipboard is the user’s');
  assert.ok(!(await page.title()).includes('owned'));
  await shot('terminal');
  told('a command in a question and its output change neither the window nor the clipboard');

  model.add({ calls: [{ tool: 'shell_run', input: { command: `printf '%s' '${questions}'; IFS= read -rs -t 3 -n 1 typed; echo "then \${typed:-nothing} was typed"` } }] }, { text: 'Done.' });
  await steps.ask(world, 'Ask the terminal.');
  await steps.answer(world, 'Allow once');
  await steps.terminalShows(world, 'then nothing was typed');
  await steps.status(world, /ready/);
  told('what a command asks the terminal is not answered to the shell');

  const name = `${icon} <img src=x onerror=alert(1)> [x](${link.replaceAll('/', '')}) \u202egnp.md`;
  model.add({ calls: [{ tool: 'edit_create_file', input: { path: name, content: `${markup}\n${bidi}\n` } }] }, { text: 'Proposed.' });
  await steps.ask(world, 'Propose something evil.');
  await steps.pendingHunks(world, 1);
  const again = await steps.openChat(world);
  await again.locator('.changes .row.head').waitFor();
  assert.equal(await again.locator('#chat').locator('img, script, iframe').count(), 0);
  assert.equal((await again.locator('#chat').innerText()).match(marks), null);
  await steps.openReview(world);
  await shot('review');
  const tree = page.locator('.pane', { has: page.locator('.pane-header[aria-label^="Review"]') });
  assert.match(await tree.innerText(), /\$\(flame\) <img src=x/);
  assert.equal(await page.locator('.codicon-flame').count(), 0);
  for (const place of [tree, page.locator('.tab.active')]) {
    assert.equal(await place.locator('img[src="x"]').count(), 0);
    assert.equal((await place.innerText()).match(marks), null, 'a name is not turned round');
  }
  await nothingRan(again);
  await steps.azimuth(world, 'Accept All Hunks');
  await steps.pendingHunks(world, 0);
  await steps.until('both files on disk', () => fs.readdirSync(project).length === 2);
  told('names and texts of files are text in the review');

  await steps.azimuth(world, 'Undo Last Turn');
  await picker.locator('.monaco-list-row', { hasText: '$ (flame) <img src=x' }).waitFor();
  await shot('undo');
  assert.equal(await page.locator('.codicon-flame').count(), 0);
  assert.equal((await picker.innerText()).match(marks), null);
  await page.keyboard.press('Enter');
  const taken = again.locator('.entry.files', { hasText: 'Undone: 1 file.' });
  await taken.locator('summary').click();
  await taken.getByText('undone', { exact: true }).waitFor();
  assert.equal((await taken.innerText()).match(marks), null);
  assert.equal(await taken.locator('img').count(), 0);
  await nothingRan(again);
  assert.deepEqual(fs.readdirSync(project), ['lib.rs']);
  told('they are text where they are taken back, too');
} catch (error) {
  await shot('failure').catch(() => {});
  throw error;
} finally {
  await world.stop();
}
console.log(`screenshots: ${shots}`);
