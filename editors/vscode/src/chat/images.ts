// The content of a file before and after a change, as far as it is known. Pure.

import type { FileImage } from '../generated/protocol';

/** Where an event tells of a text, its bytes are not known. */
export function textOnly(hash: string | undefined): FileImage | undefined {
  return hash === undefined ? undefined : { hash };
}

/** Of a file that was read, the bytes are those of the text where no others are told. */
export function whole(image: FileImage | undefined): FileImage | undefined {
  return image && { ...image, bytes: image.bytes ?? image.hash };
}

/** Two are the same where nothing differs that is known of both: a command may change line ends, and no text. */
export function isSame(a: FileImage | undefined, b: FileImage | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  const bytesKnown = a.bytes !== undefined && b.bytes !== undefined;
  return a.hash === b.hash && (!bytesKnown || (a.bytes === b.bytes && (a.executable ?? false) === (b.executable ?? false)));
}
