// A language server of Azimuth's own, in words. Pure.

import type { ServerInfo, ServerState } from '../generated/protocol';

/** The words for a server in a list: what it is, its status, and where it belongs and why. `folder` names its root. */
export interface Words {
  label: string;
  description: string;
  detail: string;
}

export function wordsOf({ name, version, state, memoryBytes, program, why }: ServerInfo, folder: string): Words {
  const words = (parts: readonly (string | undefined)[]): string => parts.filter((part) => part !== undefined && part !== '').join(' · ');
  return {
    label: words([[name, version].filter((part) => part !== undefined).join(' ')]),
    description: words([stateInWords(state), memoryBytes === undefined ? undefined : sizeInWords(memoryBytes)]),
    detail: words([folder, why, program]),
  };
}

/** The codicon of a state. */
export function iconOf(state: ServerState): string {
  return (known as Partial<typeof known>)[state]?.icon ?? 'question';
}

export function stateInWords(state: ServerState): string {
  return (known as Partial<typeof known>)[state]?.word ?? state;
}

/** True if there is something that can be restarted. */
export function canRestart({ state }: ServerInfo): boolean {
  return state !== 'missing' && state !== 'notAllowed';
}

/** Bytes, in the units that people compare. */
export function sizeInWords(bytes: number): string {
  const mega = bytes / 1_048_576;
  return mega >= 1_024 ? `${(mega / 1_024).toFixed(1)} GiB` : `${Math.max(1, Math.round(mega))} MiB`;
}

const known: Record<ServerState, { icon: string; word: string }> = {
  notStarted: { icon: 'circle-outline', word: 'starts with the first question' },
  notAllowed: { icon: 'lock', word: 'not allowed to start' },
  missing: { icon: 'circle-slash', word: 'not found' },
  starting: { icon: 'loading~spin', word: 'starts' },
  indexing: { icon: 'loading~spin', word: 'reads the project' },
  ready: { icon: 'pass', word: 'ready' },
  crashed: { icon: 'error', word: 'crashed' },
  stopped: { icon: 'debug-stop', word: 'stopped' },
};
