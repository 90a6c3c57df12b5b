import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ByteStream } from '../../src/terminal/stream';

test('a character that is cut in two comes out whole', () => {
  const bytes = Buffer.from('né🦀');
  for (let cut = 1; cut < bytes.length; cut += 1) {
    const stream = new ByteStream();
    const text = stream.take(0, bytes.subarray(0, cut)).text + stream.take(cut, bytes.subarray(cut)).text;
    assert.equal(text, 'né🦀', `cut at ${cut}`);
  }
});

test('bytes that were here already are passed over', () => {
  const stream = new ByteStream();
  assert.equal(stream.take(0, Buffer.from('abc')).text, 'abc');
  assert.equal(stream.take(0, Buffer.from('abc')).text, '');
  assert.equal(stream.take(1, Buffer.from('bcde')).text, 'de');
  assert.equal(stream.offset, 5);
});

test('bytes that are missing are counted', () => {
  const stream = new ByteStream();
  stream.take(0, Buffer.from([0x61, 0xc3]));
  const { text, missing } = stream.take(10, Buffer.from('b'));
  assert.equal(missing, 8);
  assert.equal(text, '\u{fffd}b', 'half a character is no part of what comes later');
});

test('where the oldest bytes are no longer kept, the first that come are the beginning', () => {
  assert.deepEqual(new ByteStream().take(100, Buffer.from('x')), { text: 'x', missing: 0 });
});
