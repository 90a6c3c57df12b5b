// The state of suggestions where the user types, and the reason if there are none. Pure.

import type { InlineStatusParams, Reason } from '../generated/protocol';
import { dollars } from '../text';

/** All that it depends on. */
export interface Facts {
  /** The server's word; absent if none runs, or it has said nothing yet. */
  status?: InlineStatusParams | undefined;
  /** True while the server starts, and until it has said something. */
  isStarting?: boolean;
  /** The user's setting for all languages. */
  isOn: boolean;
  /** The one that applies: for the language of the document, if there is one. */
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
  kind: 'starting' | 'ready' | 'off' | 'paused' | 'slow' | 'failing';
  /** The reason, unless it is ready. */
  reason?: Reason;
  remedy?: Remedy;
  model?: string;
  /** The model that suggests edits. If it is ready for these only, there is a reason why no text is suggested. */
  editModel?: string;
  /** Today’s cost in US dollars, if anything costs. */
  cost?: number;
  isCostUnknown?: true;
}

export function stateOf(facts: Facts): State {
  const { cost, costUnknown } = facts.status ?? {};
  return { ...kindOf(facts), ...(cost === undefined ? {} : { cost }), ...(costUnknown === true ? { isCostUnknown: true } : {}) };
}

function kindOf(facts: Facts): State {
  const { status, others, pause } = facts;
  if (status === undefined) return facts.isStarting === true ? { kind: 'starting', reason: { rule: 'off', words: 'The server is starting.' } } : off('The server is not running.');
  const none = status.state === 'off' ? (status.reason ?? { rule: 'off', words: 'No model is named for suggestions.' } as const) : undefined;
  if (none !== undefined && status.editModel === undefined) return { kind: 'off', reason: none };
  if (!facts.isOnForLanguage) {
    return facts.isOn ? off(`Suggestions are switched off for ${facts.language ?? 'this language'}.`, 'turnOnForLanguage') : off('Suggestions are switched off.', 'turnOn');
  }
  if (!facts.isOnInEditor) return off('The setting editor.inlineSuggest.enabled of VS Code is off.', 'turnOnInEditor');
  if (others.length > 0) return off(`${listed(others)} ${others.length === 1 ? 'suggests' : 'suggest'} text already, so Azimuth does not.`, 'suggestToo');
  const model = { ...(status.model === undefined ? {} : { model: status.model }), ...(status.editModel === undefined ? {} : { editModel: status.editModel }) };
  if (pause > 0) return { kind: 'paused', reason: { rule: 'snoozed', words: `Suggestions are paused for ${minutes(pause)}.` }, remedy: 'resume', ...model };
  if (status.state === 'failing' || status.state === 'slow') return { kind: status.state, ...model, ...(status.reason === undefined ? {} : { reason: status.reason }) };
  return { kind: 'ready', ...model, ...(none === undefined ? {} : { reason: none }) };
}

/** The reason to ask for no text. A model that is slow or fails is asked all the same. */
export function silenceOfText({ kind, reason }: State): Reason | undefined {
  return kind === 'failing' || kind === 'slow' ? undefined : reason;
}

/** The reason to ask for no edit. What the model for text does is nothing to it. */
export function silenceOfEdits(state: State): Reason | undefined {
  if (state.kind !== 'ready' && silenceOfText(state) !== undefined) return state.reason;
  return state.editModel === undefined ? { rule: 'not_set', words: 'No model is named for edits.' } : undefined;
}

/** True if a model is named for suggestions, as far as the server says: without a reason it has not said anything of one. */
export function isModelNamed({ state, reason, editModel }: InlineStatusParams): boolean {
  // The server may know rules that the generated types do not have yet.
  const rule: string | undefined = reason?.rule;
  return state !== 'off' || editModel !== undefined || (rule !== undefined && rule !== 'not_set');
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

/** True if the user wants suggestions: a model is named or was there the last time, and they are on for some language. */
export function areWanted(facts: { hadModel: boolean; models: readonly unknown[]; all: Switch; languages: readonly Switch[] }): boolean {
  const isModelThere = facts.hadModel || facts.models.some((model) => typeof model === 'string' && model !== '');
  return isModelThere && [facts.all, ...facts.languages].some(isOn);
}

/** The switch as it is now, as a sentence. `others` are the languages in which it is otherwise. */
export function switchInWords(value: Switch, language: string | undefined, others: readonly string[] = []): string {
  const on = isOn(value);
  const where = language === undefined ? '' : ` for ${language}`;
  const why = isOnInWorkspace(value) ? '' : ', by the settings of the workspace';
  const but = others.length === 0 ? '' : `, but ${on ? 'off' : 'on'} for ${listed(others)}`;
  return `Azimuth: suggestions are ${on ? 'on' : 'off'}${where}${why}${but}.`;
}

/** The item in the status bar: its text, and what it says when it is pointed at. */
export function wordsOf({ kind, reason, model, editModel, cost, isCostUnknown }: State): { text: string; tooltip: string } {
  const title = kind === 'ready' && editModel !== undefined ? (reason === undefined ? 'text and edits are suggested' : 'only edits are suggested') : titles[kind];
  const today = cost === undefined ? undefined : `${dollars(cost)} today`;
  const lines = [
    `Azimuth: ${title}`,
    reason?.words,
    model === undefined ? undefined : `Model: ${model}`,
    editModel === undefined ? undefined : `Model for edits: ${editModel}`,
    today === undefined ? undefined : `Cost: ${today} (UTC), in all windows`,
    isCostUnknown === true ? 'The cost of the model is not known, so no limit holds for it.' : undefined,
    kind === 'ready' ? undefined : 'Select for options.',
  ];
  return { text: today === undefined ? texts[kind] : `${texts[kind]} · ${today}`, tooltip: lines.filter((line) => line !== undefined).join('\n') };
}

export function minutes(count: number): string {
  return count === 1 ? '1 minute' : `${count} minutes`;
}

/** Names, as in a sentence. */
export function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;
}

const titles: Record<State['kind'], string> = {
  starting: 'suggestions are starting',
  ready: 'text is suggested where you type',
  off: 'nothing is suggested',
  paused: 'suggestions are paused',
  slow: 'the model for suggestions is slow',
  failing: 'the model for suggestions fails',
};

const texts: Record<State['kind'], string> = {
  starting: '$(loading~spin) Suggestions starting',
  ready: '$(pencil) Suggestions',
  off: '$(circle-slash) Suggestions off',
  paused: '$(debug-pause) Suggestions paused',
  slow: '$(warning) Suggestions slow',
  failing: '$(warning) Suggestions failing',
};

function off(words: string, remedy?: Remedy): State {
  return { kind: 'off', reason: { rule: 'off', words }, ...(remedy === undefined ? {} : { remedy }) };
}
