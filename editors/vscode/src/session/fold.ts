// The part of a session that the editor shows, as a fold of its events: status bar, review, questions and terminals.
// Pure; the chat builds on it, and adds what was said.

import type {
  AutoScope, Event, Hunk, Mode, ModelInfo, PermissionId, PermissionRequest, Proposal, ProposalId, SequencedEvent, SessionInfo, SpokenEvent, ThinkingLevel, TurnId,
  UnseenEvent,
} from '../generated/protocol';
import { foldTerminals, type Terminals } from '../terminal/state';

/** How full the context is, in tokens: what is used of it, the window, and from where on old results are removed. */
export interface Fill {
  used: number;
  limit: number;
  full?: number | undefined;
}

/** A session's state after its events so far. */
export interface SessionState {
  lastSeq: number;
  title: string;
  mode: Mode;
  /** The id of the session's own model. A turn may ask another one. */
  model: string | undefined;
  /** The level at which it thinks; undefined if it thinks as it does by itself. */
  thinking: ThinkingLevel | undefined;
  scripted: boolean;
  /** The model that the running turn asks, and the level at which it thinks; undefined between turns. */
  turnModel: Asked | undefined;
  /** US dollars, as far as prices are known. */
  cost: number;
  context: Fill | undefined;
  runningTurn: TurnId | undefined;
  /** The questions that wait, first asked first. */
  questions: ReadonlyMap<PermissionId, PermissionRequest>;
  /** Every proposal, decided ones included, as last told. */
  proposals: ReadonlyMap<ProposalId, Proposal>;
  terminals: Terminals;
  /** The switch for accepting edits automatically; undefined if the session has not said. */
  acceptEdits: AcceptEdits | undefined;
}

/** A model, and the level at which it thinks. */
export type Asked = Pick<SessionState, 'model' | 'thinking'>;

/** The switch for accepting edits automatically, and for how long that was said. */
export interface AcceptEdits {
  on: boolean;
  scope: AutoScope;
  /** True if it was last switched on for the project, whatever this session says. */
  project: boolean;
}

/** Before the first event. What is not told of the session its events will say. */
export function begin(info: Pick<SessionInfo, 'title' | 'mode' | 'model'> = { title: '', mode: 'agent' }): SessionState {
  return {
    lastSeq: 0,
    title: info.title,
    mode: info.mode,
    model: info.model,
    thinking: undefined,
    scripted: false,
    turnModel: undefined,
    cost: 0,
    context: undefined,
    runningTurn: undefined,
    questions: new Map(),
    proposals: new Map(),
    terminals: new Map(),
    acceptEdits: undefined,
  };
}

/** The state after one more event. An event that was seen already changes nothing. */
export function fold(state: SessionState, { seq, at, event }: SequencedEvent): SessionState {
  if (seq <= state.lastSeq) return state;
  return { ...state, ...change(state, event), terminals: foldTerminals(state.terminals, event, at), lastSeq: seq };
}

/** Events to keep for showing the session anew: deltas of a message that is whole, or void, are left out, and what terminals were before. */
export function compact(events: readonly SequencedEvent[]): SequencedEvent[] {
  const over = new Set<string>();
  const last = new Map<string, Event>();
  for (const { event } of events) {
    if (event.type === 'messageCompleted' || event.type === 'messageDiscarded') over.add(event.messageId);
    if (event.type === 'terminalChanged') last.set(event.terminal.terminalId, event);
  }
  const isOver = (event: Event): boolean =>
    (isDelta(event) && over.has(event.messageId)) || (event.type === 'terminalChanged' && last.get(event.terminal.terminalId) !== event);
  return events.filter(({ event }) => !isOver(event));
}

/** True if an event is a piece of a message that is not whole yet. */
export function isDelta(event: Event): event is Extract<Event, { type: 'messageDelta' | 'thinkingDelta' | 'editDelta' }> {
  return event.type === 'messageDelta' || event.type === 'thinkingDelta' || event.type === 'editDelta';
}

/** The hunks that wait for a decision. */
export function pendingHunks(proposal: Proposal): Hunk[] {
  return proposal.hunks.filter((hunk) => hunk.state === 'pending');
}

/** The hunks that do not fit the text any more. What is proposed can only be rejected then, and what has landed only be kept. */
export function conflictedHunks(proposal: Proposal): Hunk[] {
  return proposal.hunks.filter((hunk) => hunk.state === 'conflicted');
}

/** The agent's proposals, and those that have landed already, for which nothing waits. */
export interface Groups {
  proposed: Proposal[];
  landed: Proposal[];
}

/** The proposals that hold a hunk that waits. */
export function pendingProposals(proposals: Iterable<Proposal>): Groups {
  return grouped([...proposals].filter((proposal) => pendingHunks(proposal).length > 0));
}

