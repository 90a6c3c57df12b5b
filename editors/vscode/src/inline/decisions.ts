// The last decisions on suggestions, in words. Pure.

import type { InlineDecision, InlineSource, Rule } from '../generated/protocol';

/** The decisions that are kept here. */
const MOST = 20;

/** A decision as a row of a list. */
export interface Words {
  isShown: boolean;
  label: string;
  description: string;
  detail: string;
}

export function wordsOf({ reason, position, trigger, source, model, tookMs, changedBy = [], isEdit }: InlineDecision, time: string): Words {
  const subject = isEdit === true ? 'An edit' : 'Text';
  const how = [
    reason !== undefined && isEdit === true ? 'An edit' : undefined,
    trigger === 'invoked' ? 'Requested manually' : 'You typed',
    sources[source],
    model,
    source === 'none' ? undefined : `${tookMs} ms`,
    changedBy.length === 0 ? undefined : `changed by: ${changedBy.map(named).join(', ')}`,
  ];
  return {
    isShown: reason === undefined,
    label: reason === undefined ? `${subject} was suggested.` : reason.words,
    description: `line ${position.line + 1}, column ${position.character + 1} · ${time}`,
    detail: how.filter((part) => part !== undefined && part !== '').join(' · '),
  };
}

/** The decisions with another one. One that says the same of the same document as the last takes its place. */
export function noted(decisions: readonly InlineDecision[], one: InlineDecision): InlineDecision[] {
  const last = decisions.at(-1);
  const isSame = last?.uri === one.uri && last.isEdit === one.isEdit && last.trigger === one.trigger && last.reason?.words === one.reason?.words;
  return [...(isSame ? decisions.slice(0, -1) : decisions), one].slice(-MOST);
}

/** The decisions of the server and of this window, the newest first. */
export function merged(...lists: (readonly InlineDecision[])[]): InlineDecision[] {
  return lists.flat().sort((a, b) => b.at - a.at);
}

const sources: Record<InlineSource, string> = {
  none: '',
  kept: 'cached',
  running: 'joined a running request',
  model: 'the model was asked',
};

/** A rule's name as words: `repeats_after` is "repeats after". */
function named(rule: Rule): string {
  return rule.replaceAll('_', ' ');
}
