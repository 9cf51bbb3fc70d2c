import { Injectable } from '@nestjs/common';
import type { RequestAuthenticator } from '../../../platform/context/access.decorators.js';
import type { AuthenticatedRequest } from '../../../platform/context/request-context.js';
import { networkOf } from '../../../platform/current-work/current-work.js';
import { type RateLimit, type RateLimitKey, RateLimits } from '../../../platform/rate-limits/rate-limits.js';
import { Keyring } from '../../../platform/secrets/keyring.js';
import { type Visitor, visitorOf } from './model/visitor.js';

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

/** Counts a request of the public routes before its body is read. */
@Injectable()
export class GuestGate implements RequestAuthenticator {
  constructor(private readonly limits: GuestLimits) {}

  async authenticate(request: AuthenticatedRequest): Promise<void> {
    await this.limits.enforce(visitorOf(request));
  }
}

/** As `GuestGate`, for requests that may create a guest or a mail. */
@Injectable()
export class CreationGate implements RequestAuthenticator {
  constructor(private readonly limits: GuestLimits) {}

  async authenticate(request: AuthenticatedRequest): Promise<void> {
    await this.limits.enforce(visitorOf(request), true);
  }
}
