import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { API_PREFIX } from '../../../../config/config.js';
import type { AuthenticatedRequest } from '../../../../platform/context/request-context.js';
import { hashOf, readToken } from '../../../../platform/secrets/secret-box.js';

/** A request of the public routes, by the tokens that it carries. */
export interface Visitor {
  /** The workspace that the invite token names; the nil UUID for other text. */
  tenantId: string;
  /** Path of the routes of the invite. It contains the token: never log it. */
  path: string;
  /** Hash of the invite token, or of the token of a chat link. */
  token: Buffer;
  /** Hash of `X-Guest-Session`; null without the header. */
  session: Buffer | null;
  ip: string | null;
  userAgent: string | null;
  requestId: string;
}

const MAX_USER_AGENT = 200;

/** Injects the {@link Visitor} of a `@GuestEndpoint()` handler. */
export const FromGuest = createParamDecorator((_: unknown, context: ExecutionContext): Visitor =>
  visitorOf(context.switchToHttp().getRequest<AuthenticatedRequest>()),
);

export function visitorOf(request: AuthenticatedRequest): Visitor {
  const inviteToken = String(request.params['invite_token']);
  const { tenantId, hash: token } = readToken(inviteToken);
  const header = request.headers['x-guest-session'];
  return {
    tenantId,
    path: `/${API_PREFIX}/call/external/${inviteToken}`,
    token,
    session: typeof header === 'string' && header !== '' ? hashOf(header) : null,
    ip: request.ip ?? null,
    userAgent: request.headers['user-agent']?.slice(0, MAX_USER_AGENT) ?? null,
    requestId: request.id,
  };
}

/** SQL: whether the guest of the row `guest` is connected to a call at the media server. */
export const IS_CONNECTED = `EXISTS (
  SELECT FROM call_participants participant
   WHERE participant.tenant_id = guest.tenant_id AND participant.principal_id = guest.id AND participant.principal_kind <> 'user'
     AND participant.left_at IS NULL)`;
