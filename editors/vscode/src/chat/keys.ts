// The keys of entries that others than the fold look for. Pure.

import type { MessageId } from '../generated/protocol';

/** The key of what the user said with the event of this number. */
export const promptKey = (seq: number): string => `p${seq}`;

/** The key of an answer. */
export const answerKey = (id: MessageId): string => `m${id}`;
