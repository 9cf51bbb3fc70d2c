import type { Type } from '@nestjs/common';

/** An invalid input field, as listed in `details` of a 422. */
export interface FieldProblem {
  /** Path of the field in the body or query, e.g. `labels.3`. */
  field: string;
  code: string;
  message: string;
}

type ErrorHeader = 'ETag' | 'Retry-After' | 'Content-Range' | 'WWW-Authenticate';

interface ErrorExtras {
  details?: FieldProblem[];
  /** Additional documented members of the body, e.g. the current revision of a conflict. */
  body?: Record<string, unknown>;
  headers?: Record<string, string>;
  message?: string;
}

/** An error response. The exception filter turns it into `{ error, message, details?, ...extras }`. */
export class ApiError extends Error {
  constructor(
    readonly kind: ErrorKind,
    readonly extras: ErrorExtras = {},
  ) {
    super(extras.message ?? kind.message);
    this.name = 'ApiError';
  }

  get body(): Record<string, unknown> {
    const { details, body } = this.extras;
    return { error: this.kind.code, message: this.message, ...(details && { details }), ...body };
  }
}

/** Documentation of an error whose response has more than code and message. */
interface ErrorDocs {
  /** Examples of the additional members of its body. */
  example?: Record<string, unknown>;
  /** The schema of a body with additional members. */
  type?: Type | undefined;
  headers?: readonly ErrorHeader[];
}

/** A client-visible error: status, code and message. Each is declared once, as a constant. */
export class ErrorKind {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly message: string,
    readonly docs: ErrorDocs = {},
  ) {}

  /** Creates an error of this kind to throw. */
  with(extras?: ErrorExtras): ApiError {
    return new ApiError(this, extras);
  }
}

/** Every error of the API in the order of declaration, for the documentation and the tests. */
export const ERROR_KINDS: ErrorKind[] = [];

export function defineError(status: number, code: string, message: string, docs?: ErrorDocs): ErrorKind {
  const kind = new ErrorKind(status, code, message, docs);
  ERROR_KINDS.push(kind);
  return kind;
}

/** The errors of all routes. `<domain>.errors.ts` has the errors of a domain. */
export const Errors = {
  invalidJson: defineError(400, 'invalid_json', 'The body is not valid JSON.'),
  badRequest: defineError(400, 'bad_request', 'The request is malformed.'),
  unauthorized: defineError(401, 'unauthorized', 'A valid bearer token is required.', {
    headers: ['WWW-Authenticate'],
  }),
  workspaceForbidden: defineError(
    403,
    'workspace_forbidden',
    'The token has no workspace, or the user is not a member of it.',
  ),
  secondFactorRequired: defineError(
    403,
    'second_factor_required',
    'Prove the second factor first: POST /apis/v1/auth/verify-2fa.',
  ),
  secondFactorMissing: defineError(
    403,
    'second_factor_enrolment_required',
    'The workspace requires a second factor: sign in again to enable one, or use POST /apis/v1/auth/initiate-2fa.',
  ),
  forbidden: defineError(403, 'forbidden', 'Your role does not allow this.'),
  notFound: defineError(404, 'not_found', 'This resource does not exist.'),
  idempotencyKeyReused: defineError(
    409,
    'idempotency_key_reused',
    'This Idempotency-Key was used with another body; send a new key.',
  ),
  requestInFlight: defineError(
    409,
    'request_in_flight',
    'A request with this Idempotency-Key is in progress; retry shortly.',
    { headers: ['Retry-After'] },
  ),
  bodyTooLarge: defineError(413, 'body_too_large', 'The body is larger than this route accepts.'),
  unsupportedMediaType: defineError(
    415,
    'unsupported_media_type',
    'The body must be application/json in UTF-8.',
  ),
  rangeNotSatisfiable: defineError(416, 'range_not_satisfiable', 'The requested range is outside the file.', {
    headers: ['Content-Range'],
  }),
  validationFailed: defineError(422, 'validation_failed', 'Some fields are invalid; see details.', {
    example: {
      details: [
        {
          field: 'title',
          code: 'max_length',
          message: 'title must be shorter than or equal to 512 characters',
        },
      ],
    },
  }),
  invalidId: defineError(422, 'invalid_id', 'An id in the path is not a UUID.'),
  invalidRevision: defineError(
    422,
    'invalid_revision',
    'Send the revision of the object as If-Match or base_revision.',
  ),
  invalidCursor: defineError(
    422,
    'invalid_cursor',
    'The cursor was not issued by this list; start again without one.',
  ),
  invalidIdempotencyKey: defineError(
    422,
    'invalid_idempotency_key',
    'Idempotency-Key must be 1 to 255 visible ASCII characters.',
  ),
  tooManyRequests: defineError(
    429,
    'too_many_requests',
    'Too many requests; retry after the time in Retry-After.',
  ),
  internal: defineError(500, 'internal_error', 'An internal error occurred.'),
  overloaded: defineError(503, 'overloaded', 'The service is overloaded; retry shortly.'),
  timedOut: defineError(
    503,
    'database_timeout',
    'The database did not finish the request in its time; ask for less, or retry later.',
  ),
  identityProviderUnavailable: defineError(
    503,
    'identity_provider_unavailable',
    'The identity provider cannot be reached, so the token cannot be verified; retry shortly.',
  ),
  unavailable: defineError(503, 'database_unavailable', 'The database cannot be reached; retry shortly.'),
  storageFull: defineError(507, 'storage_full', 'The storage of the service is full; retry later.'),
} as const;

/** 422 `validation_failed` for one field. */
export const fieldError = (field: string, code: string, message: string): ApiError =>
  Errors.validationFailed.with({ details: [{ field, code, message }] });

/**
 * Details of an error of some entries of a list field.
 * @param positions of the entries, from 0
 * @param problem follows the name of the entry in the message
 */
export const detailsAt = (
  field: string,
  positions: readonly number[],
  code: string,
  problem: string,
): FieldProblem[] =>
  positions.map((n) => ({ field: `${field}.${n}`, code, message: `${field}.${n} ${problem}` }));
