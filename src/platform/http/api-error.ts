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
