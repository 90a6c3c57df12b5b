// The requests that this extension sends, typed.

import { errorCodes, type ErrorName, type Proposal, type ProposalId, type Requests, type ReviewResult, type SessionId } from '../generated/protocol';

/** Requests that a server of this series may lack: it answers them with `methodNotFound`. */
interface Optional {
  /** Both whole texts of a pending file. */
  'azimuth/review/text': {
    params: { sessionId: SessionId; proposalId: ProposalId };
    /** `base` is absent for a new file, `proposed` for one that is deleted. */
    result: { uri: string; path: string; revision: number; base?: string; proposed?: string };
  };
  /** The user changed the proposed text. */
  'azimuth/review/change': {
    params: { sessionId: SessionId; proposalId: ProposalId; revision: number; text: string };
    result: ReviewResult;
  };
  /** Accept edits as they come in this session, or no longer. */
  'azimuth/review/auto': { params: { sessionId: SessionId; on: boolean }; result: Record<string, never> };
}

export type AllRequests = Requests & Optional;
export type Method = keyof AllRequests;

/** Sends a request to the server. */
export type Request = <M extends Method>(method: M, params: AllRequests[M]['params']) => Promise<AllRequests[M]['result']>;

/** Whether this is the server's error of this name. */
export function isError(error: unknown, name: ErrorName): boolean {
  return codeOf(error) === errorCodes[name];
}

/** The proposals as they are now, which the server gives with the error `staleReview`. */
export function proposalsOf(error: unknown): Proposal[] {
  const data = typeof error === 'object' && error !== null && 'data' in error ? error.data : undefined;
  const proposals = typeof data === 'object' && data !== null && 'proposals' in data ? data.proposals : undefined;
  return Array.isArray(proposals) ? (proposals as Proposal[]) : [];
}

/** What an error says, for people. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
