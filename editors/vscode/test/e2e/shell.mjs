// Commands in a real VS Code, by keyboard: what they print and wait for, jobs, the user's own, modes and permissions.
// `node test/e2e/shell.mjs --vsix FILE [--shots FOLDER] [--theme NAME]`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import * as steps from './steps.mjs';
import { startWorld } from './world.mjs';

const { values } = parseArgs({ options: { vsix: { type: 'string' }, shots: { type: 'string' }, theme: { type: 'string' } } });
const shots = path.resolve(values.shots ?? path.join(import.meta.dirname, '../../../../tests/artifacts/vscode-shell'));
fs.mkdirSync(shots, { recursive: true });

/** Where the sandbox lets nothing be written. */
const elsewhere = path.join(os.homedir(), `azimuth-e2e-${process.pid}.txt`);
const SECRET = 'a-word-that-nobody-may-keep';
const world = await startWorld({
  vsix: path.resolve(values.vsix),
  files: { 'one.txt': 'one\n', 'two.txt': 'two\n' },
  settings: { 'workbench.colorTheme': values.theme ?? 'Default Dark Modern', 'files.autoSave': 'off', 'terminal.integrated.gpuAcceleration': 'off' },
});
const { page, model, project, home } = world;
let count = 0;
const shot = (name) => page.screenshot({ path: path.join(shots, `${String(++count).padStart(2, '0')}-${name}.png`) });
const told = (what) => console.log(`ok: ${what}`);
const row = (text) => page.locator('.quick-input-list .monaco-list-row').filter({ hasText: text }).first();
const dialog = page.locator('.monaco-dialog-box');
let frame;
let said = 0;

/** Has the model call a tool, and then say something. Gives what the chat shows of the call. */
async function call(tool, input) {
  const word = `Call number ${++said}.`;
  model.add({ calls: [{ tool, input }] }, { text: word });
  const before = await frame.locator('.entry.tool').count();
  const text = frame.locator('textarea');
  await text.click();
  await text.fill(`Do the ${said}th.`);
  await text.press('Enter');
  const entry = frame.locator('.entry.tool').nth(before);
  await entry.waitFor();
  return { entry, live: entry.locator('.live-command'), end: () => frame.locator('.entry.answer', { hasText: word }).waitFor() };
}

/** Allows what is asked, where something is, until `come` is there. */
async function allowUntil(come) {
  await steps.until('what was asked for', async () => {
    if (await come.count()) return true;
    if (await frame.locator('.entry.question.open .answers button').count()) {
      await frame.locator('.entry.question.open .answers button').first().focus();
      await page.keyboard.press('Enter');
      await frame.locator('.entry.question.open').waitFor({ state: 'detached' });
    }
    return false;
  });
}

/** Presses a button as a keyboard does. */
async function press(button) {
  await button.focus();
  await page.keyboard.press('Enter');
}

/** The processes whose command line holds a text. */
function processes(text) {
  return fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name)).filter((pid) => {
    try {
      return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').includes(text);
    } catch {
      return false;
    }
  });
}

/** Asks for what the sandbox has refused. */
async function goOutside() {
  const { entry } = await call('shell_run', { command: `touch ${elsewhere} && echo made it`, outside: true, why: 'The sandbox refused to write elsewhere.' });
  const question = frame.locator('.entry.question.open.about-outside');
  await question.waitFor();
  assert.match(await question.innerText(), /refused to write elsewhere/);
  await shot('outside');
  await steps.noSeriousFault(frame, 'with a question about the outside');
  await press(question.locator('.answers button').first());
  await entry.locator('.mark.done').waitFor();
  assert.ok(fs.existsSync(elsewhere));
  await press(entry.getByRole('button', { name: /^Show the terminal/ }));
  await steps.terminalShows(world, 'made it');
  await page.locator('.part.panel').getByText('outside the sandbox').first().waitFor();
  await shot('outside-terminal');
  await steps.status(world, /^(?!.*(works|asks))/s);
  told('what the sandbox refuses is asked for, and runs in a second shell');
}

