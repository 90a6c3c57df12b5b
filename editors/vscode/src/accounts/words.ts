// The words on accounts and keys. Pure.

import type { Account, AuthKeepResult, AuthListResult, KeyMember, KeyStatus, SignInProvider, SignInWay } from '../generated/protocol';

/** A row of the list of accounts. */
export interface AccountRow {
  label: string;
  description: string;
  detail: string;
  /** True if the user has to do something about it. */
  lacks: boolean;
  /** The account; none for a key from elsewhere. */
  account?: Account;
  /** The variable of a key that VS Code keeps. */
  variable?: string;
}

/** A way to sign in to a provider. */
export interface WayRow {
  label: string;
  detail: string;
  provider: SignInProvider;
  way: SignInWay;
}

/** The words on a key that was kept. */
export function keptInWords(provider: string, label: string, { unusedBecause, check }: AuthKeepResult): string {
  const unused = unusedBecause === undefined ? [] : [`It is not used yet: ${unusedBecause}.`];
  const note = check?.state === 'taken' ? '' : 'Note: ';
  const checked = check === undefined ? [] : [`${note}${check.words}`];
  return [`the key for ${provider} is kept as ${label}.`, ...unused, ...checked].join(' ');
}

/** The accounts and keys. `kept` are the variables of keys in VS Code's secret storage. */
export function rowsOf({ accounts, keys }: AuthListResult, kept: ReadonlySet<string>): AccountRow[] {
  const counts = (account: Account): boolean => keys.some(({ provider, label }) => provider === account.provider && label === account.label);
  const memberOf = (account: Account): KeyMember | undefined => keys.find(({ provider }) => provider === account.provider)?.members?.find(({ isAccount, name }) => isAccount && name === account.label);
  const others = (account: Account): KeyStatus | undefined => keys.find(({ provider }) => provider === account.provider);
  const elsewhere = keys.filter(({ label }) => label === undefined);
  const shown = new Set(elsewhere.map(({ variable }) => variable));
  return [
    ...accounts.map((account): AccountRow => ({
      label: account.label === 'default' ? account.provider : `${account.provider}: ${account.label}`,
      description: account.kind === 'key' ? 'key' : `signed in${account.name === undefined ? '' : ` as ${account.name}`}`,
      detail: account.ended
        ? 'The vendor has ended this sign-in. Sign in again.'
        : memberOf(account) !== undefined ? `${standing(memberOf(account))}, for ${account.server}`
        : counts(account) ? `In use, for ${account.server}` : `Not in use: ${others(account)?.source ?? 'its server is not the provider’s'}${others(account) === undefined ? '' : ' counts'}`,
      lacks: account.ended,
      account,
    })),
    ...elsewhere.flatMap(({ provider, members }) => (members ?? []).filter(({ isAccount }) => !isAccount).map((member): AccountRow => (
      { label: `${provider}: ${member.name}`, description: 'key', detail: standing(member), lacks: member.reason === 'unauthorized' }))),
    ...elsewhere.filter(({ members }) => members === undefined).map(({ provider, source, variable }): AccountRow => (variable !== undefined && kept.has(variable)
      ? { label: provider, description: 'key', detail: 'In use, from the secret storage of VS Code', lacks: false, variable }
      : { label: provider, description: 'key', detail: `In use, from ${source}`, lacks: false })),
    ...[...kept].filter((variable) => !shown.has(variable)).map((variable): AccountRow => (
      { label: variable, description: 'key', detail: 'In the secret storage of VS Code, and not in use', lacks: false, variable })),
  ];
}

/** The status of one of several keys and accounts. */
function standing(member: KeyMember | undefined): string {
  if (member?.restsUntil === undefined) return member?.inUse === true ? 'In use' : 'Ready, for when another one rests';
  const until = new Date(member.restsUntil);
  const isToday = until.toDateString() === new Date().toDateString();
  const time = isToday ? until.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' }) : until.toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
  if (member.reason === 'unauthorized') return `Refused by the provider; tried again at ${time}`;
  return member.reason === 'quota_used_up' ? `Its quota is used up; it rests until ${time}` : `It has reached a limit, and rests until ${time}`;
}

/** The ways to sign in. With a browser on another machine than the server, those come first that open no port there. */
export function waysOf(providers: SignInProvider[], isRemote: boolean): WayRow[] {
  const first = (ways: SignInWay[]): SignInWay[] => (isRemote ? [...ways].sort((one, other) => rank(one) - rank(other)) : ways);
  return providers.flatMap((provider) => first(provider.ways).map((way) => ({
    label: provider.title,
    detail: { browser: 'With the browser on this machine', device: 'With a code that you type on any device', paste: 'With a browser, whose last address you paste here' }[way],
    provider,
    way,
  })));
}

function rank(way: SignInWay): number {
  return { device: 0, paste: 1, browser: 2 }[way];
}
