// The border between the extension host and the chat's webview: every message that crosses it, both ways.
//
// The host hands over the end of a session's chat, forwards the session's events as the server sent them, in order, and
// tells facts that are no events. The webview folds and shows them. It can do nothing by itself: it posts intents, and the host carries them out.

import type {
  AutoScope, CompactionId, Decision, DecisionTarget, Direction, FormAnswer, HunkId, Mode, ModelInfo, PermissionId, PlanEntry, PromptBeginningsResult, PromptBlock, PromptCompleteResult,
  ProposalId, QueueId, SequencedEvent, SessionId, SessionInfo, TerminalId, TerminalInfo, ToolCallId, TurnId,
} from '../generated/protocol';
import type { ChatSnapshot, Entry } from './fold';

/** A message from the host to the webview. */
export type HostMessage =
  | SessionMessage
  | EventsMessage
  | EarlierMessage
  | TerminalsMessage
  | TailMessage
  | FactsMessage
  | PromptSettledMessage
  | RefusedMessage
  | CompletionsMessage
  | AttachMessage
  | FocusMessage
  | RevealMessage
  | AnswerOptionMessage;

/**
 * Forget the session that was shown, and show this one. It comes after `ready`, and whenever another session is chosen.
 * Without a session there is none yet: the first prompt makes one.
 */
export interface SessionMessage {
  type: 'session';
  session?: OpenSession;
}

/** A session with the end of its chat. */
export interface OpenSession {
  info: SessionInfo;
  chat: ChatSnapshot;
}

/** The next events of the session that is shown, in order, without a gap; several at once where they came together. */
export interface EventsMessage {
  type: 'events';
  sessionId: SessionId;
  events: SequencedEvent[];
}

/** The answer to `earlier`: entries from this number on, counted from the session's first. */
export interface EarlierMessage {
  type: 'earlier';
  sessionId: SessionId;
  from: number;
  entries: Entry[];
}

/** The terminals as the server lists them, where its events do not say so. */
export interface TerminalsMessage {
  type: 'terminals';
  sessionId: SessionId;
  terminals: TerminalInfo[];
}

/** The end of what a command that runs has printed. It replaces what was told before. */
export interface TailMessage {
  type: 'tail';
  toolCallId: ToolCallId;
  text: string;
}

/** All facts as they are now; they replace the last ones. */
export interface FactsMessage {
  type: 'facts';
  facts: Facts;
}

/** The facts that the chat shows and that are not in the session's events. */
export interface Facts {
  server: ServerFact;
  /** Sessions of this workspace, the last used first. */
  sessions: SessionInfo[];
  models: ModelInfo[];
  /** The model a new session gets, if any is usable. */
  defaultModel?: string;
  /** The mode of the next turn. */
  mode: Mode;
  /** For how long edits are accepted automatically; absent if they wait for a review. */
  accepts?: AutoScope;
  /** False where no folder is open to work in. */
  folder: boolean;
  /** False in an untrusted workspace, where there is only the mode `ask`. */
  trusted: boolean;
  /** True if Enter sends the prompt; else Ctrl+Enter or Cmd+Enter does. */
  enterSends: boolean;
  /** How the workspace is set up, and what there is to try at the open file. Asked for while the chat is empty. */
  beginnings?: PromptBeginningsResult;
  /** The selection that "Attach selection" would attach, such as `main.rs:3-9`; absent if nothing is selected. */
  selection?: string;
}

/** How the server stands. */
export type ServerFact =
  | { state: 'starting' }
  | { state: 'running'; version: string }
  /** It does not run. The message says why and what to do. */
  | { state: 'stopped'; message: string };

/** The outcome of a prompt: the draft may be cleared, or has to stay because of an error. */
export interface PromptSettledMessage {
  type: 'promptSettled';
  promptId: string;
  /** Why it was not taken, and what to do. */
  error?: string;
}

/** A prompt that was given elsewhere was not taken: it goes into the draft, so that it is not lost. */
export interface RefusedMessage {
  type: 'refused';
  prompt: SentPrompt;
  /** Why it was not taken, and what to do. */
  error: string;
}

/** The answer to `complete`. Empty if there is nothing, or it failed. */
export interface CompletionsMessage {
  type: 'completions';
  requestId: number;
  result?: PromptCompleteResult;
}

/** Add these to the draft. */
export interface AttachMessage {
  type: 'attach';
  prompt: SentPrompt;
}

/** A block of the prompt that is not typed. */
export interface Attachment {
  /** For people, such as `src/main.rs:3-9`. */
  label: string;
  block: PromptBlock;
}

/** Put the keyboard into the prompt. */
export interface FocusMessage {
  type: 'focus';
  /** Show what was said last, too. */
  atEnd: boolean;
}

/** Scroll to the entry with this key and mark it for a moment. */
export interface RevealMessage {
  type: 'reveal';
  sessionId: SessionId;
  key: string;
}

/** Answer the question that has waited longest with this option, from 1, as its button would. */
export interface AnswerOptionMessage {
  type: 'answerOption';
  option: number;
}

