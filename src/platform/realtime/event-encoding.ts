/** FIN and the opcode of a text frame. */
const TEXT_FRAME = 0x81;
/** Lengths up to 125 are in the second byte; 126 and 127 announce a length of 16 and of 64 bits. */
const [LENGTH_16, LENGTH_64] = [126, 127];

/** An event as a packet of Socket.IO, and as the WebSocket frame that carries it. */
export interface EncodedEvent {
  packet: string;
  frame: Buffer;
}

/**
 * Encodes an event of the default namespace once for any number of sockets.
 * See the protocols of Socket.IO (version 5: `2` is an event) and Engine.IO (version 4: `4` is a message).
 * @param payload contains no binary data
 */
export function encodeEvent(name: string, payload: object): EncodedEvent {
  const packet = `2${JSON.stringify([name, payload])}`;
  return { packet, frame: textFrame(`4${packet}`) };
}

/** An unmasked text frame of RFC 6455, section 5.2, in one buffer: one write for each socket. */
export function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const headerBytes = length < LENGTH_16 ? 2 : length < 0x1_0000 ? 4 : 10;
  const frame = Buffer.allocUnsafe(headerBytes + length);
  frame[0] = TEXT_FRAME;
  if (headerBytes === 2) frame[1] = length;
  else if (headerBytes === 4) {
    frame[1] = LENGTH_16;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = LENGTH_64;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.write(text, headerBytes);
  return frame;
}
