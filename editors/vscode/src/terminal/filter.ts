// The filter between a program's output and the terminal emulator. Pure.
//
// Output is watched by every client of a session, and kept to be shown again. So two kinds of escapes are left out:
// strings (OSC, DCS, APC, PM, SOS), by which output could set the clipboard, titles and links, and questions to the
// emulator, whose answers would be typed into the shell by each view.

/** No sequence is longer than this, in UTF-16 units. The beginning of one that would be is left out. */
const MAX_HELD = 256;

/** The filter of one terminal. */
export class OutputFilter {
  /** The beginning of an escape whose rest is still to come. */
  private held = '';
  /** True if a string has begun that has not ended. */
  private inside = false;

  /** Takes output in, and gives what may be shown of it by now. Escapes may be split anywhere. */
  feed(output: string): string {
    // The emulator knows each introducer in a form of one character, too.
    const text = this.held + output.replace(C1, (c) => `\x1b${String.fromCharCode(c.charCodeAt(0) - 0x40)}`);
    this.held = '';
    let shown = '';
    let at = 0;
    while (at < text.length) {
      if (this.inside) {
        const stop = find(text, STRING_END, at);
        if (stop === undefined) break;
        if (text[stop] === '\x1b' && stop + 1 === text.length) {
          this.held = '\x1b';
          break;
        }
        this.inside = false;
        if (text[stop] !== '\x1b') at = stop + 1;
        else at = text[stop + 1] === '\\' ? stop + 2 : stop;
        continue;
      }
      const escape = text.indexOf('\x1b', at);
      shown += text.slice(at, escape < 0 ? undefined : escape);
      if (escape < 0) break;
      const introducer = find(text, NO_CONTROL, escape + 1);
      if (introducer === undefined) {
        this.held = '\x1b';
        break;
      }
      const kind = text.charAt(introducer);
      if (kind === '\x1b') {
        at = introducer;
      } else if (']PX^_'.includes(kind)) {
        this.inside = true;
        at = introducer + 1;
      } else if (kind === '[') {
        const end = find(text, SEQUENCE_END, introducer + 1);
        if (end === undefined && text.length - escape < MAX_HELD) {
          this.held = text.slice(escape);
          break;
        }
        if (end === undefined || !FINAL.test(text.charAt(end))) {
          // It is broken off, or no sequence at all.
          at = end ?? text.length;
        } else {
          if (!asks(text.slice(introducer + 1, end), text.charAt(end))) shown += text.slice(escape, end + 1);
          at = end + 1;
        }
      } else {
        // `ESC Z` asks what the emulator is.
        if (kind !== 'Z') shown += `\x1b${kind}`;
        at = introducer + 1;
      }
    }
    return shown;
  }
}

const C1 = /[\u0080-\u009f]/g;
const STRING_END = /[\x07\x18\x1a\x1b]/g;
// Controls inside an escape are carried out by an emulator, and do not end it; but CAN, SUB and ESC do.
const NO_CONTROL = /[^\x00-\x17\x19\x1c-\x1f\x7f]/g;
const SEQUENCE_END = /[^\x00-\x17\x19\x1c-\x3f\x7f]/g;
const FINAL = /[@-~]/;

/** Where a pattern, which is global, is found first from a place on. */
function find(text: string, pattern: RegExp, from: number): number | undefined {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index;
}

/** True if a control sequence asks the emulator for an answer, or would change more than what it shows. */
function asks(body: string, final: string): boolean {
  const parameters = body.replaceAll(/[\x00-\x1f\x7f]/g, '');
  switch (final) {
    case 'n': case 'c': case 'x': case 't': return true;
    case 'p': case 'w': return parameters.includes('$');
    case 'q': return parameters.startsWith('>');
    case 'u': case 'm': return parameters.startsWith('?');
    case 'y': return parameters.includes('*');
    default: return false;
  }
}
