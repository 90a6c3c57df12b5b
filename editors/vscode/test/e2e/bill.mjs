// Accounts and the bill in a real VS Code: signing in by a browser and by a code, signing out, a budget with its
// question, and what was spent.
// `node test/e2e/bill.mjs --vsix FILE [--shots FOLDER] [--theme NAME]`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { webview } from '../../../../tests/tools/vscode-smoke.mjs';
import * as steps from './steps.mjs';
import { startVendor, USER_CODE, WRONG_KEY } from './vendor.mjs';
import { startWorld } from './world.mjs';

const { values } = parseArgs({ options: { vsix: { type: 'string' }, shots: { type: 'string' }, theme: { type: 'string' } } });
const shots = path.resolve(values.shots ?? path.join(import.meta.dirname, '../../../../tests/artifacts/vscode-bill'));
fs.mkdirSync(shots, { recursive: true });

const vendor = await startVendor();
// The model says that it reads 1000 tokens and writes 50 of each request, so one costs $0.00375.
const priced = '[[providers.test.model]]\nid = "model-1"\n[providers.test.model.price]\ninput = 3\noutput = 15\n';
const headers = { 'x-ratelimit-limit-requests': '60', 'x-ratelimit-remaining-requests': '59', 'x-ratelimit-reset-requests': '6m0s' };
const world = await startWorld({
  vsix: path.resolve(values.vsix),
  files: { 'lib.rs': 'fn first() {}\n' },
  head: 'session_budget = 0.0045\n',
  described: `${priced}${vendor.configuration}`,
  settings: { 'workbench.colorTheme': values.theme ?? 'Default Dark Modern', 'files.autoSave': 'off' },
  answers: ['One.', 'Two.', 'Three.'].map((text) => ({ text, headers })),
});
const { page, model } = world;
let count = 0;
const shot = (name) => page.screenshot({ path: path.join(shots, `${String(++count).padStart(2, '0')}-${name}.png`) });
const told = (what) => console.log(`ok: ${what}`);
const row = (text) => page.locator('.quick-input-list .monaco-list-row').filter({ hasText: text }).first();
/** Closes the pages of a sign-in. A page behind another one is not drawn, so nothing in it stands still to be clicked. */
const toFront = async () => {
  await Promise.all(page.context().pages().filter((other) => other !== page).map((other) => other.close()));
  await page.bringToFront();
};
const toast = (text) => page.locator('.notification-toast .notification-list-item', { hasText: text }).first();

