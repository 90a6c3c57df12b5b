// The editor's settings that go to the server, and in which layer (docs/configuration.md).
//
// The server trusts `initializationOptions` wholly, and takes from its settings only what restricts or allows nothing, since a
// project can bring those along. It refuses what it does not know, so only what its table of settings has is sent: `trusted` are
// those that may allow something, and a change of one needs a new server.

import { additive, free, trusted } from '../generated/settings';

/** One setting as VS Code holds it, place by place. */
export interface Inspected {
  globalValue?: unknown;
  workspaceValue?: unknown;
  /** The values of the workspace's folders, of those that have one. */
  folderValues?: unknown[];
}

/** Looks a setting up by its name without `azimuth.`. */
export type Inspect = (name: string) => Inspected | undefined;

/** Puts a value where a name with dots leads. */
function put(settings: Record<string, unknown>, name: string, value: unknown): void {
  const [group = name, ...rest] = name.split('.');
  if (rest.length === 0) settings[group] = value;
  else put((settings[group] ??= {}) as Record<string, unknown>, rest.join('.'), value);
}

/** The `initializationOptions`: the user's own words, never a workspace's, and whether the user trusts that in the editor. */
export function initializationOptions(inspect: Inspect, isTrusted: boolean): Record<string, unknown> {
  const options: Record<string, unknown> = { workspaceTrust: isTrusted ? 'trusted' : 'restricted' };
  for (const name of [...free, ...trusted, ...additive]) {
    const value = inspect(name)?.globalValue;
    if (value !== undefined && value !== '') put(options, name, value);
  }
  return options;
}

/** The answer to `workspace/configuration`. A list of a workspace or of a folder in it adds to the user's and never takes from it. */
export function settings(inspect: Inspect): Record<string, unknown> {
  const sent: Record<string, unknown> = {};
  for (const name of free) {
    const value = inspect(name);
    const effective = value?.workspaceValue ?? value?.globalValue;
    if (effective !== undefined && effective !== '') put(sent, name, effective);
  }
  for (const name of additive) {
    const value = inspect(name);
    const lists = [value?.globalValue, value?.workspaceValue, ...(value?.folderValues ?? [])].filter((list) => list !== undefined);
    // A value that is no list goes to the server as it is, which says what is wrong with it.
    const wrong = lists.find((list) => !Array.isArray(list));
    if (wrong !== undefined) put(sent, name, wrong);
    else if (lists.length > 0) put(sent, name, [...new Set((lists as unknown[][]).flat())]);
  }
  return sent;
}
