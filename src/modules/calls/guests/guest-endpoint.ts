import { ApiHeader, ApiParam } from '@nestjs/swagger';
import { AuthenticatedBy, Public } from '../../../platform/context/access.decorators.js';
import { type ErrorKind, Errors } from '../../../platform/http/errors.js';
import {
  Endpoint,
  type EndpointDocs,
  type FileReply,
  type HandlerDecorator,
  withDecorators,
} from '../../../platform/http/endpoint.js';
import { CreationGate, GuestGate } from './guest-limits.js';
import { GuestErrors } from './guests.dto.js';

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

/**
 * A public route below `/call/external/{invite_token}`. Requests with a body are counted before it is read; the services count the others.
 * @param creates the request may create a guest or a mail
 * @param session whether the route takes the header `X-Guest-Session`
 */
export function GuestEndpoint<T = FileReply, Other = never>(
  route: Parameters<typeof Endpoint>[0],
  {
    session,
    creates = false,
    errors = [],
    ...docs
  }: EndpointDocs<T> & {
    session?: 'required' | 'optional';
    creates?: boolean;
    errors?: readonly ErrorKind[];
  },
): HandlerDecorator<T, Other> {
  const decorators = [
    Public(),
    ...(route.startsWith('GET') ? [] : [AuthenticatedBy(creates ? CreationGate : GuestGate)]),
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
  ];
  const all = [...errors, ...(session === 'required' ? [GuestErrors.noSession] : []), ...COMMON];
  return withDecorators(decorators, Endpoint<T, Other>(route, { ...docs, errors: all }));
}
