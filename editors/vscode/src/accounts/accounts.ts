// Accounts: what there is, signing in and out, and keys. No key or token is in any of it but on its way to the secret
// storage.

import * as vscode from 'vscode';
import type { Account, AuthKeepParams, AuthKeepResult, AuthListResult, AuthLoginResult } from '../generated/protocol';
import type { Keys } from '../server/keys';
import { isError, messageOf, type Request } from '../server/requests';
import { iconless, unlinked, visible } from '../text';
import { keptInWords, rowsOf, waysOf, type AccountRow } from './words';

/** The parts that accounts need. */
export interface Parts {
  request: Request;
  keys: Keys;
  /** Starts the server again, with other keys. */
  restart: () => Promise<void>;
  /** The models may be others. */
  refresh: () => Promise<void>;
}

interface Choice extends vscode.QuickPickItem {
  run?: () => Promise<unknown>;
}

/** Shows the accounts and keys, with what can be done. */
export async function showAccounts(parts: Parts): Promise<void> {
  const list = await parts.request('azimuth/auth/list', {});
  const rows = rowsOf(list, new Set(parts.keys.kept));
  const items: Choice[] = [
    ...rows.map((row): Choice => ({
      label: `${row.lacks ? '$(warning)' : row.account?.kind === 'signIn' ? '$(account)' : '$(key)'} ${iconless(row.label)}`,
      description: iconless(row.description),
      detail: iconless(row.detail),
      run: () => act(parts, list, row),
    })),
    ...(rows.length === 0 ? [] : [{ label: '', kind: vscode.QuickPickItemKind.Separator }]),
    { label: '$(sign-in) Sign in…', description: list.providers.map(({ title }) => iconless(title)).join(', '), alwaysShow: true, run: () => signIn(parts, list) },
    { label: '$(key) Add an API key for VS Code…', description: 'kept in its secret storage, for this editor alone', alwaysShow: true, run: () => addKey(parts) },
    { label: '$(key) Add an API key as an account…', description: 'kept by Azimuth, for editors and the command line', alwaysShow: true, run: () => keepKey(parts, list) },
  ];
  const placeHolder = rows.length === 0 ? 'There is no account and no key yet' : 'Enter: show what can be done';
  const picked = await vscode.window.showQuickPick(items, { title: 'Azimuth: Accounts', placeHolder, matchOnDescription: true, matchOnDetail: true });
  await picked?.run?.();
}

/** Asks how to sign in, and waits until the user has. */
export async function signIn(parts: Parts, known?: AuthListResult, account?: Account): Promise<void> {
  const list = known ?? (await parts.request('azimuth/auth/list', {}));
  const offered = list.providers.filter(({ provider }) => account === undefined || provider === account.provider);
  if (offered.length === 0) throw new Error('No provider can be signed in to. Add an API key instead.');
  const items = waysOf(offered, vscode.env.remoteName !== undefined).map((way) => ({ ...way, label: iconless(way.label) }));
  const picked = await vscode.window.showQuickPick(items, { title: 'Azimuth: sign in', placeHolder: 'To which provider, and how?', matchOnDetail: true, ignoreFocusOut: true });
  if (picked === undefined) return;
  const { provider, title } = picked.provider;
  const label = account?.label ?? (await labelFor(provider, list.accounts));
  if (label === undefined) return;
  const login = await parts.request('azimuth/auth/login', { provider, way: picked.way, label });
  const result = await outcome(parts, title, login);
  if (result === undefined) {
    return void vscode.window.showInformationMessage(unlinked(`Azimuth: the sign-in to ${title} was cancelled. Nothing was kept.`));
  }
  if ('kept' in result) {
    await parts.refresh();
    const name = result.kept.name === undefined ? '' : ` as ${result.kept.name}`;
    return void vscode.window.showInformationMessage(unlinked(`Azimuth: signed in to ${title}${name}.`));
  }
  const [again, key] = ['Try Again', 'Add an API Key'];
  const chosen = await vscode.window.showErrorMessage(unlinked(`Azimuth: ${result.error}`), again, key);
  if (chosen === again) await signIn(parts, undefined, account);
  if (chosen === key) await addKey(parts);
}

/** The end of a sign-in that has begun; none if the user cancels. It is cancelled too if it cannot be shown. */
async function outcome(parts: Parts, title: string, login: AuthLoginResult): Promise<{ kept: Account } | { error: string } | undefined> {
  let isOver = false;
  try {
    const done = parts.request('azimuth/auth/wait', { loginId: login.loginId }).then(
      ({ account: kept }) => ({ kept }),
      (error: unknown) => ({ error: messageOf(error) }),
    );
    // The box is there before the page, which may take its time to open or never do.
    const shown = login.userCode === undefined ? untilPasted(parts, title, login, done) : untilTyped(title, login, login.userCode, done);
    void openPage(login.url);
    isOver = await shown;
    return isOver ? await done : undefined;
  } finally {
    if (!isOver) await parts.request('azimuth/auth/cancel', { loginId: login.loginId });
  }
}

