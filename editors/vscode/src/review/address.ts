// The addresses of the texts beside documents: `azimuth-review:` URIs that keep the file's path, so that it gets its language.

import * as vscode from 'vscode';
import type { Proposal, ProposalId, SessionId } from '../generated/protocol';

export const SCHEME = 'azimuth-review';

/** What such a text belongs to. `empty` is the side that has no file: before it is made, or after it is deleted. */
export interface Address {
  sessionId: SessionId;
  proposalId: ProposalId;
  empty: boolean;
}

export function reviewUri(sessionId: SessionId, proposal: Proposal, empty = false): vscode.Uri {
  const query = new URLSearchParams({ session: sessionId, proposal: proposal.proposalId, ...(empty ? { empty: '1' } : {}) });
  return vscode.Uri.parse(proposal.uri).with({ scheme: SCHEME, authority: '', query: query.toString() });
}

/** Undefined for a URI that is none of them. */
export function parseReview(uri: vscode.Uri): Address | undefined {
  if (uri.scheme !== SCHEME) return undefined;
  const query = new URLSearchParams(uri.query);
  const [sessionId, proposalId] = [query.get('session'), query.get('proposal')];
  if (sessionId === null || proposalId === null) return undefined;
  return { sessionId, proposalId, empty: query.has('empty') };
}
