import type { Type } from '@nestjs/common';

/** One wrong input field, as listed in `details` of a 422. */
export interface FieldProblem {
  /** Path of the field in the body or query, e.g. `labels.3`. */
  field: string;
  code: string;
  message: string;
}

export interface ErrorExtras {
  details?: FieldProblem[];
  /** Further documented members of the body, e.g. the current revision of a conflict. */
  body?: Record<string, unknown>;
  headers?: Record<string, string>;
  message?: string;
}

/** An answer other than success. The exception filter turns it into `{ error, message, details?, ...extras }`. */
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

/** A client-visible error: its status, its code in `error`, what it means. Each is declared once, as a constant. */
export class ErrorKind {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly message: string,
    /** Further members of its body, as the documentation shows them. */
    readonly example: Record<string, unknown> = {},
    /** The schema of a body with further members, so that clients are generated with them. */
    readonly type?: Type,
  ) {}

  /** An error of this kind, to be thrown. */
  with(extras?: ErrorExtras): ApiError {
    return new ApiError(this, extras);
  }
}

/** Every error of the interface, in the order of declaration: for the documentation and the tests. */
export const ERROR_KINDS: ErrorKind[] = [];

export function defineError(
  status: number,
  code: string,
  message: string,
  example?: Record<string, unknown>,
  type?: Type,
): ErrorKind {
  const kind = new ErrorKind(status, code, message, example, type);
  ERROR_KINDS.push(kind);
  return kind;
}
