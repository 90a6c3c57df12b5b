// Events about files, in words for the chat. Pure.

import type { ChangedFile, Event, RestoredFile } from '../generated/protocol';

/** The news of what became of some files. */
export interface FileNews {
  /** All of it in a line. */
  title: string;
  files: FileLine[];
  /** How many files there are beyond these. */
  more: number;
}

/** A line that says what became of a file. */
export interface FileLine {
  uri: string;
  path: string;
  words: string;
  /** Why it is not as one would think; then it is shown at once. */
  problem?: string;
}

/** So many files are listed. A command may change thousands. */
const LISTED = 200;

/** The files that a command, or another program, changed. */
export function changedFiles({ files, toolCallId }: Extract<Event, { type: 'filesChanged' }>, folders: readonly string[]): FileNews {
  const lines = files.map((file) => ({ uri: file.uri, path: pathIn(file.uri, folders), ...changeInWords(file) }));
  const who = toolCallId === undefined ? 'Another program' : 'A command';
  return { title: `${who} changed ${count(files.length)}`, ...listed(lines) };
}

/** The files that were undone or redone, and those that were left. */
export function restoredFiles({ direction, files }: Extract<Event, { type: 'checkpointRestored' }>): FileNews {
  return { title: restoredInWords(direction, files), ...listed(files.map((file) => restoredLine(direction, file))) };
}

/** Such as `Undone: 3 files. Left as they are: 1.` */
export function restoredInWords(direction: 'undo' | 'redo', files: readonly RestoredFile[]): string {
  const number = (...types: string[]): number => files.filter(({ outcome }) => types.includes(outcome.type)).length;
  const [done, left, failed] = [number('done', 'unverified'), number('left'), number('failed')];
  const words = [
    `${direction === 'undo' ? 'Undone' : 'Redone'}: ${count(done)}.`,
    left > 0 ? `Left as ${left === 1 ? 'it is' : 'they are'}: ${left}.` : '',
    failed > 0 ? `Failed: ${failed}.` : '',
  ];
  return words.filter((word) => word !== '').join(' ');
}

export function formattedInWords({ uri, by, added, removed }: Extract<Event, { type: 'formatted' }>, folders: readonly string[]): string {
  return `${by ?? 'The editor'} formatted ${pathIn(uri, folders)} (+${added} −${removed})`;
}

export function autoInWords({ on, scope }: Extract<Event, { type: 'acceptEditsChanged' }>): string {
  const where = scope === 'project' ? 'in every session of this project' : 'in this session';
  return on ? `Edits are accepted automatically ${where} from here on.` : `Edits wait for your review ${where} from here on.`;
}

/** A file's path for people: relative to the folder that it is in. */
export function pathIn(uri: string, folders: readonly string[]): string {
  const folder = folders.map((one) => (one.endsWith('/') ? one : `${one}/`)).find((one) => uri.startsWith(one));
  const path = folder === undefined ? uri.replace(/^file:\/\//, '') : uri.slice(folder.length);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function listed(lines: FileLine[]): { files: FileLine[]; more: number } {
  // Lines that need a look stand first, so that they are among those that are listed.
  const sorted = [...lines.filter(({ problem }) => problem !== undefined), ...lines.filter(({ problem }) => problem === undefined)];
  return { files: sorted.slice(0, LISTED), more: Math.max(0, lines.length - LISTED) };
}

function changeInWords({ before, after, unknown }: ChangedFile): { words: string; problem?: string } {
  if (unknown !== undefined) return { words: 'changed', problem: `cannot be undone: ${unknown}` };
  if (before === undefined) return { words: 'new' };
  return { words: after === undefined ? 'deleted' : 'changed' };
}

function restoredLine(direction: 'undo' | 'redo', { uri, path, outcome }: RestoredFile): FileLine {
  const done = direction === 'undo' ? 'undone' : 'redone';
  switch (outcome.type) {
    case 'done': return { uri, path, words: done };
    case 'unverified': return { uri, path, words: done, problem: 'the editor did not show it yet' };
    case 'left': return { uri, path, words: 'left as it is', problem: outcome.reason };
    case 'failed': return { uri, path, words: 'failed', problem: outcome.reason };
  }
}

function count(files: number): string {
  return files === 1 ? '1 file' : `${files} files`;
}

/** Says which model or account could not be asked, why, until when, and which one continues. */
export function switchInWords({ account, reason, until, error, ...models }: Extract<Event, { type: 'turnModelChanged' }>): string {
  const named = (name: string): string => `${models.model.split('/', 1)[0]} (${name})`;
  const { model, insteadOf } = account === undefined ? models : { model: named(account.name), insteadOf: named(account.insteadOf) };
  const rest = until === undefined ? '' : ` until ${timeOf(until)}`;
  const why = error === undefined ? '' : ` (${error.replace(/\.$/, '')})`;
  const what = {
    rate_limited: `${insteadOf} takes no more requests${rest}`,
    quota_used_up: `The quota of ${insteadOf} is used up${why}`,
    unauthorized: `${insteadOf} cannot be asked${why}`,
    failed: `${insteadOf} failed and is not asked${rest}`,
    context_full: `The conversation no longer fits into ${insteadOf}`,
  }[reason];
  return `${what}; ${model} continues.`;
}

/** A time of today, or with its day if it is another one. */
function timeOf(at: number): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' }) : date.toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
}
