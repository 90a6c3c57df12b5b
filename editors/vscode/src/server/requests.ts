// The requests that this extension sends, typed.

import type { CancellationToken } from 'vscode';
import { errorCodes, type ErrorName, type Proposal, type Requests } from '../generated/protocol';

export type Method = keyof Requests;

/** Sends a request to the server, which is cancelled by the token if there is one. */
export type Request = <M extends Method>(method: M, params: Requests[M]['params'], token?: CancellationToken) => Promise<Requests[M]['result']>;

/** True if this is the server's error of this name. */
export function isError(error: unknown, name: ErrorName): boolean {
  return codeOf(error) === errorCodes[name];
}

/** True if the server has answered with an error, and false if there was no answer. */
export function isOfServer(error: unknown): boolean {
  return Object.values<unknown>(errorCodes).includes(codeOf(error));
}

/** The proposals as they are now, which the server gives with the error `staleReview`. */
export function proposalsOf(error: unknown): Proposal[] {
  const data = typeof error === 'object' && error !== null && 'data' in error ? error.data : undefined;
  const proposals = typeof data === 'object' && data !== null && 'proposals' in data ? data.proposals : undefined;
  return Array.isArray(proposals) ? (proposals as Proposal[]) : [];
}

/** The message of an error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
