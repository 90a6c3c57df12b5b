// A suggestion on the screen: what is left of it while the user types into it, and what VS Code can show of one. Pure.

/** A suggestion on the screen. Offsets are in UTF-16, as everywhere in VS Code. */
export interface Shown {
  id: string;
  /** The text that takes the place of the range, with LF line ends. */
  text: string;
  /** The range in the document as it is now: it grows with what the user types into it. */
  start: number;
  end: number;
  /** The length of the text that the document had up to the cursor when it was last shown. */
  typed: number;
}

/** A change of a document: what was replaced, and the text in its place. */
export interface Change {
  rangeOffset: number;
  rangeLength: number;
  text: string;
}

/** The rest of a suggestion on the cursor's line. */
export interface Rest {
  /** The text to insert; it begins with what is in the document already. */
  text: string;
  /** So many characters before the cursor it begins. */
  back: number;
}

/** The suggestion after changes of its document; undefined if they are anything but typing into it. */
export function followed(shown: Shown, changes: readonly Change[]): Shown | undefined {
  const [change, ...more] = changes;
  if (change === undefined) return shown;
  const { rangeOffset, rangeLength, text } = change;
  const isInside = rangeOffset >= shown.start && rangeOffset + rangeLength <= shown.end;
  // Whoever deletes does not go on with it.
  if (more.length > 0 || !isInside || text.length < rangeLength) return undefined;
  return { ...shown, end: shown.end + text.length - rangeLength };
}

/**
 * The rest of a suggestion; undefined if it does not go on from what is there. `before` is the document's text from the
 * beginning of the range to the cursor, `after` from there to the range's end.
 */
export function rest(shown: Shown, before: string, after: string): Rest | undefined {
  const [typed, tail] = [before.replaceAll('\r\n', '\n'), after.replaceAll('\r\n', '\n')];
  const left = shown.text.slice(typed.length);
  if (left === '' || typed.length < shown.typed || !shown.text.startsWith(typed)) return undefined;
  // Closing brackets that the editor has added are in the way, but the suggestion brings its own.
  if (tail.includes('\n') || tail === left || !isWithin(tail, left)) return undefined;
  const line = typed.lastIndexOf('\n') + 1;
  return { text: shown.text.slice(line), back: typed.length - line };
}

/**
 * True if VS Code shows the replacement of a range of the cursor's line as ghost text: the text before the cursor stays, and
 * so do the characters after it, with others between them. All columns are of the line, in UTF-16.
 */
export function isVisible(line: string, cursor: number, range: { start: number; end: number }, text: string): boolean {
  const { start, end } = range;
  if (start > cursor || cursor > end || end > line.length) return false;
  const before = line.slice(start, cursor);
  const [left, tail] = [text.slice(before.length), line.slice(cursor, end)];
  return text.startsWith(before) && left !== tail && isWithin(tail, left);
}

/** True if all characters of a text come in another one, in their order. */
function isWithin(characters: string, text: string): boolean {
  let at = 0;
  for (const character of characters) {
    const found = text.indexOf(character, at);
    if (found < 0) return false;
    at = found + character.length;
  }
  return true;
}