async function freePort() {
  const server = net.createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

try {
  await steps.openFile(world, 'one.txt');
  frame = await steps.openChat(world);
  await steps.status(world, /ready/);
  await steps.widenChat(world, 520);

  // The output of a command, as it comes, even in a chat that draws so slowly that the output is there before the command's card.
  {
    await frame.evaluate(() => {
      const soon = requestAnimationFrame;
      globalThis.requestAnimationFrame = (draw) => setTimeout(() => soon(draw), 1_500);
      globalThis.quick = () => (globalThis.requestAnimationFrame = soon);
    });
    const { live, end } = await call('shell_run', { command: 'for i in 1 2 3; do echo "line $i"; done; until [ -e go ]; do sleep 0.1; done; echo over' });
    await allowUntil(live.locator('.tail', { hasText: 'line 3' }));
    await frame.evaluate(() => void globalThis.quick());
    await press(live.getByRole('button', { name: /^Show the terminal/ }));
    await steps.terminalShows(world, 'line 3');
    await shot('streams');
    await steps.noSeriousFault(frame, 'while a command runs');
    fs.writeFileSync(path.join(project, 'go'), '');
    await steps.terminalShows(world, 'over');
    await end();
    await live.waitFor({ state: 'hidden' });
    told('what a command prints comes into its card and its terminal while it runs');
  }

  // A command that waits, answered in its card.
  {
    const { entry, live } = await call('shell_run', { command: 'read -p "name? " name && echo "hello $name"' });
    await allowUntil(live.locator('.waiting.certain'));
    await live.getByText('name?').first().waitFor();
    await steps.status(world, /waits for input/);
    await shot('waits');
    await steps.noSeriousFault(frame, 'while a command waits');
    await live.locator('.reply input').focus();
    await page.keyboard.type('Ada');
    await page.keyboard.press('Enter');
    await steps.terminalShows(world, 'hello Ada');
    await entry.locator('.typed', { hasText: 'You typed: Ada' }).waitFor();
    await live.locator('.waiting').waitFor({ state: 'detached' });
    await steps.status(world, /^(?!.*(works|waits))/s);
    told('a command that waits says so, and is answered in its card');
  }

  // Another one, answered in the terminal.
  {
    const { live } = await call('shell_run', { command: 'read -p "colour? " colour && echo "you like $colour"' });
    await allowUntil(live.locator('.waiting.certain'));
    await press(live.getByRole('button', { name: /^Answer in the terminal/ }));
    await steps.terminalShows(world, 'colour?');
    await page.locator('.terminal-wrapper.active .xterm.focus, .terminal-wrapper.active.focused').first().waitFor();
    await page.keyboard.type('green');
    await page.keyboard.press('Enter');
    await steps.terminalShows(world, 'you like green');
    await live.locator('.waiting').waitFor({ state: 'detached' });
    await steps.status(world, /^(?!.*(works|waits))/s);
    told('another is answered in its terminal');
  }

  // Text that is typed unseen is for the terminal alone.
  {
    const { entry, live } = await call('shell_run', { command: 'read -s -p "password? " word && echo "it has ${#word} letters"' });
    await allowUntil(live.getByText('as for a password'));
    assert.ok(await live.locator('.reply').isHidden(), 'there is no field for it in the chat');
    await shot('hidden');
    await press(live.getByRole('button', { name: /^Answer in the terminal/ }));
    await steps.terminalShows(world, 'password?');
    await page.locator('.terminal-wrapper.active .xterm.focus, .terminal-wrapper.active.focused').first().waitFor();
    await page.keyboard.type(SECRET);
    await page.keyboard.press('Enter');
    await steps.terminalShows(world, `it has ${SECRET.length} letters`);
    await entry.locator('.typed', { hasText: 'not shown' }).waitFor();
    await steps.status(world, /^(?!.*(works|waits))/s);
    assert.ok(!JSON.stringify(model.asked).includes(SECRET), 'the model is not told');
    const kept = fs.readdirSync(home, { recursive: true, withFileTypes: true }).filter((file) => file.isFile())
      .map((file) => path.join(file.parentPath, file.name)).filter((file) => fs.readFileSync(file).includes(SECRET));
    assert.deepEqual(kept, [], 'it is in no file');
    told('a password is typed in the terminal, and is neither kept nor told');
  }

  // Take over and hand back.
  {
    const { live } = await call('shell_run', { command: 'read -p "first? " a; read -p "second? " b; echo "$a and $b"' });
    await allowUntil(live.locator('.waiting.certain'));
    await press(live.getByRole('button', { name: /^Take over/ }));
    await live.locator('.taken').waitFor();
    await page.locator('.terminal-outer-container, .part.panel').getByText('yours').first().waitFor();
    await shot('taken');
    await steps.noSeriousFault(frame, 'while a terminal is taken over');
    await page.keyboard.type('alpha');
    await page.keyboard.press('Enter');
    await steps.terminalShows(world, 'second?');
    await page.keyboard.type('omega');
    await page.keyboard.press('Enter');
    await steps.terminalShows(world, 'alpha and omega');
    // Handed back by the command of the palette, with the terminal as the active one.
    await steps.azimuth(world, 'Hand Terminal Back');
    await page.locator('.part.panel').getByText('yours').first().waitFor({ state: 'detached' });
    await steps.status(world, /^(?!.*(works|waits))/s);
    told('a terminal is taken over, typed into, and handed back');
  }

  // The kill button.
  {
    const { live, end } = await call('shell_run', { command: 'sleep 98765' });
    await allowUntil(live.getByRole('button', { name: /^Kill/ }));
    await steps.until('the process', () => processes('sleep 98765').length > 0);
    await press(live.getByRole('button', { name: /^Kill/ }));
    await end();
    await steps.until('the end of the process', () => processes('sleep 98765').length === 0);
    told('the kill button ends a command that would take for ever');
  }

  // A job: a real server.
  {
    const port = await freePort();
    const { live, end } = await call('shell_start', { command: `python3 -u -m http.server ${port} --bind 127.0.0.1` });
    await allowUntil(live.getByRole('button', { name: `localhost:${port}` }));
    await end();
    await frame.locator('.header .jobs', { hasText: '1 job' }).waitFor();
    await live.locator('.job-runs', { hasText: 'is up' }).waitFor();
    await shot('job');
    await steps.noSeriousFault(frame, 'with a job');
    assert.match(await (await fetch(`http://localhost:${port}/one.txt`)).text(), /one/);
    await press(frame.locator('.header .jobs'));
    await row('http.server').waitFor();
    assert.match(await row('http.server').innerText(), new RegExp(`http://localhost:${port}`));
    await shot('jobs');
    await page.keyboard.press('Enter');
    await row(`Open http://localhost:${port}`).waitFor();
    await row('Show its terminal').click();
    await steps.terminalShows(world, 'GET /one.txt');
    await shot('job-terminal');
    await steps.azimuth(world, 'Show Jobs');
    await row('http.server').waitFor();
    await page.keyboard.press('Enter');
    await row('Kill').click();
    await live.getByText('was killed').waitFor();
    await frame.locator('.header .jobs').waitFor({ state: 'detached' });
    await steps.until('the end of the server', () => processes(`http.server ${port}`).length === 0);
    await page.locator('.part.panel').getByText('killed').first().waitFor();
    told('a server in the background is listed with its port, shown, and killed');
  }

  // A command that the sandbox refuses is asked for, and runs in a second shell.
  {
    const refused = await call('shell_run', { command: `touch ${elsewhere}` });
    await allowUntil(refused.entry.locator('.mark.failed, .mark.done'));
    await refused.end();
    if (fs.existsSync(elsewhere)) console.log('not tried: the outside of the sandbox, since this kernel has none');
    else await goOutside();
  }

  // Commands of the user's own.
  {
    const text = frame.locator('textarea');
    await text.click();
    await page.keyboard.type('!ls *.txt');
    await frame.locator('.hint', { hasText: 'joins the conversation' }).waitFor();
    await page.keyboard.press('Enter');
    const own = frame.locator('.entry.own');
    await own.filter({ hasText: 'two.txt' }).waitFor();
    await page.keyboard.type('!!echo "for $((40 + 2)) eyes only"');
    await frame.locator('.hint', { hasText: 'does not see it' }).waitFor();
    await page.keyboard.press('Enter');
    await own.filter({ hasText: 'for 42 eyes only' }).waitFor();
    await own.filter({ hasText: 'not in the context' }).waitFor();
    await shot('own');
    await steps.noSeriousFault(frame, 'with commands of the user');
    await page.keyboard.type('!sleep 98764');
    await page.keyboard.press('Enter');
    await steps.until('the process', () => processes('sleep 98764').length > 0);
    await own.filter({ hasText: 'sleep 98764' }).locator('.mark.running').waitFor();
    await text.focus();
    await page.keyboard.press('Escape');
    await own.filter({ hasText: 'sleep 98764' }).locator('.mark.failed').waitFor();
    await steps.until('the end of the process', () => processes('sleep 98764').length === 0);
    const before = model.asked.length;
    model.add({ text: 'I see two files.' });
    await text.fill('What is there?');
    await text.press('Enter');
    await frame.locator('.entry.answer', { hasText: 'I see two files.' }).waitFor();
    const context = JSON.stringify(model.asked.slice(before).at(-1).messages);
    assert.ok(context.includes('ls *.txt') && context.includes('two.txt'), 'the first is before the model');
    assert.ok(!context.includes('eyes only'), 'the second is not');
    told('commands of the user run, one of them unseen by the model, and Escape ends one');
  }

  // A grant is listed, and taken back.
  {
    const { entry } = await call('shell_run', { command: 'touch granted.txt' });
    const always = frame.locator('.entry.question.open .answers button', { hasText: /always/i }).first();
    await always.waitFor();
    await shot('question');
    await press(always);
    await entry.locator('.mark.done').waitFor();
    await steps.status(world, /^(?!.*(works|asks))/s);
    await steps.azimuth(world, 'Show Permissions');
    await row('touch').waitFor();
    await shot('permissions');
    await row('touch').click();
    await dialog.getByText('Revoke').first().waitFor();
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    // The list that was there goes first.
    const list = page.locator('.quick-input-widget:visible .quick-input-title', { hasText: 'permission rules' });
    await steps.until('the list without it', async () => await list.count() > 0 && await row('touch').count() === 0);
    await page.keyboard.press('Escape');
    await call('shell_run', { command: 'touch granted.txt' });
    await always.waitFor();
    await press(frame.locator('.entry.question.open .answers button', { hasText: /reject/i }).first());
    await steps.status(world, /^(?!.*(works|asks))/s);
    told('what was granted is listed, taken back, and asked again');
  }

  // The mode in which nothing is asked.
  {
    await steps.azimuth(world, 'Select Mode…');
    await row('Bypass').waitFor();
    await shot('modes');
    await row('Bypass').click();
    await dialog.waitFor();
    await shot('bypass-confirm');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await frame.locator('.status button', { hasText: 'mode: agent' }).waitFor();
    await steps.choose(world, 'Select Mode…', 'Bypass');
    await dialog.waitFor();
    await page.keyboard.press('Enter');
    await frame.locator('.banner .bypass').waitFor();
    await page.locator('.statusbar-item[id$="azimuth.bypass"]').waitFor();
    const { entry } = await call('shell_run', { command: 'touch bypassed.txt' });
    await entry.locator('.mark.done').waitFor();
    assert.equal(await frame.locator('.entry.question.open').count(), 0);
    assert.ok(fs.existsSync(path.join(project, 'bypassed.txt')));
    await shot('bypass');
    await steps.noSeriousFault(frame, 'in the mode bypass');
    await steps.status(world, /^(?!.*works)/s);
    await press(frame.getByRole('button', { name: 'Ask me again' }));
    await frame.locator('.status button', { hasText: 'mode: agent' }).waitFor();
    await page.locator('.statusbar-item[id$="azimuth.bypass"]').waitFor({ state: 'hidden' });
    told('the mode bypass is confirmed in the words of the server, marked, and left');
  }

  // Scrollback, once the window is loaded again.
  {
    await steps.command(world, 'Developer: Reload Window');
    await page.locator('.monaco-workbench').waitFor({ state: 'detached' });
    frame = await steps.chatFrame(world);
    await frame.locator('.entry.own', { hasText: 'for 42 eyes only' }).waitFor();
    assert.equal(await frame.locator('.live-buttons button', { hasText: 'Kill' }).count(), 0, 'nothing runs any more');
    const colour = frame.locator('.entry.tool', { hasText: 'read -p "colour? "' });
    await press(colour.getByRole('button', { name: /^Show the terminal/ }));
    // How much a panel of the usual height shows depends on the machine's fonts.
    await steps.command(world, 'View: Toggle Maximized Panel');
    await steps.terminalShows(world, 'alpha and omega');
    await steps.terminalShows(world, 'for 42 eyes only');
    await shot('reloaded');
    told('a window that is loaded again shows the commands, and their terminal what was printed');
  }
} catch (error) {
  await shot('failure').catch(() => {});
  console.error(await frame?.locator('.transcript').innerText().catch(() => ''));
  throw error;
} finally {
  fs.rmSync(elsewhere, { force: true });
  await world.stop();
}
console.log(`screenshots: ${shots}`);
