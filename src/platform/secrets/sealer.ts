import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { parse, stringify } from 'uuid';
import { Keyring } from './keyring.js';

const VERSION = 1;
const KEY_ID = 1;
const NONCE = KEY_ID + 16;
const TAG = NONCE + 12;
const TEXT = TAG + 16;

/**
 * Keeps secrets of others (passwords, tokens) in the database so that they are unreadable without the installation's
 * key: AES-256-GCM with a fresh nonce each time (NIST SP 800-38D), bound to what they belong to. Stored as version, key
 * id, nonce, tag, ciphertext: the key id says which key to open it with once there are several.
 */
@Injectable()
export class Sealer {
  constructor(private readonly keyring: Keyring) {}

  /**
   * @param use each use has a key of its own
   * @param owner whatever the secret belongs to: it cannot be opened as another's
   */
  seal(use: string, owner: string, secret: string): Buffer {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.keyring.key(`seal ${use}`), nonce);
    cipher.setAAD(Buffer.from(owner));
    const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    const keyId = parse(this.keyring.installationId);
    return Buffer.concat([Buffer.from([VERSION]), keyId, nonce, cipher.getAuthTag(), text]);
  }

  /** @throws Error when it was sealed with another key, for another owner, or has been changed */
  open(use: string, owner: string, sealed: Buffer): string {
    if (sealed.length < TEXT || sealed[0] !== VERSION) throw new Error('this is no sealed secret');
    if (stringify(sealed.subarray(KEY_ID, NONCE)) !== this.keyring.installationId)
      throw new Error('the secret was sealed with a key that is not there any more');
    const nonce = sealed.subarray(NONCE, TAG);
    const cipher = createDecipheriv('aes-256-gcm', this.keyring.key(`seal ${use}`), nonce, {
      authTagLength: TEXT - TAG,
    });
    cipher.setAAD(Buffer.from(owner)).setAuthTag(sealed.subarray(TAG, TEXT));
    return Buffer.concat([cipher.update(sealed.subarray(TEXT)), cipher.final()]).toString('utf8');
  }
}