/** A message from the webview to the host. */
export type Intent =
  /** The webview listens. The host answers with `facts` and `session`. */
  | { type: 'ready' }
  /** The keyboard came into the webview, or left it. VS Code itself does not say so. */
  | { type: 'focused'; on: boolean }
  /**
   * The entries before this number, the last of them first needed; with `key`, as many as it takes that the one with this
   * key is among them. Answered with `earlier`.
   */
  | { type: 'earlier'; before: number; key?: string }
  /** Start a turn. The host answers with `promptSettled`, as to the next two. */
  | { type: 'send'; promptId: string; blocks: PromptBlock[] }
  /** Say something to the running turn. */
  | { type: 'steer'; promptId: string; turnId: TurnId; blocks: PromptBlock[] }
  /** A prompt for after the running turn. */
  | { type: 'queue'; promptId: string; blocks: PromptBlock[] }
  /** Break off what runs, and begin with a prompt. Answered as `send` is. */
  | { type: 'now'; promptId: string; blocks: PromptBlock[] }
  /** Let a waiting prompt go before the others. */
  | { type: 'first'; queueId: QueueId }
  /** Take a waiting prompt back into the draft. Answered with `attach`, once it waits no more. */
  | { type: 'unqueue'; queueId: QueueId; prompt: PromptBlock[] }
  /** Put a prompt into the draft, to be sent as it is or changed. Answered with `attach`. */
  | { type: 'draft'; prompt: PromptBlock[] }
  /** Go on after a turn was interrupted or failed. */
  | { type: 'continue' }
  | { type: 'cancel'; turnId?: TurnId }
  /** Ask the model again now, if the turn waits after a request that failed. */
  | { type: 'retry'; turnId?: TurnId }
  | { type: 'answer'; permissionId: PermissionId; optionId: string; message?: string; answers?: FormAnswer[] }
  /** The plan's steps, as the user wants them. */
  | { type: 'plan'; steps: PlanEntry[] }
  | { type: 'decide'; decision: Decision; targets: DecisionTarget[]; message?: string }
  /** Answered with `completions`. */
  | { type: 'complete'; requestId: number; text: string; cursor: number }
  /** `line` counts from 0. */
  | { type: 'openFile'; uri: string; line?: number }
  | { type: 'openDiff'; proposalId: ProposalId; hunkId?: HunkId }
  | { type: 'openTerminal'; terminalId: TerminalId }
  /** Type a line into a terminal, with Enter. */
  | { type: 'typeLine'; terminalId: TerminalId; text: string }
  /** Take a terminal over, or hand it back. */
  | { type: 'takeTerminal'; terminalId: TerminalId; taken: boolean }
  /** End what runs in a terminal. */
  | { type: 'killTerminal'; terminalId: TerminalId }
  | { type: 'showJobs' }
  /** Open a web page, after the user has agreed. The host takes only `http:` and `https:`. */
  | { type: 'openLink'; href: string }
  /** Show a long text, such as a tool's whole result, in an editor. */
  | { type: 'openText'; title: string; text: string }
  /** Insert at the cursor of the active editor. */
  | { type: 'insert'; text: string }
  | { type: 'copy'; text: string }
  | { type: 'newSession' }
  | { type: 'openSession'; sessionId: SessionId }
  | { type: 'pickSession' }
  | { type: 'pickModel' }
  | { type: 'pickThinking' }
  | { type: 'pickMode' }
  | { type: 'setMode'; mode: Mode }
  /** Choose if edits are accepted automatically, and for how long. */
  | { type: 'pickAcceptEdits' }
  /** Undo or redo what a turn did to files; with `andLater`, what the turns after it did, too. The host shows it first. */
  | { type: 'restore'; direction: Direction; turnId: TurnId; andLater: boolean }
  /** Have the model read another text in place of the notes of a handover. */
  | { type: 'correctHandover'; compactionId: CompactionId; written: string }
  /** Have the model see what a handover stands for. */
  | { type: 'takeHandoverBack'; compactionId: CompactionId }
  /** The next three are answered with `attach`, unless the user changes their mind. */
  | { type: 'attachSelection' }
  | { type: 'attachFile' }
  /** Files that were dropped, as URIs. */
  | { type: 'dropped'; uris: string[] }
  | { type: 'setKey' }
  | { type: 'signIn' }
  | { type: 'showCosts' }
  | { type: 'manageTrust' }
  | { type: 'showServers' }
  | { type: 'openFolder' }
  | { type: 'restartServer' }
  | { type: 'openLog' };

/** The state that the webview keeps with `setState`, so that a hidden view loses nothing that was typed. */
export interface Draft extends SentPrompt {
  sessionId?: SessionId;
  /** The prompts of which it was not told yet what became of them, by their ids. */
  sent?: [promptId: string, prompt: SentPrompt][];
}

/** A prompt as it was put together. */
export interface SentPrompt {
  text: string;
  attachments: Attachment[];
}
