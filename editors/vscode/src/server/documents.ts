// What the server asks the editor about its documents.

import * as vscode from 'vscode';
import type { ClientRequests } from '../generated/protocol';

type Save = ClientRequests['azimuth/editor/save'];
type Text = ClientRequests['azimuth/editor/text'];

/** Saves a document, with whatever runs on saving. What is not open is on disk already. */
export async function save({ uri }: Save['params']): Promise<Save['result']> {
  const document = openDocument(uri);
  if (document === undefined) return { saved: true };
  if (document.isDirty) await document.save();
  return { saved: !document.isDirty };
}

/** A document's text as the editor holds it. */
export function text({ uri }: Text['params']): Text['result'] {
  const document = openDocument(uri);
  return document === undefined ? {} : { text: document.getText() };
}

/** The open document of this URI, however the URI is spelled. */
export function openDocument(uri: string): vscode.TextDocument | undefined {
  const wanted = vscode.Uri.parse(uri).toString();
  return vscode.workspace.textDocuments.find((document) => !document.isClosed && document.uri.toString() === wanted);
}
