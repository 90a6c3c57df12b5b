//! A write-ahead log, put into the database to which it belongs as SQLite would do it.

use std::collections::BTreeMap;

/// The size of a page, SQLite's default.
pub(super) const PAGE: usize = 4096;
const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// The number that a log begins with; its lowest bit says that checksums are of numbers in big-endian order.
const MAGIC: u32 = 0x377f_0682;

/// The pages that a log's transactions changed, as the last that is whole left them, and the size of the database then,
/// in pages. None without such a transaction.
pub(super) fn pages(log: &[u8]) -> Option<(BTreeMap<u32, &[u8]>, u32)> {
    let magic = number(log, 0)?;
    if magic & !1 != MAGIC || number(log, 8)? != u32::try_from(PAGE).ok()? {
        return None;
    }
    let is_big = magic & 1 == 1;
    let mut sum = checksum(is_big, log.get(..24)?, (0, 0));
    if sum != (number(log, 24)?, number(log, 28)?) {
        return None;
    }
    let salt = log.get(16..24)?;
    let (mut whole, mut size, mut begun) = (BTreeMap::new(), None, Vec::new());
    for frame in log.get(HEADER..)?.chunks_exact(FRAME_HEADER + PAGE) {
        let (header, page) = frame.split_at(FRAME_HEADER);
        sum = checksum(is_big, page, checksum(is_big, header.get(..8)?, sum));
        if header.get(8..16)? != salt || sum != (number(header, 16)?, number(header, 20)?) {
            break;
        }
        begun.push((number(header, 0)?, page));
        // The last frame of a transaction says how large the database is after it.
        let after = number(header, 4)?;
        if after != 0 {
            whole.extend(begun.drain(..));
            size = Some(after);
        }
    }
    size.map(|size| (whole, size))
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Goes on with a checksum.
fn checksum(is_big: bool, bytes: &[u8], (mut first, mut second): (u32, u32)) -> (u32, u32) {
    let number = |bytes: [u8; 4]| if is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) };
    let (pairs, _) = bytes.as_chunks::<8>();
    for [a, b, c, d, e, f, g, h] in pairs {
        first = first.wrapping_add(number([*a, *b, *c, *d])).wrapping_add(second);
        second = second.wrapping_add(number([*e, *f, *g, *h])).wrapping_add(first);
    }
    (first, second)
}