/** The proposals that hold a hunk that is not decided: one that waits, or one in conflict. */
export function openProposals(proposals: Iterable<Proposal>): Groups {
  return grouped([...proposals].filter((proposal) => pendingHunks(proposal).length + conflictedHunks(proposal).length > 0));
}

function grouped(proposals: Proposal[]): Groups {
  return { proposed: proposals.filter(({ landed }) => landed !== true), landed: proposals.filter(({ landed }) => landed === true) };
}

/** Who made the change of a proposal that landed, for people. */
export function landedBy({ hunks }: Proposal): string {
  return hunks.some(({ toolCallIds }) => toolCallIds.length > 0) ? 'a command' : 'another program';
}

/** The model that is asked now: the one of the turn that runs, else the session's own. */
export function asked(state: SessionState): Asked {
  return state.turnModel ?? state;
}

/** The level at which a session's model thinks, or that of new ones: the one that was last chosen for the model. */
export function thinkingOf(state: Asked | undefined, model: ModelInfo | undefined): ThinkingLevel | undefined {
  return state?.model === undefined || state.model === '' ? model?.level : state.thinking;
}

function change(state: SessionState, event: Event): Partial<SessionState> {
  switch (event.type) {
    case 'titleChanged':
      return { title: event.title };
    case 'modelChanged':
      return { model: event.model, scripted: event.scripted, thinking: event.thinking };
    case 'modeChanged':
      return { mode: event.mode };
    case 'acceptEditsChanged':
      return { acceptEdits: accepting(event, state.acceptEdits) };
    case 'turnStarted':
      return { runningTurn: event.turnId, mode: event.mode, ...modelOfTurn(state, event.model) };
    case 'turnModelChanged':
      return { turnModel: { model: event.model, thinking: event.thinking } };
    case 'turnEnded':
      // Questions do not outlive their turn.
      return event.turnId === state.runningTurn ? { runningTurn: undefined, turnModel: undefined, questions: new Map() } : {};
    case 'messageCompleted':
    case 'requestPaid':
    case 'sideAsked':
    case 'childWorked':
      return { cost: state.cost + (event.cost ?? 0) };
    case 'contextUsed':
      return { context: { used: event.used, limit: event.limit, full: event.full } };
    // How full it is now is known with the next answer.
    case 'compactionTakenBack':
      return { context: undefined };
    case 'permissionAsked':
      return { questions: new Map(state.questions).set(event.request.permissionId, event.request) };
    case 'permissionAnswered':
      return { questions: without(state.questions, event.permissionId) };
    case 'proposalChanged':
      return { proposals: new Map(state.proposals).set(event.proposal.proposalId, event.proposal) };
    // The chat has what was said and done, and the terminals have what runs.
    case 'sessionStarted':
    case 'commandExecuted':
    case 'steered':
    case 'promptQueued':
    case 'promptDequeued':
    case 'noted':
    case 'messageDelta':
    case 'thinkingDelta':
    case 'editDelta':
    case 'messageDiscarded':
    case 'retrying':
    case 'planUpdated':
    case 'toolCallStarted':
    case 'toolCallEnded':
    case 'permissionJudged':
    case 'reviewDecided':
    case 'editApplied':
    case 'formatted':
    case 'terminalStarted':
    case 'terminalEnded':
    case 'terminalChanged':
    case 'terminalInput':
    case 'userCommandStarted':
    case 'userCommandEnded':
    case 'filesChanged':
    case 'checkpointRestored':
    case 'contextTrimmed':
    case 'compacting':
    case 'compacted':
    case 'compactionFailed':
    case 'compactionCorrected':
      return {};
    default:
      return unseen(event);
  }
}

/** The model that a turn asks first. It is taken for the session's own only where that is not known. */
function modelOfTurn(state: SessionState, model: string): Partial<SessionState> {
  if (model === '') return { turnModel: undefined };
  const own = state.model ?? model;
  return { model: own, turnModel: { model, thinking: model === own ? state.thinking : undefined } };
}

/** Passes over an event that nobody sees or that says all in words, and a kind that only a later server knows. The compiler lets no other come here. */
const unseen: (event: UnseenEvent | SpokenEvent) => Record<string, never> = () => ({});

/** The words of an event that says all in words, also of a kind that only a later server knows. The compiler lets no event of another sort come here but those that nobody sees. */
export function spoken(event: UnseenEvent | SpokenEvent): Pick<SpokenEvent, 'severity' | 'text'> | undefined {
  return 'severity' in event && 'text' in event ? event : undefined;
}

function accepting({ on, scope }: Extract<Event, { type: 'acceptEditsChanged' }>, before: AcceptEdits | undefined): AcceptEdits {
  return { on, scope, project: scope === 'project' ? on : (before?.project ?? false) };
}

function without<K, V>(map: ReadonlyMap<K, V>, key: K): ReadonlyMap<K, V> {
  const rest = new Map(map);
  rest.delete(key);
  return rest;
}
