import fc from 'fast-check';
import { encodeEvent, textFrame } from '../../../src/platform/realtime/connection.js';

/** The text of an unmasked frame. See RFC 6455, section 5.2. */
function textOf(frame: Buffer): string {
  expect(frame[0]).toBe(0b1000_0001);
  const short = frame[1] as number;
  const [start, length] =
    short < 126
      ? [2, short]
      : short === 126
        ? [4, frame.readUInt16BE(2)]
        : [10, Number(frame.readBigUInt64BE(2))];
  expect(frame.length).toBe(start + length);
  return frame.toString('utf8', start);
}

describe('events of sockets', () => {
  test('a frame contains its text, at each form of the length', () => {
    for (const length of [0, 1, 125, 126, 127, 65_535, 65_536, 100_000]) {
      const text = 'x'.repeat(length);
      expect(textOf(textFrame(text))).toBe(text);
    }
    const text = fc.string({ unit: 'grapheme', maxLength: 300 });
    fc.assert(
      fc.property(text, (value) => expect(textOf(textFrame(value))).toBe(value)),
      { seed: 16 },
    );
  });

  test('an event is a packet of Socket.IO in a message of Engine.IO', () => {
    const payload = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(fc.string(), payload, (name, value) => {
        const { packet, frame } = encodeEvent(name, value);
        expect(textOf(frame)).toBe(`4${packet}`);
        expect(packet[0]).toBe('2');
        expect(packet.slice(1)).toBe(JSON.stringify([name, value]));
      }),
      { seed: 16 },
    );
  });
});
