// The wait before a request to the model is tried again. Pure.

import type { Event, PermissionRequest } from '../generated/protocol';

export type Retrying = Extract<Event, { type: 'retrying' }>;

/** The wait before a request to the model is tried again. */
export interface Wait {
  attempt: number;
  /** The number of retries that there may be. */
  of: number | undefined;
  /** The time of the next try, in milliseconds since 1970. */
  until: number;
}

/** The wait that begins with an event of this time; undefined if it is tried again at once. */
export function waitOf({ attempt, of, delayMs }: Retrying, at: number): Wait | undefined {
  return delayMs > 0 ? { attempt, of, until: at + delayMs } : undefined;
}

/** True if an event shows that a request is no longer waited for. */
export function endsWait({ type }: Event): boolean {
  return ['messageDelta', 'thinkingDelta', 'editDelta', 'messageCompleted', 'toolCallStarted', 'turnModelChanged', 'turnEnded'].includes(type);
}

/** Says why a request is tried again, which try it is, and when it comes. */
export function retryInWords({ attempt, of, delayMs, reason }: Retrying): string {
  const when = delayMs > 0 ? `in ${Math.ceil(delayMs / 1000)} s` : 'now';
  return `${reason.replace(/\.$/, '')}; retry ${attempt}${of === undefined ? '' : ` of ${of}`} ${when}.`;
}

/** The time until which a form waits, if it does not wait for good. */
export function untilOf({ form }: PermissionRequest, at: number): { until?: number } {
  return form?.timeoutSeconds == null ? {} : { until: at + form.timeoutSeconds * 1000 };
}
