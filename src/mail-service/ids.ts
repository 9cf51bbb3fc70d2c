import { randomBytes } from 'node:crypto';

/** What an id of a user, a mailbox, a message or a thread looks like. */
export const ID = /^[0-9a-f]{24}$/;

let counter = randomBytes(4).readUInt32BE();

/** 24 hex digits that sort by time of making: 6 bytes of milliseconds, 2 of a counter, 4 of chance. */
export function newId(): string {
  const bytes = randomBytes(12);
  bytes.writeUIntBE(Date.now(), 0, 6);
  counter = (counter + 1) & 0xffff;
  bytes.writeUInt16BE(counter, 6);
  return bytes.toString('hex');
}

/** Names a submitted message in the queue: 18 hex digits. */
export function newQueueId(): string {
  return newId().slice(0, 18);
}
