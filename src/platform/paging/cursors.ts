import { Injectable } from '@nestjs/common';
import { Errors } from '../http/errors.js';
import { Keyring } from '../secrets/keyring.js';

const SIGNATURE_BYTES = 12;
/** 12 bytes are exactly 16 characters: no spare bits that could differ unnoticed. */
const FORM = /^([\w-]+)\.([\w-]{16})$/;

/**
 * Signed keyset cursors: `<base64url JSON>.<base64url HMAC>`. The signature binds a cursor to its list and its owner, so
 * that a cut, foreign or made-up one is noticed instead of silently giving another page.
 */
@Injectable()
export class Cursors {
  constructor(private readonly keyring: Keyring) {}

  /**
   * @param scope the list and its owner, e.g. `notes:<tenant>:<user>:<filters>`; the same to write and to read
   * @param position the sort key values of the last row given out
   */
  write(scope: string, position: readonly (string | number)[]): string {
    const payload = Buffer.from(JSON.stringify(position)).toString('base64url');
    return `${payload}.${this.keyring.sign('cursor', `${scope} ${payload}`, SIGNATURE_BYTES).toString('base64url')}`;
  }

  /** @throws ApiError 422 `invalid_cursor` */
  read(scope: string, cursor: string): (string | number)[] {
    const [, payload = '', signature = ''] = FORM.exec(cursor) ?? [];
    if (!this.keyring.verify('cursor', `${scope} ${payload}`, Buffer.from(signature, 'base64url'))) {
      throw Errors.invalidCursor.with();
    }
    return JSON.parse(Buffer.from(payload, 'base64url').toString()) as (string | number)[];
  }
}
