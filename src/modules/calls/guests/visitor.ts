import { applyDecorators, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiHeader, ApiParam } from '@nestjs/swagger';
import { API_PREFIX } from '../../../config/config.js';
import { Public } from '../../../platform/context/access.decorators.js';
import type { AuthenticatedRequest } from '../../../platform/context/request-context.js';
import type { ErrorKind } from '../../../platform/http/api-error.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { GuestErrors } from './guests.errors.js';
import { hashOf, readToken } from '../../../platform/secrets/workspace-token.js';

/** A request of the public routes, by the tokens that it carries. */
export interface Visitor {
  /** As the invite token names it; the nil UUID for other text. */
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
export const FromGuest = createParamDecorator((_: unknown, context: ExecutionContext): Visitor => {
  const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
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
});

const COMMON = [
  Errors.badRequest,
  GuestErrors.inviteNotFound,
  GuestErrors.inviteExpired,
  GuestErrors.inviteRevoked,
  Errors.tooManyRequests,
  Errors.internal,
  Errors.overloaded,
  Errors.unavailable,
  Errors.storageFull,
];

const SESSION_HEADER = 'The session of the guest, from `claim` or `session/mint`.';

type Docs = Parameters<typeof Endpoint>[1];

/**
 * A public route below `/call/external/{invite_token}`.
 * @param session whether the route takes the header `X-Guest-Session`
 */
export function GuestEndpoint(
  route: Parameters<typeof Endpoint>[0],
  {
    session,
    errors = [],
    ...docs
  }: Docs & { session?: 'required' | 'optional'; errors?: readonly ErrorKind[] },
): MethodDecorator {
  return applyDecorators(
    Public(),
    ApiParam({
      name: 'invite_token',
      description: 'The token of the invite.',
      schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{64}$', examples: [`${'A'.repeat(63)}w`] },
    }),
    ...(session
      ? [
          ApiHeader({
            name: 'X-Guest-Session',
            required: session === 'required',
            description: SESSION_HEADER,
            schema: { type: 'string' },
          }),
        ]
      : []),
    Endpoint(route, {
      ...docs,
      errors: [...errors, ...(session === 'required' ? [GuestErrors.noSession] : []), ...COMMON],
    }),
  );
}
