// Other extensions that suggest text where the user types. Pure.

/** One of them. */
export interface Other {
  /** Its extension's identifier. */
  id: string;
  name: string;
  /** The setting that switches its suggestions off: false, or a table in which `*` is false. */
  setting?: string;
  /** The account without which it suggests nothing. It comes with VS Code, so neither it nor the account is a proof that it is used. */
  account?: string;
}

export const known: readonly Other[] = [
  { id: 'GitHub.copilot', name: 'GitHub Copilot', setting: 'github.copilot.enable', account: 'github' },
  { id: 'GitHub.copilot-chat', name: 'GitHub Copilot', setting: 'github.copilot.enable', account: 'github' },
  { id: 'Codeium.codeium', name: 'Windsurf', setting: 'codeium.enableConfig' },
  { id: 'Supermaven.supermaven', name: 'Supermaven' },
  { id: 'TabNine.tabnine-vscode', name: 'Tabnine' },
  { id: 'Continue.continue', name: 'Continue', setting: 'continue.enableTabAutocomplete' },
  { id: 'ggml-org.llama-vscode', name: 'llama.vscode', setting: 'llama-vscode.enabled' },
  { id: 'TabbyML.vscode-tabby', name: 'Tabby' },
  { id: 'sourcegraph.cody-ai', name: 'Cody', setting: 'cody.autocomplete.enabled' },
  { id: 'AmazonWebServices.amazon-q-vscode', name: 'Amazon Q' },
  { id: 'Google.geminicodeassist', name: 'Gemini Code Assist', setting: 'geminicodeassist.inlineSuggestions.enableAuto' },
  { id: 'rjmacarthy.twinny', name: 'Twinny' },
];

/** The facts about this window. */
export interface Window {
  /** True if an extension is there and enabled. Most of them start a little after the window. */
  has: (id: string) => boolean;
  isActive: (id: string) => boolean;
  /** The user's own value of a setting, and its default. What a workspace says counts for nothing. */
  setting: (name: string) => { globalValue?: unknown; defaultValue?: unknown } | undefined;
  hasAccount: (provider: string) => boolean;
}

/** The names of those that suggest text in this window, as far as can be seen. */
export function suggesting({ has, isActive, setting }: Window): string[] {
  return namesOf(known.filter((other) => {
    const { globalValue, defaultValue } = (other.setting === undefined ? undefined : setting(other.setting)) ?? {};
    return other.account === undefined ? has(other.id) && isOn(globalValue ?? defaultValue) !== false : isActive(other.id) && isOn(globalValue) === true;
  }));
}

/** Those that may suggest text, of which only an account says so. */
export function possible({ has, setting, hasAccount }: Window): (Other & { setting: string })[] {
  const there = known.filter((other): other is Other & { setting: string; account: string } => {
    if (other.account === undefined || other.setting === undefined || !has(other.id) || !hasAccount(other.account)) return false;
    const { globalValue, defaultValue } = setting(other.setting) ?? {};
    return isOn(globalValue ?? defaultValue) !== false;
  });
  return there.filter(({ name }, index) => there.findIndex((other) => other.name === name) === index);
}

function namesOf(others: readonly Other[]): string[] {
  return [...new Set(others.map(({ name }) => name))];
}

/** True or false if a setting says so, for all languages where it is a table of them. */
function isOn(value: unknown): unknown {
  return typeof value === 'object' && value !== null && '*' in value ? value['*'] : value;
}
