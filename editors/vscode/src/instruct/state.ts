// The progress of an instruction ("change this"), as a fold of its session's events, and where its selections are by now. Pure.

import type { AssistantBlock, Event, Range, SequencedEvent, StopReason } from '../generated/protocol';
import { begin, conflictedHunks, fold, pendingHunks, type SessionState } from '../session/fold';
import { grown, type Arriving } from './arriving';

/** The state of an instruction. */
export interface Progress {
  session: SessionState;
  /** The lines that the model has written in this turn, in edits that may still be arriving. */
  lines: number;
  /** The call that is arriving, and true if its next piece begins a line. */
  piece: { toolCallId: string; isAtStart: boolean } | undefined;
  /** The diffs of the message that is arriving. */
  arriving: readonly Arriving[];
  /** The model's last message in this turn. */
  said: { messageId: string; text: string } | undefined;
  /** True if the turn has proposed something. */
  hasProposed: boolean;
  /** The end of the last turn; undefined while one runs. */
  ended: { reason: StopReason; error: string | undefined } | undefined;
}

/** Before the first event. */
export function beginning(): Progress {
  return { session: begin(), ...fresh };
}

/** The state after one more event. One that was seen already changes nothing. */
export function follow(before: Progress, event: SequencedEvent): Progress {
  const session = fold(before.session, event);
  return session === before.session ? before : { ...before, ...change(before, event.event), session };
}

/** True if something of it waits: a turn that runs, or a hunk that is not decided. */
export function isOpen({ session }: Progress): boolean {
  const waits = [...session.proposals.values()].some((one) => pendingHunks(one).length + conflictedHunks(one).length > 0);
  return session.runningTurn !== undefined || waits || isApplying(session);
}

/** The words for what it does; undefined if no turn runs. */
export function doing({ session, lines }: Progress): string | undefined {
  if (session.runningTurn === undefined) return undefined;
  if (session.questions.size > 0) return 'Azimuth: asks you before it goes on';
  return `Azimuth: changing…${lines === 0 ? '' : ` ${lines === 1 ? '1 line' : `${lines} lines`}`}`;
}

/** The words for an end without a proposal, or with a failure; undefined if there is nothing to say. */
export function outcome({ ended, hasProposed, said }: Progress): string | undefined {
  if (ended === undefined || ended.reason === 'cancelled') return undefined;
  if (ended.error !== undefined) return ended.error;
  if (ended.reason !== 'end_turn') return `The change ended early (${ended.reason.replaceAll('_', ' ')}). Refine it to go on.`;
  if (hasProposed) return undefined;
  const text = said?.text.trim() ?? '';
  return text === '' ? 'The model proposed no change and said nothing.' : text;
}

/** A range of a document after a change of the text in another range. What is put into it or at its borders belongs to it. */
export function shifted({ start, end }: Range, changed: Range, text: string): Range {
  const lines = text.split('\n');
  const last = lines.at(-1)?.length ?? 0;
  const newEnd = { line: changed.start.line + lines.length - 1, character: lines.length === 1 ? changed.start.character + last : last };
  const moved = ({ line, character }: Position): Position => (line === changed.end.line
    ? { line: newEnd.line, character: newEnd.character + character - changed.end.character }
    : { line: line + newEnd.line - changed.end.line, character });
  const from = isBefore(changed.start, start) ? (isBefore(start, changed.end) ? changed.start : moved(start)) : start;
  const to = isBefore(end, changed.start) ? end : isBefore(end, changed.end) ? newEnd : moved(end);
  return { start: from, end: to };
}

/** The last line that a selection holds something of, or that it is empty in. */
export function lastLineOf({ start, end }: Range): number {
  return end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
}

/** The selections in words: `lines 3 to 5`, `line 8, at the cursor`, `2 selections`, `the whole file`. */
export function selectedInWords(selections: readonly Range[]): string {
  const [only] = selections;
  if (only === undefined) return 'the whole file';
  if (selections.length > 1) return `${selections.length} selections`;
  const { start, end } = only;
  if (start.line === end.line && start.character === end.character) return `line ${start.line + 1}, at the cursor`;
  const last = lastLineOf(only);
  return last === start.line ? `line ${start.line + 1}` : `lines ${start.line + 1} to ${last + 1}`;
}

/** The history of instructions with one more: the newest first, each once. */
export function remembered(history: readonly string[], instruction: string): string[] {
  return [instruction, ...history.filter((one) => one !== instruction)].slice(0, KEPT);
}

type Position = Range['start'];

/** So many instructions are kept in the history. */
const KEPT = 30;

const fresh = { lines: 0, piece: undefined, arriving: [], said: undefined, hasProposed: false, ended: undefined };

function change(before: Progress, event: Event): Partial<Progress> {
  switch (event.type) {
    case 'turnStarted':
      return fresh;
    case 'editDelta': {
      const isAtStart = before.piece?.toolCallId !== event.toolCallId || before.piece.isAtStart;
      const begun = `${isAtStart ? '\n' : ''}${event.text}`.match(/\n\+/g)?.length ?? 0;
      return { arriving: grown(before.arriving, event), lines: before.lines + begun, piece: { toolCallId: event.toolCallId, isAtStart: false, ...(event.text.endsWith('\n') ? { isAtStart: true } : {}) } };
    }
    case 'messageDelta':
      return { said: { messageId: event.messageId, text: `${before.said?.messageId === event.messageId ? before.said.text : ''}${event.text}` } };
    case 'messageCompleted': {
      const text = event.content.map(textOf).join('');
      return { piece: undefined, arriving: [], ...(text === '' ? {} : { said: { messageId: event.messageId, text } }) };
    }
    case 'messageDiscarded':
      return { lines: 0, piece: undefined, arriving: [], said: undefined };
    case 'proposalChanged':
      return before.session.runningTurn === undefined ? {} : { hasProposed: true };
    case 'turnEnded':
      return { arriving: [], ended: { reason: event.stopReason, error: event.error } };
    default:
      return {};
  }
}

function textOf(block: AssistantBlock): string {
  return block.type === 'text' ? block.text : '';
}

function isApplying({ proposals }: SessionState): boolean {
  return [...proposals.values()].some(({ hunks }) => hunks.some(({ state }) => state === 'applying'));
}

function isBefore(a: Position, b: Position): boolean {
  return a.line < b.line || (a.line === b.line && a.character < b.character);
}