/** Asks for a key, and starts the server again with it. */
export async function addKey({ keys, restart }: Parts): Promise<void> {
  if (await keys.set()) await restart();
}

/** Asks for a provider and its key, and has the server keep it as an account. */
async function keepKey(parts: Parts, { accounts, keyProviders }: AuthListResult): Promise<void> {
  const offered = keyProviders.map(({ provider, title }) => ({ label: iconless(title), description: iconless(provider), provider }));
  const picked = await vscode.window.showQuickPick(offered, { title: 'Azimuth: keep the key of which provider?', matchOnDescription: true, ignoreFocusOut: true });
  if (picked === undefined) return;
  const { provider } = picked;
  const label = await labelFor(provider, accounts);
  if (label === undefined) return;
  let [key, unchecked] = [await keyFor(provider), false];
  while (key !== undefined) {
    const result = await keepUnlessRefused(parts, { provider, label, key, unchecked });
    if (!('refusal' in result)) {
      await parts.refresh();
      return void vscode.window.showInformationMessage(unlinked(`Azimuth: ${keptInWords(provider, label, result)}`));
    }
    const [again, keep] = ['Try Again', 'Keep Anyway'];
    const chosen = await vscode.window.showWarningMessage(unlinked(`Azimuth: ${result.refusal}`), again, keep);
    if (chosen === undefined) return;
    unchecked = chosen === keep;
    if (chosen === again) key = await keyFor(provider);
  }
}

/** Has a key kept, while a message says that the vendor is asked about it. Gives the words of its refusal if it refuses the key. */
async function keepUnlessRefused({ request }: Parts, params: AuthKeepParams): Promise<AuthKeepResult | { refusal: string }> {
  const title = unlinked(params.unchecked === true ? `Azimuth: keeping the key for ${params.provider}…` : `Azimuth: asking ${params.provider} about the key…`);
  try {
    return await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, () => request('azimuth/auth/keep', params));
  } catch (error) {
    if (!isError(error, 'notConfirmed')) throw error;
    return { refusal: messageOf(error) };
  }
}

/** Asks for a key; none if the user cancels. */
async function keyFor(provider: string): Promise<string | undefined> {
  const key = await vscode.window.showInputBox({
    title: visible(`Azimuth: the key for ${provider}`),
    prompt: 'The server keeps it in its file of accounts, which only you can read and which is not encrypted. It goes to no setting and to no log.',
    password: true,
    ignoreFocusOut: true,
    validateInput: (text) => (/\s/.test(text.trim()) ? 'A key has no blanks in it. Paste the key alone.' : undefined),
  });
  return key === undefined || key.trim() === '' ? undefined : key.trim();
}

async function act(parts: Parts, list: AuthListResult, { account, variable, label }: AccountRow): Promise<void> {
  const items: Choice[] = [];
  if (account !== undefined) {
    if (account.kind === 'signIn') items.push({ label: '$(sign-in) Sign in again…', run: () => signIn(parts, list, account) });
    items.push({ label: account.kind === 'signIn' ? '$(sign-out) Sign out' : '$(trash) Forget this key', run: () => signOut(parts, account) });
  } else if (variable !== undefined) {
    items.push({ label: '$(trash) Forget this key', run: () => forget(parts, variable) });
  } else {
    return void vscode.window.showInformationMessage(unlinked(`Azimuth: the key of ${label} comes from where Azimuth does not keep it. Remove it there.`));
  }
  const picked = await vscode.window.showQuickPick(items, { title: visible(`Azimuth: ${label}`) });
  await picked?.run?.();
}

async function signOut({ request, refresh }: Parts, { provider, label, kind }: Account): Promise<void> {
  const yes = kind === 'signIn' ? 'Sign Out' : 'Forget the Key';
  const question = kind === 'signIn' ? `Sign out of ${provider} (${label})?` : `Forget the key of ${provider} (${label})?`;
  const detail = kind === 'signIn' ? 'Azimuth tells the vendor that the sign-in has ended, and forgets it.' : 'You need the key again to use it.';
  if ((await vscode.window.showWarningMessage(unlinked(question), { modal: true, detail }, yes)) !== yes) return;
  const { removed } = await request('azimuth/auth/logout', { provider, label });
  await refresh();
  const problems = removed.flatMap(({ notRevoked }) => (notRevoked === undefined ? [] : [notRevoked]));
  if (problems.length === 0) return void vscode.window.showInformationMessage(unlinked(`Azimuth: the account ${label} at ${provider} is forgotten.`));
  void vscode.window.showWarningMessage(unlinked(`Azimuth: the account is forgotten here, but ${provider} was not told: ${problems.join(' ')} End it in your account there.`));
}

async function forget({ keys, restart }: Parts, variable: string): Promise<void> {
  await keys.forget(variable);
  await restart();
}

