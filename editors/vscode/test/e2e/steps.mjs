// Steps of the story in a real VS Code, to be put together by tests. Each takes the world of `world.mjs`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { webview } from '../../../../tests/tools/vscode-smoke.mjs';

/** Runs a command by its full title from the command palette. It may take a while until the command can be run. */
export async function command(world, title) {
  const { page } = world;
  const input = page.locator('.quick-input-widget:visible input.input');
  const row = page.locator('.quick-input-list .monaco-list-row').filter({ hasText: title }).first();
  await insist(world, `the command ${title}`, async () => {
    // A key that is pressed while a webview loads reaches nobody.
    await page.keyboard.press('F1');
    const timeout = 2_000 * contending();
    await input.waitFor({ timeout });
    await write(input, `>${title}`, { timeout });
    await row.waitFor({ timeout });
    await row.click({ timeout });
  });
}

/**
 * Writes into the input of a list. What is typed goes to whoever has the keyboard by then, which is an editor if the list was closed
 * meanwhile; this goes to the input or fails.
 */
async function write(input, text, options) {
  await input.evaluate((element, value) => {
    element.value = value;
    element.dispatchEvent(new Event('input', { bubbles: true }));
  }, text, options);
}

/** Tries until it succeeds what is done in a list. A list that is left open by an attempt is closed. */
async function insist({ page }, what, attempt) {
  let problem;
  await until(what, async () => {
    try {
      await attempt();
      return true;
    } catch (error) {
      problem = error;
      await page.keyboard.press('Escape');
      return false;
    }
  }, 60_000, async () => `${problem?.message}; the keyboard is at ${await keyboardAt(page)}`);
}

/** Which element of which frame has the keyboard. */
async function keyboardAt(page) {
  const frames = page.frames().map((frame) => frame.evaluate(() => {
    const { activeElement: element } = document;
    return document.hasFocus() ? `${location.host} ${element?.tagName}.${element?.className}` : '';
  }).catch(() => ''));
  return (await Promise.all(frames)).filter((place) => place !== '').join(' > ');
}

/** Runs a command of ours by its title. */
export async function azimuth(world, title) {
  await command(world, `Azimuth: ${title}`);
}

/**
 * Runs a command of ours that shows a list, and chooses the row that holds `text`. A list that something closes meanwhile by taking
 * the keyboard, such as a webview that has loaded, is shown anew. Gives what the list says of itself.
 */
export async function choose(world, title, text) {
  const { page } = world;
  const row = page.locator('.quick-input-list .monaco-list-row').filter({ hasText: text }).first();
  let said;
  await insist(world, `"${text}" in the list of ${title}`, async () => {
    await azimuth(world, title);
    await row.waitFor({ timeout: 10_000 });
    said = await page.locator('.quick-input-widget:visible input.input').getAttribute('placeholder', { timeout: 2_000 });
    await row.click({ timeout: 2_000 });
  });
  return said ?? '';
}

/** Shows the chat. It takes the keyboard once its page has loaded, and with it closes whatever list was opened meanwhile. Gives its frame. */
export async function openChat(world) {
  await azimuth(world, 'Open Chat');
  return keyboardInPrompt(world);
}

/** Begins a conversation. The prompt takes the keyboard for it, from whatever in the chat has got it by then. */
export async function newSession(world) {
  await azimuth(world, 'New Session');
  await (await chatFrame(world)).locator('.header', { hasText: 'New conversation' }).waitFor();
  await keyboardInPrompt(world);
}

/** Waits until the prompt of the chat has the keyboard. Gives the chat's frame. */
async function keyboardInPrompt(world) {
  return until('the keyboard in the chat', async () => {
    const frame = await chatFrame(world);
    const there = await frame.evaluate(() => document.hasFocus() && document.activeElement?.tagName === 'TEXTAREA').catch(() => false);
    return there ? frame : undefined;
  }, 60_000, async () => `it is at ${await keyboardAt(world.page)}`);
}

/** Opens a file of the project in an editor. */
export async function openFile({ page }, name) {
  const input = page.locator('.quick-input-widget:visible input.input');
  const row = page.locator('.quick-input-list .monaco-list-row').filter({ hasText: path.basename(name) }).first();
  await until(`the file ${name} in the list`, async () => {
    // Whatever takes the keyboard meanwhile, such as a diff that closes, closes the list.
    await page.keyboard.press('Control+p');
    try {
      await write(input, name, { timeout: 2_000 });
      await row.click({ timeout: 2_000 });
      return true;
    } catch {
      // The list that was made before the file was there would not be made again.
      await page.keyboard.press('Escape');
      return false;
    }
  });
  await page.locator(`.tab[data-resource-name="${path.basename(name)}"].active`).waitFor();
  const group = page.locator('.editor-group-container.active', { has: page.locator(`.tab[data-resource-name="${path.basename(name)}"].active`) });
  await until(`the keyboard in ${name}`, async () => (await group.locator('.monaco-editor.focused').count()) > 0, 30_000, async () => `it is at ${await keyboardAt(page)}`);
}

