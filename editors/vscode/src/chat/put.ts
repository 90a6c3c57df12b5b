// A prompt that the server puts into the chat, for a code action that the user has chosen.

import type { Notifications, PromptBlock } from '../generated/protocol';
import { messageOf } from '../server/requests';
import type { Session } from '../session/session';
import { attachment } from './attachments';
import type { SentPrompt } from './messages';
import type { ChatView } from './view';

/** Sends it, or after the turn that runs; else adds it to the draft. What cannot be sent stands there, with the reason. */
export async function put({ prompt, send }: Notifications['azimuth/prompt/put']['params'], session: Session, chat: ChatView): Promise<void> {
  if (!send) return chat.add(draftOf(prompt));
  const sent = session.give(prompt).catch((error: unknown) => chat.giveBack(draftOf(prompt), messageOf(error)));
  await Promise.all([chat.focus(true), sent]);
}

/** A prompt as if the user had put it together. */
function draftOf(prompt: readonly PromptBlock[]): SentPrompt {
  return {
    text: prompt.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n'),
    attachments: prompt.flatMap((block) => (block.type === 'text' ? [] : [attachment(block)])),
  };
}
