// A terminal's bytes in order and as text. Pure.

/** The bytes that a view of a terminal has got so far. */
export class ByteStream {
  private readonly decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  private started = false;

  /** `next` is the offset of the byte to come. */
  constructor(private next = 0) {}

  get offset(): number {
    return this.next;
  }

  /**
   * Takes bytes at an offset and gives what is new of them, as text. Bytes that were here already are passed over; a
   * character that is cut in two comes out whole with its second half. Where bytes are missing, it says so.
   */
  take(offset: number, bytes: Uint8Array): { text: string; missing: number } {
    const known = Math.max(0, this.next - offset);
    if (known >= bytes.length) return { text: '', missing: 0 };
    const missing = this.started ? Math.max(0, offset - this.next) : 0;
    // The part of a character that came before the gap belongs to nothing after it.
    const rest = missing > 0 ? this.decoder.decode() : '';
    this.started = true;
    this.next = offset + bytes.length;
    return { text: rest + this.decoder.decode(bytes.subarray(known), { stream: true }), missing };
  }
}
