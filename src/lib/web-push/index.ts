import { createCipheriv, createECDH, createHmac, type ECDH, randomBytes } from 'node:crypto';

const CURVE = 'prime256v1';
/** Bytes of an uncompressed point of P-256. */
const POINT_BYTES = 65;
const RECORD_BYTES = 4_096;
const SALT_BYTES = 16;
const TAG_BYTES = 16;
const KEY_BYTES = 16;
const NONCE_BYTES = 12;
/** Salt, size of records, length of the key, key (RFC 8188, section 2.1). */
const HEADER_BYTES = SALT_BYTES + 4 + 1 + POINT_BYTES;
/** Ends the last record (RFC 8188, section 2). */
const LAST_RECORD = Buffer.from([2]);

/** Bytes of the longest message: push services accept at least 4,096 bytes of an encrypted one (RFC 8030, section 7.2). */
export const MAX_MESSAGE_BYTES = RECORD_BYTES - HEADER_BYTES - LAST_RECORD.length - TAG_BYTES;

/** The keys of a subscription: `p256dh`, an uncompressed point, and `auth`, 16 bytes. */
export interface ReceiverKeys {
  publicKey: Buffer;
  authSecret: Buffer;
}

/** What a message needs once; tests of the example of the RFC give it. */
interface Sender {
  /** Each message has a key of its own. */
  ecdh: ECDH;
  salt: Buffer;
}

function newSender(): Sender {
  const ecdh = createECDH(CURVE);
  ecdh.generateKeys();
  return { ecdh, salt: randomBytes(SALT_BYTES) };
}

/** Whether bytes are an uncompressed point of P-256. */
export function isPublicKey(key: Buffer): boolean {
  if (key.length !== POINT_BYTES) return false;
  const ecdh = createECDH(CURVE);
  ecdh.generateKeys();
  try {
    ecdh.computeSecret(key);
    return true;
  } catch {
    return false;
  }
}

/**
 * Encrypts a message for a receiver of Web Push (RFC 8291) as one record of the content coding `aes128gcm` (RFC 8188).
 * @throws RangeError for a message longer than {@link MAX_MESSAGE_BYTES}
 */
export function encryptMessage(
  message: Buffer,
  receiver: ReceiverKeys,
  sender: Sender = newSender(),
): Buffer {
  if (message.length > MAX_MESSAGE_BYTES) throw new RangeError(`a message of ${message.length} bytes`);
  const { ecdh, salt } = sender;
  const { publicKey, authSecret } = receiver;
  const ownKey = ecdh.getPublicKey();
  // RFC 8291, section 3.4.
  const shared = hmac(authSecret, ecdh.computeSecret(publicKey));
  const material = hmac(shared, Buffer.from('WebPush: info\0'), publicKey, ownKey, Buffer.from([1]));
  // RFC 8188, section 2.2 and 2.3.
  const secret = hmac(salt, material);
  const key = hmac(secret, Buffer.from('Content-Encoding: aes128gcm\0\x01')).subarray(0, KEY_BYTES);
  const nonce = hmac(secret, Buffer.from('Content-Encoding: nonce\0\x01')).subarray(0, NONCE_BYTES);
  const cipher = createCipheriv('aes-128-gcm', key, nonce);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(RECORD_BYTES);
  const length = Buffer.from([ownKey.length]);
  const header = [salt, size, length, ownKey];
  const record = [cipher.update(message), cipher.update(LAST_RECORD), cipher.final()];
  return Buffer.concat([...header, ...record, cipher.getAuthTag()]);
}

function hmac(key: Buffer, ...parts: readonly Buffer[]): Buffer {
  const hash = createHmac('sha256', key);
  for (const part of parts) hash.update(part);
  return hash.digest();
}
