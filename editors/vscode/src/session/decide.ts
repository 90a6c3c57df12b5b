// A decision on hunks of a session, whether the chat shows it or not.

import type { Decision, DecisionTarget, SessionId } from '../generated/protocol';
import { isError, proposalsOf, type Request } from '../server/requests';

/** Accepts or rejects hunks, of the revisions that the user saw. */
export async function decideIn(request: Request, sessionId: SessionId, decision: Decision, targets: DecisionTarget[], message?: string): Promise<void> {
  const word = message === undefined || message === '' ? {} : { message };
  try {
    await request('azimuth/review/decide', { sessionId, decision, targets, ...word });
  } catch (error) {
    if (!isError(error, 'staleReview')) throw error;
    const paths = proposalsOf(error).map(({ path }) => path).join(', ');
    throw new Error(`Nothing was decided: the proposal ${paths === '' ? '' : `for ${paths} `}has changed since it was shown. Look at it again.`, { cause: error });
  }
}
