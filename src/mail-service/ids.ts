import { randomBytes } from 'node:crypto';

/** Format of user, mailbox, message and thread ids. */
export const ID = /^[0-9a-f]{24}$/;

let counter = randomBytes(4).readUInt32BE();

/** 24 hex digits that sort by creation time: 6 bytes of milliseconds, a 2 byte counter, 4 random bytes. */
export function newId(): string {
  const bytes = randomBytes(12);
  bytes.writeUIntBE(Date.now(), 0, 6);
  counter = (counter + 1) & 0xffff;
  bytes.writeUInt16BE(counter, 6);
  return bytes.toString('hex');
}

/** Id of a submitted message in the queue: 18 hex digits. */
export function newQueueId(): string {
  return newId().slice(0, 18);
}
