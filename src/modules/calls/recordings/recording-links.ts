import { Injectable } from '@nestjs/common';
import { parse, stringify } from 'uuid';
import { Keyring } from '../../../platform/secrets/keyring.js';

/** Seconds in which a link is valid. */
const VALID_SECONDS = 3_600;
const USE = 'recording link';
const ID_BYTES = 16;
const TIME_BYTES = 6;
const SIGNATURE_BYTES = 18;
const BYTES = 2 * ID_BYTES + TIME_BYTES + SIGNATURE_BYTES;
const FORM = /^[\w-]{75}$/;

export interface RecordingLink {
  url: string;
  expiresAt: Date;
}

/** Signed links to recordings for players, which send no bearer token: workspace, recording, time of the end, HMAC. */
@Injectable()
export class RecordingLinks {
  constructor(private readonly keyring: Keyring) {}

  /** A new link to a file. */
  issue(tenantId: string, id: string): RecordingLink {
    const expires = Math.floor(Date.now() / 1000) + VALID_SECONDS;
    const time = Buffer.alloc(TIME_BYTES);
    time.writeUIntBE(expires, 0, TIME_BYTES);
    const content = Buffer.concat([parse(tenantId), parse(id), time]);
    const signature = this.keyring.sign(USE, content.toString('hex'), SIGNATURE_BYTES);
    const token = Buffer.concat([content, signature]).toString('base64url');
    return { url: `/apis/v1/call/recordings/${token}`, expiresAt: new Date(expires * 1000) };
  }

  /** @returns undefined for an invalid or expired link */
  read(token: string): { tenantId: string; id: string } | undefined {
    if (!FORM.test(token)) return undefined;
    const bytes = Buffer.from(token, 'base64url');
    if (bytes.length !== BYTES) return undefined;
    const content = bytes.subarray(0, BYTES - SIGNATURE_BYTES);
    if (!this.keyring.verify(USE, content.toString('hex'), bytes.subarray(content.length))) return undefined;
    if (content.readUIntBE(2 * ID_BYTES, TIME_BYTES) * 1000 <= Date.now()) return undefined;
    return { tenantId: stringify(content, 0), id: stringify(content, ID_BYTES) };
  }
}
