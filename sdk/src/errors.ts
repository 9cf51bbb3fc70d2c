import { secondsOf } from './retry-after.js';

/** The code of an error body, or `string` for bodies without one, such as those of the mail service. */
export type CodeOf<Body> = Body extends { error: infer Code extends string } ? Code : string;

/** A response with an error. */
export class ApiError<Body = unknown> extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** A stable code for programs. `http_<status>` if the response has no JSON body. */
  readonly code: CodeOf<Body>;
  /** Seconds until the next attempt, if the response names them. */
  readonly retryAfter: number | undefined;

  constructor(
    readonly body: Body,
    readonly response: Response,
  ) {
    const { error, message } = (typeof body === 'object' && body !== null ? body : {}) as Record<
      string,
      unknown
    >;
    super(typeof message === 'string' ? message : `The response has the status ${response.status}.`);
    this.status = response.status;
    this.code = (typeof error === 'string' ? error : `http_${response.status}`) as CodeOf<Body>;
    this.retryAfter = secondsOf(response.headers.get('Retry-After'));
  }
}

/**
 * @param result of a call
 * @returns its data
 * @throws ApiError with the body of an error
 */
export function unwrap<Data>(result: { data?: Data; error?: unknown; response: Response }): Data {
  if (!result.response.ok) throw new ApiError(result.error, result.response);
  return result.data as Data;
}
