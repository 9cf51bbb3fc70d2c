import { Injectable } from '@nestjs/common';
import type { RateLimit, RateLimitKey } from '../../../platform/rate-limits/rate-limit.js';
import { networkOf } from '../../../platform/current-work/network-of.js';
import { RateLimits } from '../../../platform/rate-limits/rate-limits.js';
import { Keyring } from '../../../platform/secrets/keyring.js';
import type { Visitor } from './model/visitor.js';

/** Requests without a session, of one network. */
const ADDRESS: RateLimit = { scope: 'guest.address', requests: 120, perSeconds: 60 };
/** Requests with a session, of one network: many guests may share one. */
const SESSIONS: RateLimit = { scope: 'guest.sessions', requests: 1_200, perSeconds: 60 };
const SESSION: RateLimit = { scope: 'guest.session', requests: 60, perSeconds: 60 };
/** Requests without a session for one invite, of one network. */
const INVITE: RateLimit = { scope: 'guest.invite', requests: 60, perSeconds: 60 };
/** Requests that create something, of one workspace. */
const WORKSPACE: RateLimit = { scope: 'guest.workspace', requests: 600, perSeconds: 60 };

/** Limits of the public routes. */
@Injectable()
export class GuestLimits {
  constructor(
    private readonly limits: RateLimits,
    private readonly keyring: Keyring,
  ) {}

  /**
   * @param creates the request may create a guest or a mail. It needs no session, so its session header may be forged and is ignored
   * @throws ApiError 429 `too_many_requests`
   */
  async enforce(visitor: Visitor, creates = false): Promise<void> {
    const { token, tenantId } = visitor;
    const session = creates ? null : visitor.session;
    const network = networkOf(visitor.ip);
    const keys: RateLimitKey[] = session
      ? [
          { limit: SESSIONS, subject: network },
          { limit: SESSION, subject: session.toString('hex') },
        ]
      : [
          { limit: ADDRESS, subject: network },
          { limit: INVITE, subject: `${token.toString('hex')} ${network}` },
        ];
    if (creates) keys.push({ limit: WORKSPACE, subject: tenantId });
    await this.limits.enforce(...keys);
  }

  /** Keyed hash of the network of a visitor. */
  addressHash({ tenantId, ip }: Visitor): Buffer {
    return this.keyring.sign('guest-address', `${tenantId} ${networkOf(ip)}`);
  }
}
