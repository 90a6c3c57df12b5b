// The addresses of the texts beside documents: `azimuth-review:` URIs that keep the file's path, so that it gets its language.

import * as vscode from 'vscode';
import type { Proposal, ProposalId, SessionId } from '../generated/protocol';

export const SCHEME = 'azimuth-review';

/** The proposal of such a text. `empty` is the side that has no file: before it is made, or after it is deleted. */
export interface Address {
  sessionId: SessionId;
  proposalId: ProposalId;
  empty: boolean;
}

export function reviewUri(sessionId: SessionId, proposal: Proposal, empty = false): vscode.Uri {
  const query = new URLSearchParams({ session: sessionId, proposal: proposal.proposalId, ...(empty ? { empty: '1' } : {}) });
  return vscode.Uri.parse(proposal.uri).with({ scheme: SCHEME, authority: '', query: query.toString() });
}

/** The proposal that a tab shows in a diff; undefined if it shows something else. */
export function diffedIn(tab: vscode.Tab | undefined): Address | undefined {
  return tab?.input instanceof vscode.TabInputTextDiff ? (parseReview(tab.input.modified) ?? parseReview(tab.input.original)) : undefined;
}

/** True if a tab shows a document as a side of a diff. */
export function isIn(tab: vscode.Tab | undefined, uri: vscode.Uri): boolean {
  if (!(tab?.input instanceof vscode.TabInputTextDiff)) return false;
  return [tab.input.original, tab.input.modified].some((side) => side.toString() === uri.toString());
}

/** Undefined for a URI that is none of them. */
export function parseReview(uri: vscode.Uri): Address | undefined {
  if (uri.scheme !== SCHEME) return undefined;
  const query = new URLSearchParams(uri.query);
  const [sessionId, proposalId] = [query.get('session'), query.get('proposal')];
  if (sessionId === null || proposalId === null) return undefined;
  return { sessionId, proposalId, empty: query.has('empty') };
}
