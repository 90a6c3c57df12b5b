// What of the editor's settings goes to the server, and in which layer (docs/configuration.md).
//
// The server trusts `initializationOptions` wholly, and takes from its settings only what restricts, since a project
// can bring those along. It refuses what it does not know, so only what is listed here is sent.

/** One setting as VS Code holds it, place by place. */
export interface Inspected {
  globalValue?: unknown;
  workspaceValue?: unknown;
  /** What the folders of the workspace say, those that say something. */
  folderValues?: unknown[];
}

/** Looks a setting up by its name without `azimuth.`. */
export type Inspect = (name: string) => Inspected | undefined;

/** The settings that may allow something. They have the scope `machine`, and a change needs a new server. */
export const trusted = [
  'permissions.allow', 'acceptEdits', 'providers', 'caFile', 'idleTimeout', 'checkpointDays', 'undoCommands', 'reviewCommands',
  'allowBypass', 'sandbox', 'sandboxNetwork', 'sandboxWrite', 'sandboxRead', 'shellRc', 'projectCommands',
] as const;

/** The settings that a workspace may choose, too. */
const free = ['model', 'log', 'editMode', 'editTools', 'formatEdits', 'saveEdits', 'stopEarly', 'fileBlocks', 'canonicalEdits', 'interceptCommands'];

/** The `initializationOptions`: the user's own words, never a workspace's, and whether the user trusts that in the editor. */
export function initializationOptions(inspect: Inspect, isTrusted: boolean): Record<string, unknown> {
  const own = (name: string): unknown => inspect(name)?.globalValue;
  const options: Record<string, unknown> = { workspaceTrust: isTrusted ? 'trusted' : 'restricted' };
  for (const name of [...free, ...trusted.filter((one) => !one.startsWith('permissions.'))]) {
    const value = own(name);
    if (value !== undefined && value !== '') options[name] = value;
  }
  const permissions: Record<string, unknown> = {};
  for (const name of ['allow', 'ask', 'deny']) {
    const rules = own(`permissions.${name}`);
    if (rules !== undefined) permissions[name] = rules;
  }
  if (Object.keys(permissions).length > 0) options['permissions'] = permissions;
  return options;
}

/** The answer to `workspace/configuration`. A list of a workspace or of a folder in it adds to the user's and never takes from it. */
export function settings(inspect: Inspect): Record<string, unknown> {
  const sent: Record<string, unknown> = {};
  for (const name of free) {
    const value = inspect(name);
    const effective = value?.workspaceValue ?? value?.globalValue;
    if (effective !== undefined && effective !== '') sent[name] = effective;
  }
  const permissions: Record<string, unknown> = {};
  for (const name of ['ask', 'deny']) {
    const value = inspect(`permissions.${name}`);
    const lists = [value?.globalValue, value?.workspaceValue, ...(value?.folderValues ?? [])].filter((list) => list !== undefined);
    // What is no list goes to the server as it is, which says what is wrong with it.
    const wrong = lists.find((list) => !Array.isArray(list));
    if (wrong !== undefined) permissions[name] = wrong;
    else if (lists.length > 0) permissions[name] = [...new Set((lists as unknown[][]).flat())];
  }
  if (Object.keys(permissions).length > 0) sent['permissions'] = permissions;
  return sent;
}
