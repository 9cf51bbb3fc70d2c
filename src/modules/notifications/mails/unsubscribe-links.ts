import { Injectable } from '@nestjs/common';
import type { MemberKey } from '../../../platform/context/request-context.js';
import { API_PREFIX, Config } from '../../../config/config.js';
import {
  NOTIFICATION_PREFERENCES,
  type NotificationPreference,
} from '../../../platform/notifications/notification-preferences.js';
import { Keyring } from '../../../platform/secrets/keyring.js';

/** The e-mails that a link ends: of one preference, or all. */
export interface Unsubscription extends MemberKey {
  scope: NotificationPreference | 'all';
}

const SIGNATURE_BYTES = 16;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Signed links of unsubscription. They do not expire: they can only end e-mails. */
@Injectable()
export class UnsubscribeLinks {
  constructor(
    private readonly keyring: Keyring,
    private readonly config: Config,
  ) {}

  url(unsubscription: Unsubscription): string {
    return `${this.config.publicUrl}/${API_PREFIX}/notifications/unsubscribe/${this.token(unsubscription)}`;
  }

  token({ tenantId, userId, scope }: Unsubscription): string {
    const payload = `${tenantId} ${userId} ${scope}`;
    const signature = this.keyring.sign('unsubscribe', payload, SIGNATURE_BYTES);
    return `${Buffer.from(payload).toString('base64url')}.${signature.toString('base64url')}`;
  }

  /** @returns null for a token that this installation did not sign */
  read(token: string): Unsubscription | null {
    const [text = '', signature = ''] = token.split('.');
    const payload = Buffer.from(text, 'base64url').toString();
    const [tenantId = '', userId = '', scope = ''] = payload.split(' ');
    if (!this.keyring.verify('unsubscribe', payload, Buffer.from(signature, 'base64url'))) return null;
    if (!UUID.test(tenantId) || !UUID.test(userId) || !isScope(scope)) return null;
    return { tenantId, userId, scope };
  }
}

const isScope = (text: string): text is Unsubscription['scope'] =>
  text === 'all' || (NOTIFICATION_PREFERENCES as readonly string[]).includes(text);
