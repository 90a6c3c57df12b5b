// The answers to what the server asks the editor about its documents.

import type { ClientRequests } from '../generated/protocol';
import type { Held } from './held';

type Save = ClientRequests['azimuth/editor/save'];
type Text = ClientRequests['azimuth/editor/text'];

/** Saves a document, with whatever runs on saving. What is not open is on disk already. */
export async function save({ uri }: Save['params'], held: Held): Promise<Save['result']> {
  const document = held.document(uri);
  if (document === undefined) return { saved: true };
  if (document.isDirty) await document.save();
  return { saved: !document.isDirty };
}

/** A document's text as the editor holds it. */
export function text({ uri }: Text['params'], held: Held): Text['result'] {
  const document = held.document(uri);
  return document === undefined ? {} : { text: document.getText() };
}
