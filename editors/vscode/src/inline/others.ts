// Other extensions that suggest text where the user types. Pure.

/** One of them. */
export interface Other {
  /** Its extension's identifier. */
  id: string;
  name: string;
  /** The setting that switches its suggestions off: false, or a table in which `*` is false. */
  setting?: string;
  /** The account without which it suggests nothing. It comes with VS Code, so that it is there is no sign that it is used. */
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
  setting: (name: string) => unknown;
  hasAccount: (provider: string) => boolean;
}

/** The names of those that suggest text in this window, as far as can be seen. */
export function suggesting({ has, setting, hasAccount }: Window): string[] {
  const there = known.filter((other) => has(other.id)
    && (other.setting === undefined || !isOff(setting(other.setting)))
    && (other.account === undefined || hasAccount(other.account)));
  return [...new Set(there.map(({ name }) => name))];
}

function isOff(value: unknown): boolean {
  return value === false || (typeof value === 'object' && value !== null && '*' in value && value['*'] === false);
}