try {
  const frame = await steps.openChat(world);
  await steps.azimuth(world, 'Accounts…');
  await row('In use, from the configuration').waitFor();
  await shot('accounts');
  await row('Sign in…').click();
  const opened = page.context().waitForEvent('page');
  await row('With the browser on this machine').click();
  await opened;
  await toast('signed in to gateway').waitFor();
  await toFront();
  await shot('signed-in');
  assert.deepEqual([vendor.shown, vendor.faults], [['/authorize'], []]);
  told('a sign-in goes through the browser');

  await steps.choose(world, 'Accounts…', 'gateway');
  await row('Sign out').click();
  await page.locator('.monaco-dialog-box button, .monaco-dialog-box .monaco-button', { hasText: 'Sign Out' }).first().click();
  await toast('is forgotten').waitFor();
  told('an account is signed out of');

  await steps.choose(world, 'Sign In…', 'With a code');
  await row(`Copy the code ${USER_CODE}`).waitFor();
  await shot('code');
  await page.keyboard.press('Escape');
  // Another box may have hidden it, so this is asked.
  await page.locator('.notification-toast .monaco-button', { hasText: 'Cancel' }).first().click();
  await toast('was cancelled').waitFor();
  await toFront();
  await steps.command(world, 'Notifications: Clear All Notifications');
  await steps.choose(world, 'Sign In…', 'With a code');
  await row('Copy the code').waitFor();
  vendor.approve();
  await toast('signed in to gateway').waitFor();
  await toFront();
  await steps.command(world, 'Notifications: Clear All Notifications');
  told('a sign-in by a code is cancelled, and done');

  // A key is tried before it is kept. One that the vendor refuses is typed again, or kept all the same.
  const titled = (title) => page.locator('.quick-input-widget:visible .quick-input-title', { hasText: title }).waitFor();
  const type = async (title, text) => {
    await titled(title);
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
  };
  // VS Code shows no more than three notifications within 800 ms, and a person takes longer than that.
  const refused = () => toast('This key was revoked.').waitFor().then(() => page.waitForTimeout(1_000));
  const press = (button) => page.locator('.notification-toast .monaco-button', { hasText: button }).first().click();
  await steps.choose(world, 'Accounts…', 'Add an API key as an account');
  await titled('the key of which provider');
  await row('gateway').click();
  await type('a name for the account', 'second');
  await type('the key for gateway', WRONG_KEY);
  await refused();
  await shot('refused');
  await press('Try Again');
  await type('the key for gateway', 'right-that-nobody-may-see');
  await toast('the key for gateway is kept as second').waitFor();
  await shot('taken');
  await steps.command(world, 'Notifications: Clear All Notifications');
  await steps.choose(world, 'Accounts…', 'Add an API key as an account');
  await titled('the key of which provider');
  await row('gateway').click();
  await type('a name for the account', 'third');
  await type('the key for gateway', WRONG_KEY);
  await refused();
  await press('Keep Anyway');
  await toast('the key for gateway is kept as third').waitFor();
  await steps.command(world, 'Notifications: Clear All Notifications');
  told('a key that the vendor refuses is typed again, or kept all the same');

  for (const text of ['One', 'Two']) {
    await steps.ask(world, `Say ${text}.`);
    await frame.locator('.entry', { hasText: `${text}.` }).last().waitFor();
    await steps.status(world, /ready/);
  }
  await frame.locator('.entry', { hasText: 'of its budget of' }).first().waitFor();
  await steps.ask(world, 'Say three.');
  await frame.locator('.entry', { hasText: 'The budget of this conversation is spent. Go on?' }).waitFor();
  await shot('budget');
  await steps.noSeriousFault(frame, 'with a question about a budget');
  await steps.answer(world, 'Go on with another');
  await frame.locator('.entry', { hasText: 'Three.' }).last().waitFor();
  await steps.status(world, /ready/);
  assert.equal(model.asked.length, 3);
  told('a budget warns, asks, and is raised by the answer');

  await steps.status(world, /Cost of this conversation: \$0\.011\s+Cost of today \(UTC\), all conversations: \$0\.011\s+Cost of all time: \$0\.011/);
  await page.locator('.statusbar-item[id$="azimuth.status"] a').hover();
  await page.locator('.monaco-hover', { hasText: 'Cost of all time' }).first().waitFor();
  await shot('status');
  await page.mouse.move(400, 300);
  await page.locator('.monaco-hover', { hasText: 'Cost of all time' }).first().waitFor({ state: 'hidden' });
  told('the status bar tells the cost of the session, of today and of all time');

  await frame.locator('.status button', { hasText: '$0.01' }).click();
  let shown = '';
  await steps.until('the costs', async () => {
    shown = await (await webview(page, '.markdown-body')).locator('.markdown-body').innerText().catch(() => '');
    return /Cache missed because/.test(shown);
  }, 60_000, async () => shown);
  await shot('costs');
  for (const words of [/What vendors allow\s+Provider.*\s+test\s+requests\s+59 of 60\s+in \d+ min/, /This conversation\s+3\s+3000\s+150\s+0 %\s+\$0\.011/, /test\/model-1\s+1000\s+50\s+0 %\s+\$0\.004/]) {
    assert.match(shown, words);
  }
  told('the costs are shown, with the limits, the budget and the last requests');
  const files = fs.readdirSync(world.server.dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile() && /\.(log|json)$/.test(entry.name));
  const secret = files.map((entry) => path.join(entry.parentPath, entry.name)).filter((file) => fs.readFileSync(file, 'utf8').includes('that-nobody-may-see'));
  assert.deepEqual(secret, [], 'no token stands in a setting or a log');
} catch (error) {
  await shot('failed');
  throw error;
} finally {
  await world.stop();
  await vendor.stop();
}
