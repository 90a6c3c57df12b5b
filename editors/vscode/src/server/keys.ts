// The providers' keys: kept in the editor's secret storage, and handed to the server in its environment.

import * as vscode from 'vscode';

import { vendors } from '../generated/vendors';

/** Where the names of the variables are kept; never a key. */
const NAMES = 'azimuth.keys';

/** The keys that the user gave. */
export class Keys {
  constructor(private readonly secrets: vscode.SecretStorage, private readonly memory: vscode.Memento) {}

  /** The variables to add to the server's environment. */
  async environment(): Promise<Record<string, string>> {
    const environment: Record<string, string> = {};
    for (const variable of this.names()) {
      const key = await this.secrets.get(secret(variable));
      if (key !== undefined) environment[variable] = key;
    }
    return environment;
  }

  /** Asks for a provider and its key, and keeps it. True where one was given. */
  async set(): Promise<boolean> {
    const variable = await this.pickVariable();
    if (variable === undefined) return false;
    const key = await vscode.window.showInputBox({
      title: `Azimuth: ${variable}`,
      prompt: 'The key is kept in the secret storage of VS Code, and given to the server only. It goes to no setting and to no log.',
      password: true,
      ignoreFocusOut: true,
      validateInput: (text) => (/\s/.test(text.trim()) ? 'A key has no blanks in it. Paste the key alone.' : undefined),
    });
    if (key === undefined || key.trim() === '') return false;
    await this.secrets.store(secret(variable), key.trim());
    await this.memory.update(NAMES, [...new Set([...this.names(), variable])]);
    return true;
  }

  /** The variables of the keys that are kept. */
  get kept(): string[] {
    return this.names();
  }

  /** Forgets a key. */
  async forget(variable: string): Promise<void> {
    await this.secrets.delete(secret(variable));
    await this.memory.update(NAMES, this.names().filter((name) => name !== variable));
  }

  /** Asks which key to forget. True where one was. */
  async remove(): Promise<boolean> {
    const names = this.names();
    if (names.length === 0) {
      void vscode.window.showInformationMessage('Azimuth has no key in the secret storage.');
      return false;
    }
    const variable = await vscode.window.showQuickPick(names, { title: 'Azimuth: forget an API key' });
    if (variable === undefined) return false;
    await this.forget(variable);
    return true;
  }

  private names(): string[] {
    return this.memory.get<string[]>(NAMES, []);
  }

  private async pickVariable(): Promise<string | undefined> {
    const kept = new Set(this.names());
    const items: (vscode.QuickPickItem & { variable?: string })[] = vendors.map(({ name, variable }) => ({
      label: name,
      description: kept.has(variable) ? `${variable}, replaces the key that is kept` : variable,
      variable,
    }));
    // Whoever types the name of a provider that is not in the list is to find it.
    items.push({ label: 'Another provider…', description: 'one that the setting azimuth.providers names, with its keyEnv', alwaysShow: true });
    const picked = await vscode.window.showQuickPick(items, { title: 'Azimuth: whose API key?', ignoreFocusOut: true });
    if (picked === undefined || picked.variable !== undefined) return picked?.variable;
    return vscode.window.showInputBox({
      title: 'Azimuth: the variable that keyEnv names',
      placeHolder: 'EXAMPLE_API_KEY',
      ignoreFocusOut: true,
      // Others, such as PATH or LD_PRELOAD, would do more than hold a key.
      validateInput: (text) => (/^[A-Z][A-Z0-9_]*_(KEY|TOKEN)$/.test(text) ? undefined : 'Capital letters, digits and underscores, with _KEY or _TOKEN at the end.'),
    });
  }
}

function secret(variable: string): string {
  return `azimuth.key.${variable}`;
}
