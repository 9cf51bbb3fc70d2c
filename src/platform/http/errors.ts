import { defineError } from './api-error.js';

/** The errors any route can answer. Domain errors stand in `<domain>.errors.ts`. */
export const Errors = {
  invalidJson: defineError(400, 'invalid_json', 'The body is not valid JSON.'),
  badRequest: defineError(400, 'bad_request', 'The request cannot be understood.'),
  unauthorized: defineError(401, 'unauthorized', 'A valid bearer token is required.'),
  workspaceForbidden: defineError(
    403,
    'workspace_forbidden',
    'The token names no workspace, or not one of yours.',
  ),
  secondFactorRequired: defineError(
    403,
    'second_factor_required',
    'Prove the second factor first: POST /apis/v1/auth/verify-2fa.',
  ),
  forbidden: defineError(403, 'forbidden', 'Your role does not allow this.'),
  notFound: defineError(404, 'not_found', 'There is nothing here.'),
  idempotencyKeyReused: defineError(
    409,
    'idempotency_key_reused',
    'This Idempotency-Key was used with another body.',
  ),
  requestInFlight: defineError(
    409,
    'request_in_flight',
    'A request with this Idempotency-Key is still being worked on.',
  ),
  bodyTooLarge: defineError(413, 'body_too_large', 'The body is larger than this route accepts.'),
  unsupportedMediaType: defineError(
    415,
    'unsupported_media_type',
    'The body must be application/json in UTF-8.',
  ),
  expectationFailed: defineError(
    417,
    'expectation_failed',
    'The only supported Expect value is 100-continue.',
  ),
  rangeNotSatisfiable: defineError(416, 'range_not_satisfiable', 'The file has no such bytes.'),
  validationFailed: defineError(422, 'validation_failed', 'Some fields are wrong; see details.', {
    details: [
      {
        field: 'title',
        code: 'max_length',
        message: 'title must be shorter than or equal to 512 characters',
      },
    ],
  }),
  invalidId: defineError(422, 'invalid_id', 'An id in the path is not a UUID.'),
  invalidRevision: defineError(
    422,
    'invalid_revision',
    'The revision you read must be sent as If-Match or base_revision.',
  ),
  invalidCursor: defineError(422, 'invalid_cursor', 'The cursor is not one this list gave out.'),
  invalidIdempotencyKey: defineError(
    422,
    'invalid_idempotency_key',
    'Idempotency-Key must be 1 to 255 visible ASCII characters.',
  ),
  tooManyRequests: defineError(
    429,
    'too_many_requests',
    'Asked too often; wait as long as Retry-After says.',
  ),
  internal: defineError(500, 'internal_error', 'Something went wrong on our side.'),
  overloaded: defineError(503, 'overloaded', 'Too busy right now; try again shortly.'),
  identityProviderUnavailable: defineError(
    503,
    'identity_provider_unavailable',
    'The identity provider cannot be reached, so the token cannot be verified; try again shortly.',
  ),
  unavailable: defineError(
    503,
    'database_unavailable',
    'The database cannot be reached right now; try again shortly.',
  ),
  storageFull: defineError(507, 'storage_full', 'The storage of the service is full; try again later.'),
} as const;
