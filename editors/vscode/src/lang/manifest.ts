// The part of an extension's manifest that is about the languages that it knows. Pure.

import type { LangServer } from '../generated/protocol';

/** True if an extension has code that VS Code runs for a language, or without one, for any language in particular. */
export function serves(manifest: unknown, language?: string): boolean {
  const { main, activationEvents, contributes } = record(manifest);
  // One without code has a grammar, and no more. What is only for browsers does not run beside us.
  if (typeof main !== 'string') return false;
  const events = list(activationEvents).filter((event) => typeof event === 'string');
  const contributed = list(record(contributes)['languages']).map((one) => record(one)['id']);
  if (language === undefined) return contributed.length > 0 || events.some((event) => event.startsWith('onLanguage:'));
  return events.includes(`onLanguage:${language}`) || contributed.includes(language);
}

/** An extension, named as a server. */
export function named(id: string, manifest: unknown): LangServer {
  const { displayName, version } = record(manifest);
  return {
    name: typeof displayName === 'string' && displayName !== '' && !displayName.startsWith('%') ? displayName : id,
    ...(typeof version === 'string' ? { version } : {}),
  };
}

/** True if a source of problems is called like something for a language: its id, or the names of extensions for it. */
export function isCalledAs(source: string, names: readonly string[]): boolean {
  const known = names.flatMap(words);
  return words(source).some((word) => known.some((one) => word === one || (Math.min(word.length, one.length) >= 3 && (word.includes(one) || one.includes(word)))));
}

/** The words of a name that tell one thing from another. */
function words(name: string): string[] {
  return name.toLowerCase().split(/[^\p{L}\p{N}+#]+/u).filter((word) => word !== '' && !COMMON.has(word));
}

const COMMON = new Set(['vscode', 'code', 'language', 'languages', 'features', 'support', 'server', 'client', 'extension', 'tools', 'for', 'the', 'and', 'lsp']);

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? value as Record<string, unknown> : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
