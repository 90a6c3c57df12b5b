// Edits of a text, applied in memory. Pure.

/** A piece of a text, by offsets, the end exclusive, and what takes its place. */
export interface Splice {
  start: number;
  end: number;
  text: string;
}

/**
 * The text with all of these done. Insertions at one place go in as they come. Undefined if two overlap: nobody can
 * say what is meant then.
 */
export function splice(text: string, splices: readonly Splice[]): string | undefined {
  const sorted = splices.toSorted((a, b) => a.start - b.start || a.end - b.end);
  let done = '';
  let at = 0;
  for (const one of sorted) {
    if (one.start < at) return undefined;
    done += text.slice(at, one.start) + one.text;
    at = one.end;
  }
  return done + text.slice(at);
}
