// A zip file with Unix file modes, the same bytes for the same entries.
import { crc32, deflateRawSync } from 'node:zlib';

const UTF8_NAMES = 0x0800;
const DEFLATE = 8;
const MADE_BY_UNIX = (3 << 8) | 20;
/** 1980-01-01, the first day a zip file knows. */
const DATE = (1 << 5) | 1;

/** Entries are `{ name, data, mode }`; `mode` is as in `chmod`. */
export function zip(entries) {
  const [files, directory] = [[], []];
  let offset = 0;
  for (const { name, data, mode = 0o644 } of entries) {
    const path = Buffer.from(name);
    const packed = deflateRawSync(data, { level: 9 });
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(UTF8_NAMES, 2);
    common.writeUInt16LE(DEFLATE, 4);
    common.writeUInt16LE(0, 6);
    common.writeUInt16LE(DATE, 8);
    common.writeUInt32LE(crc32(data), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(data.length, 18);
    common.writeUInt16LE(path.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, path, packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(((0o100000 | mode) << 16) >>> 0, 6);
    tail.writeUInt32LE(offset, 10);
    const madeBy = Buffer.alloc(2);
    madeBy.writeUInt16LE(MADE_BY_UNIX);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02'), madeBy, common, tail, path]));
    files.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...files, list, Buffer.from('PK\x05\x06'), end]);
}