/** Puts text at the very start of the editor that has the keyboard. */
export async function typeAtStart({ page }, text) {
  await page.keyboard.press('Control+Home');
  await page.keyboard.insertText(text);
}

/** Goes to a place in the editor that has the keyboard: its line and column, from 1, such as `4:20`. */
export async function goTo({ page }, place) {
  await page.keyboard.press('Control+g');
  await write(page.locator('.quick-input-widget:visible input.input'), `:${place}`);
  await page.keyboard.press('Enter');
  await page.locator('.editor-instance .monaco-editor.focused').first().waitFor();
}

/** Chooses a code action at the cursor by the keyboard; `look` is done while the menu is open. */
export async function codeAction({ page }, title, look = async () => {}) {
  const menu = page.locator('.action-widget');
  const row = menu.locator('.monaco-list-row', { hasText: title });
  await until(`"${title}" in the menu`, async () => {
    // One that opens while the editor still draws what it was told of is closed again. In an open one the key chooses.
    await page.keyboard.press('Control+.');
    if (await row.first().waitFor({ timeout: 15_000 }).then(() => true, () => false)) return true;
    await page.keyboard.press('Escape');
    await menu.locator('.monaco-list-row').first().waitFor({ state: 'hidden' });
    return false;
  }, 90_000, async () => `there is ${await menu.allTextContents()}`);
  await look();
  await until(`"${title}" to be marked`, async () => {
    if (await menu.locator('.monaco-list-row.focused', { hasText: title }).count()) return true;
    await page.keyboard.press('ArrowDown');
    return false;
  });
  await page.keyboard.press('Enter');
  await row.first().waitFor({ state: 'hidden' });
}

/** The text of the editor that has the keyboard, as the editor holds it. */
export async function bufferText({ page }) {
  await page.evaluate(() => navigator.clipboard.writeText(''));
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Control+c');
  return until('the text of the editor', () => page.evaluate(() => navigator.clipboard.readText()));
}

/** Gives a prompt without the chat. */
export async function ask(world, text) {
  const { page } = world;
  await azimuth(world, 'Ask…');
  const input = page.locator('.quick-input-widget:visible input.input');
  await page.locator('.quick-input-widget:visible .quick-input-title', { hasText: 'Azimuth' }).waitFor();
  await write(input, text);
  await page.keyboard.press('Enter');
}

/** Waits for a question and answers it with the option of which the name holds `option`. Gives what was asked. */
export async function answer(world, option) {
  await status(world, /asks you/);
  return choose(world, 'Answer Question…', option);
}

/** Waits until our status bar item says this, and gives all it says. */
export async function status({ page }, pattern, timeout = 30_000) {
  const item = page.locator('.statusbar-item[id$="azimuth.status"]');
  return until(`the status ${pattern}`, async () => {
    const [label] = await item.evaluateAll((items) => items.map((one) => `${one.textContent} | ${one.querySelector('a')?.getAttribute('aria-label')}`));
    return label !== undefined && pattern.test(label) ? label : undefined;
  }, timeout, async () => `it is ${(await item.count()) ? await item.evaluate((element) => element.outerHTML) : "not there"}`);
}

/** Waits until as many hunks wait for a decision, and no turn runs. */
export async function pendingHunks(world, count) {
  const words = count === 0 ? /^(?!.*(hunk|works|asks))/s : new RegExp(`^(?!.*works).*${count} ${count === 1 ? 'hunk waits' : 'hunks wait'}`, 's');
  return status(world, words);
}

/** Shows the terminal of the session, with the keyboard in it. */
export async function openTerminal(world) {
  await azimuth(world, 'Show Terminal');
  await world.page.locator('.terminal-wrapper.active .xterm').waitFor();
}

/** Waits until the terminal shows a text. */
export async function terminalShows({ page }, text) {
  const rows = page.locator('.terminal-wrapper.active .xterm-rows, .terminal-wrapper.active .xterm-accessibility-tree');
  return until(`"${text}" in the terminal`, async () => {
    const shown = (await rows.allTextContents()).join('\n').replaceAll('\u00a0', ' ');
    return shown.includes(text) ? shown : undefined;
  }, 30_000, async () => `it shows ${JSON.stringify((await rows.allTextContents()).join('\n'))}`);
}

/** Shows the review of the first file that waits, and waits for its diff. */
export async function openReview(world) {
  await azimuth(world, 'Review Changes');
  await world.page.locator('.monaco-diff-editor .editor.modified .monaco-editor.focused .view-line').first().waitFor();
}

/** Closes the active tab. */
export async function closeTab(world) {
  await command(world, 'View: Close Editor');
}

