// Whether text is suggested where the user types, and if not, why. Pure.

import type { InlineStatusParams, Reason } from '../generated/protocol';

/** All that it depends on. */
export interface Facts {
  /** The server's word; absent if none runs. */
  status?: InlineStatusParams | undefined;
  /** The user's settings for all languages, and for the one of the document. */
  isOn: boolean;
  isOnForLanguage: boolean;
  /** The name of the language, if there is a document. */
  language?: string | undefined;
  /** VS Code's own setting. */
  isOnInEditor: boolean;
  /** The names of other extensions that suggest text, unless the user wants both. */
  others: readonly string[];
  /** The minutes of the user's pause that are left, rounded up. */
  pause: number;
}

/** A remedy that the user has at once. */
export type Remedy = 'turnOn' | 'turnOnForLanguage' | 'turnOnInEditor' | 'resume' | 'suggestToo';

export interface State {
  kind: 'ready' | 'off' | 'paused' | 'failing';
  /** The reason, unless it is ready. */
  reason?: Reason;
  remedy?: Remedy;
  model?: string;
}

export function stateOf(facts: Facts): State {
  const { status, others, pause } = facts;
  if (status === undefined) return off('The server is not running.');
  if (status.state === 'off') return { kind: 'off', reason: status.reason ?? { rule: 'no_model', words: 'There is no model for suggestions.' } };
  if (!facts.isOn) return off('Suggestions are switched off.', 'turnOn');
  if (!facts.isOnForLanguage) return off(`Suggestions are switched off for ${facts.language ?? 'this language'}.`, 'turnOnForLanguage');
  if (!facts.isOnInEditor) return off('The setting editor.inlineSuggest.enabled of VS Code is off.', 'turnOnInEditor');
  if (others.length > 0) return off(`${listed(others)} ${others.length === 1 ? 'suggests' : 'suggest'} text already, so Azimuth does not.`, 'suggestToo');
  const model = status.model === undefined ? {} : { model: status.model };
  if (pause > 0) return { kind: 'paused', reason: { rule: 'snoozed', words: `Suggestions are paused for ${minutes(pause)}.` }, remedy: 'resume', ...model };
  if (status.state === 'failing') return { kind: 'failing', ...model, ...(status.reason === undefined ? {} : { reason: status.reason }) };
  return { kind: 'ready', ...model };
}

/** A switch as VS Code holds it, place by place. */
export interface Switch {
  defaultValue?: unknown;
  globalValue?: unknown;
  workspaceValue?: unknown;
  workspaceFolderValue?: unknown;
  defaultLanguageValue?: unknown;
  globalLanguageValue?: unknown;
  workspaceLanguageValue?: unknown;
  workspaceFolderLanguageValue?: unknown;
}

/** The user's own value, and false if a workspace switches it off: a workspace that comes with it must not have text sent. */
export function isOn(value: Switch = {}): boolean {
  const own = value.globalLanguageValue ?? value.globalValue ?? value.defaultLanguageValue ?? value.defaultValue;
  return own !== false && isOnInWorkspace(value);
}

export function isOnInWorkspace({ workspaceFolderLanguageValue, workspaceFolderValue, workspaceLanguageValue, workspaceValue }: Switch = {}): boolean {
  return (workspaceFolderLanguageValue ?? workspaceLanguageValue ?? workspaceFolderValue ?? workspaceValue) !== false;
}

/** The item in the status bar: its text, and what it says when it is pointed at. */
export function wordsOf({ kind, reason, model }: State): { text: string; tooltip: string } {
  const lines = [`Azimuth: ${titles[kind]}`, reason?.words, model === undefined ? undefined : `Model: ${model}`, kind === 'ready' ? undefined : 'Choose to see what can be done.'];
  return { text: texts[kind], tooltip: lines.filter((line) => line !== undefined).join('\n') };
}

export function minutes(count: number): string {
  return count === 1 ? '1 minute' : `${count} minutes`;
}

/** Names, as in a sentence. */
export function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;
}

const titles: Record<State['kind'], string> = {
  ready: 'text is suggested where you type',
  off: 'no text is suggested',
  paused: 'suggestions are paused',
  failing: 'the model for suggestions fails',
};

const texts: Record<State['kind'], string> = {
  ready: '$(pencil) suggests',
  off: '$(circle-slash) suggests nothing',
  paused: '$(debug-pause) suggestions paused',
  failing: '$(warning) suggestions fail',
};

function off(words: string, remedy?: Remedy): State {
  return { kind: 'off', reason: { rule: 'off', words }, ...(remedy === undefined ? {} : { remedy }) };
}
