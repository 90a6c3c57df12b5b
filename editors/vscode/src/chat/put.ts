// A prompt that the server puts into the chat, for a code action that the user has chosen.

import type { Notifications } from '../generated/protocol';
import { messageOf } from '../server/requests';
import type { Session } from '../session/session';
import { draftOf } from './attachments';
import type { ChatView } from './view';

/** Sends it, or after the turn that runs; else adds it to the draft. What cannot be sent stands there, with the reason. */
export async function put({ prompt, send }: Notifications['azimuth/prompt/put']['params'], session: Session, chat: ChatView): Promise<void> {
  if (!send) return chat.add(draftOf(prompt));
  const sent = session.give(prompt).catch((error: unknown) => chat.giveBack(draftOf(prompt), messageOf(error)));
  await Promise.all([chat.focus(true), sent]);
}