/** A key of ours: `g` for Ctrl+K G. */
export async function chord({ page }, key) {
  await page.keyboard.press('Control+k');
  await page.keyboard.press(key);
}

/** Ends the server of this world the hard way. Gives its process id. */
export async function killServer({ server }) {
  const pid = await until('the process of the server', () => serverPid(server.dir));
  process.kill(pid, 'SIGKILL');
  return pid;
}

/** The process id of the server that the extension of this code-server started. */
export function serverPid(dir) {
  for (const name of fs.readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const [program] = fs.readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      if (program.startsWith(dir) && program.endsWith('/server/azimuth')) return Number(name);
    } catch { /* it has ended */ }
  }
  return undefined;
}

/** The commands of the processes that a process started, and those started. */
export function descendants(pid) {
  const all = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap((name) => {
    try {
      // The name of a program, in brackets, may hold anything.
      const [, parent] = fs.readFileSync(`/proc/${name}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ');
      return [{ pid: Number(name), parent: Number(parent), command: fs.readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ') }];
    } catch {
      return []; // it has ended
    }
  });
  const below = (of) => all.filter(({ parent }) => parent === of).flatMap((one) => [one.command, ...below(one.pid)]);
  return below(pid);
}

/** The frame of the chat. */
export async function chatFrame({ page }) {
  return webview(page, '#chat');
}

/** Gives the chat so many pixels of the window's width, by default half of it. */
export async function widenChat({ page }, pixels = page.viewportSize().width / 2) {
  const { x, y, height } = await page.locator('.part.auxiliarybar').boundingBox();
  await page.mouse.move(x - 2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(page.viewportSize().width - pixels, y + height / 2, { steps: 10 });
  await page.mouse.up();
}

/** Fails where axe-core finds a serious fault in the chat as it is now. */
export async function noSeriousFault(frame, state) {
  // Evaluated, since the page itself loads no script but its own.
  if (!await frame.evaluate(() => 'axe' in globalThis)) {
    await frame.evaluate(fs.readFileSync(path.join(import.meta.dirname, '../../node_modules/axe-core/axe.min.js'), 'utf8'));
  }
  const { violations } = await frame.evaluate(() => globalThis.axe.run(document.querySelector('#chat')));
  const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  const said = ({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html} ${node.any.map(({ message }) => message).join(' ')}`).join('\n')}`;
  assert.deepEqual(grave.map(said), [], `axe-core finds serious faults ${state}`);
}

/** Drags a file from the Explorer to a place in a webview, with Shift, as VS Code wants it there. */
export async function dragFile({ page }, name, to) {
  const from = page.locator('.explorer-folders-view .monaco-list-row', { hasText: name });
  await from.waitFor();
  const middle = ({ x, y, width, height }) => [x + width / 2, y + height / 2];
  const [start, end] = [middle(await from.boundingBox()), middle(await to.boundingBox())];
  await page.mouse.move(...start);
  await page.mouse.down();
  await page.keyboard.down('Shift');
  await page.mouse.move(start[0] + 20, start[1] + 5, { steps: 5 });
  await page.mouse.move(...end, { steps: 20 });
  await page.mouse.move(end[0] + 2, end[1], { steps: 5 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
}

/**
 * Fails where something took more than ten times what is wanted, in the same unit.
 *
 * A time is what the clock says, so it is shared out among the programs that contend for a core in the last minute.
 */
export function within(what, took, wanted) {
  const share = contending();
  assert.ok(took <= 10 * wanted * share, `${what} took ${took}, and ${wanted} is wanted; ${share.toFixed(1)} programs for each core`);
}

/** How many programs have contended for a core in the last minute: at least 1. */
function contending() {
  return Math.max(1, os.loadavg()[0] / os.availableParallelism());
}

/**
 * Waits until `look` gives something that is neither undefined nor empty. The time is for something that hangs, so a program that has to
 * share the cores is given as many times that.
 */
export async function until(what, look, timeout = 30_000, explain = async () => '') {
  // Each look keeps the browser busy, which may have much else to do.
  for (let began = Date.now(), pause = 20; ; pause = Math.min(1.5 * pause, 300)) {
    const found = await look();
    if (found !== undefined && found !== '' && found !== false) return found;
    if (Date.now() - began > timeout * contending()) throw new Error(`${what} did not come within ${timeout} ms; ${await explain()}`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/**
 * Clicks an action in the line above a hunk, once that line is drawn for good: VS Code draws it anew a moment after each change
 * of the text or of what is proposed, and forgets a click that it gets in between.
 */
export async function clickLens(locator) {
  const lens = await until('the line above a hunk at rest', async () => {
    const element = await locator.elementHandle();
    await locator.page().waitForTimeout(1_000);
    return (await element.evaluate((it) => it.isConnected)) ? element : undefined;
  });
  await lens.click();
}