/** The name for a new account: a second one at a provider is asked for its name, since one of the same name is replaced. */
async function labelFor(provider: string, accounts: Account[]): Promise<string | undefined> {
  const labels = accounts.filter((account) => account.provider === provider).map(({ label }) => label);
  if (labels.length === 0) return 'default';
  const name = await vscode.window.showInputBox({
    title: visible(`Azimuth: a name for the account at ${provider}`),
    prompt: visible(`There is ${labels.join(', ')} already. The same name replaces that account; another one is added, and is used first from then on unless your settings list the keys.`),
    value: labels[0] ?? 'default',
    ignoreFocusOut: true,
    validateInput: (text) => (text.trim() === '' ? 'An account needs a name, such as work.' : undefined),
  });
  return name?.trim();
}

/** Waits until the sign-in is over, or an address is pasted that ends it. False if the user cancels. */
async function untilPasted({ request }: Parts, title: string, { loginId, url, redirect }: AuthLoginResult, done: Promise<unknown>): Promise<boolean> {
  const box = vscode.window.createInputBox();
  box.title = visible(`Azimuth: sign in to ${title}`);
  box.prompt = visible(`Waiting for the browser. If it ends at a page that it cannot show, paste the address of that page here. Press Escape to cancel.`);
  box.placeholder = visible(redirect === undefined ? 'The address that the browser ends at' : `${redirect}?…`);
  box.ignoreFocusOut = true;
  box.busy = true;
  const [open, copy] = [{ iconPath: new vscode.ThemeIcon('link-external'), tooltip: 'Open the page again' }, { iconPath: new vscode.ThemeIcon('copy'), tooltip: 'Copy the address of the page' }];
  box.buttons = [open, copy];
  box.onDidTriggerButton((button) => void (button === open ? openPage(url) : vscode.env.clipboard.writeText(url)));
  box.onDidChangeValue(() => (box.validationMessage = undefined));
  box.onDidAccept(async () => {
    if (box.value.trim() === '') return;
    box.enabled = false;
    try {
      await request('azimuth/auth/paste', { loginId, address: box.value.trim() });
    } catch (error) {
      box.validationMessage = visible(messageOf(error));
    } finally {
      box.enabled = true;
    }
  });
  return untilGivenUp(title, box, done);
}

/** Shows the code until the sign-in is over. False if the user cancels. */
async function untilTyped(title: string, { url }: AuthLoginResult, code: string, done: Promise<unknown>): Promise<boolean> {
  const pick = vscode.window.createQuickPick<Choice>();
  pick.title = visible(`Azimuth: sign in to ${title}`);
  pick.placeholder = visible(`Enter the code ${code} at ${url}. Press Escape to cancel.`);
  pick.ignoreFocusOut = true;
  pick.busy = true;
  pick.items = [
    { label: `$(copy) Copy the code ${iconless(code)} and open the page`, detail: iconless(url), run: () => Promise.all([vscode.env.clipboard.writeText(code), openPage(url)]) },
    { label: '$(copy) Copy the code', run: async () => vscode.env.clipboard.writeText(code) },
    { label: '$(link) Copy the address of the page', run: async () => vscode.env.clipboard.writeText(url) },
  ];
  pick.onDidAccept(() => void pick.activeItems[0]?.run?.());
  return untilGivenUp(title, pick, done);
}

/**
 * Shows an input until the sign-in is over. False if the user cancels. VS Code hides an input on Escape and for another
 * one alike, so the user is asked which was meant.
 */
async function untilGivenUp(title: string, input: vscode.QuickInput, done: Promise<unknown>): Promise<boolean> {
  const over = done.then(() => true);
  const [goOn, cancel] = ['Continue', 'Cancel'];
  let chosen: string | undefined | boolean = goOn;
  try {
    while (chosen === goOn) {
      const hidden = new Promise<boolean>((resolve) => input.onDidHide(() => resolve(false)));
      input.show();
      if (await Promise.race([over, hidden])) return true;
      const question = unlinked(`Azimuth: the sign-in to ${title} is not done yet.`);
      chosen = await Promise.race([over, vscode.window.showInformationMessage(question, goOn, cancel)]);
    }
    return chosen === true;
  } finally {
    input.dispose();
  }
}

/** Opens a page, or shows its address if that fails. Only web pages are opened, whoever names them. */
async function openPage(address: string): Promise<void> {
  const uri = vscode.Uri.parse(address);
  if (uri.scheme !== 'https' && uri.scheme !== 'http') return;
  const isOpen = await vscode.env.openExternal(uri).then((opened) => opened, () => false);
  if (isOpen) return;
  const copy = 'Copy the Address';
  const chosen = await vscode.window.showWarningMessage(unlinked(`Azimuth: the page was not opened. Open it yourself: ${address}`), copy);
  if (chosen === copy) await vscode.env.clipboard.writeText(address);
}
