import { ApiProperty } from '@nestjs/swagger';
import { ErrorKind, Errors, type FieldProblem } from '../../platform/http/errors.js';

export const MAX_REQUESTS = 100;
const MAX_PATH = 2048;
const MAX_ID = 100;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const MODES = ['ordered', 'independent'] as const;
const NOTE_PATH = '/apis/v1/notes/01890a5d-ac96-774b-bcce-b302099a8057';

/** Headers that a request of a batch may have, in lower case. All other headers come from the batch. */
const HEADERS = ['if-match', 'idempotency-key', 'prefer'] as const;
/** The value of `Prefer` (RFC 7240). */
export const MINIMAL = 'return=minimal';

export type BatchMethod = (typeof METHODS)[number];
export type BatchMode = (typeof MODES)[number];

/** Headers of one request. Names are case-insensitive; no others are allowed. */
export class BatchHeaders {
  /** @example "\"note:01890a5d-ac96-774b-bcce-b302099a8057:r3\"" */ 'If-Match'?: string;
  /** @example "edit-1" */ 'Idempotency-Key'?: string;
  /** Of a write: the body of a success with an `ETag` is null. For clients that read the result from a change feed. */
  @ApiProperty({ required: false, enum: [MINIMAL], example: MINIMAL }) Prefer?: typeof MINIMAL;
}

/** One request of a batch. */
export class BatchRequest {
  /** Copied to the response, at most 100 characters. */
  @ApiProperty({ required: false, example: 'edit-1', maxLength: MAX_ID }) id?: string;
  @ApiProperty({ enum: METHODS, example: 'GET' }) method!: BatchMethod;
  /** Path with query, from `/apis/v1/` on, in ASCII. */
  @ApiProperty({ example: '/apis/v1/notes?limit=1', maxLength: MAX_PATH }) path!: string;
  headers?: BatchHeaders;

  /** JSON body of the request. */
  @ApiProperty({ required: false, type: Object, example: { path: NOTE_PATH }, additionalProperties: true })
  body?: unknown;
}

export class Batch {
  /** `ordered`: each request starts after the response to the previous one. `independent`: any order, several at the same time. */
  @ApiProperty({ required: false, enum: MODES, default: 'ordered', example: 'ordered' }) mode!: BatchMode;
  /** `ordered` only: after a response of 400 or higher the rest does not run; each gets 424 `not_run`. */
  @ApiProperty({ required: false, default: false, example: false }) stop_on_error!: boolean;
  @ApiProperty({ type: [BatchRequest], minItems: 1, maxItems: MAX_REQUESTS }) requests!: BatchRequest[];
}

/**
 * Reads the body of a batch. Written by hand: the general validation would copy every nested body field by field.
 * @throws ApiError 422 `validation_failed` with one detail for each invalid field
 */
export function parseBatch(body: unknown): Batch {
  const details: FieldProblem[] = [];
  const reject = (field: string, code: string, rule: string): void => {
    details.push({ field, code, message: `${field} ${rule}` });
  };
  const { mode = 'ordered', stop_on_error = false, requests } = isObject(body) ? body : {};
  if (!MODES.includes(mode as BatchMode)) reject('mode', 'is_in', `must be one of: ${MODES.join(', ')}`);
  if (typeof stop_on_error !== 'boolean') reject('stop_on_error', 'is_boolean', 'must be true or false');
  if (!Array.isArray(requests) || requests.length < 1 || requests.length > MAX_REQUESTS)
    reject('requests', 'array_size', `must be an array of 1 to ${MAX_REQUESTS} requests`);
  else requests.forEach((request, n) => checkRequest(request, `requests.${n}`, reject));
  if (details.length > 0) throw Errors.validationFailed.with({ details });
  return { mode, stop_on_error, requests } as Batch;
}

function checkRequest(
  request: unknown,
  field: string,
  reject: (field: string, code: string, rule: string) => void,
): void {
  if (!isObject(request)) return reject(field, 'is_object', 'must be an object');
  const { id, method, path, headers } = request;
  if (id !== undefined && !(typeof id === 'string' && id.length <= MAX_ID))
    reject(`${field}.id`, 'max_length', `must be text of at most ${MAX_ID} characters`);
  if (!METHODS.includes(method as BatchMethod))
    reject(`${field}.method`, 'is_in', `must be one of: ${METHODS.join(', ')}`);
  if (!(typeof path === 'string' && path.length <= MAX_PATH && /^\/apis\/v1\/[!"$-~]+$/.test(path)))
    reject(`${field}.path`, 'matches', 'must begin with /apis/v1/ and be percent-encoded ASCII');
  if (headers === undefined) return;
  if (!isObject(headers)) return reject(`${field}.headers`, 'is_object', 'must be an object');
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADERS.includes(name.toLowerCase() as (typeof HEADERS)[number]))
      reject(
        `${field}.headers.${name}`,
        'is_in',
        'is not allowed; only If-Match, Idempotency-Key and Prefer are',
      );
    else if (!(typeof value === 'string' && /^[\x20-\x7e]{1,1000}$/.test(value)))
      reject(`${field}.headers.${name}`, 'matches', 'must be 1 to 1000 visible ASCII characters');
    else if (name.toLowerCase() === 'prefer' && value !== MINIMAL)
      reject(`${field}.headers.${name}`, 'is_in', `must be ${MINIMAL}`);
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The response to one request of the batch. */
export class BatchItemResponse {
  /** The `id` of the request, if it has one. */
  @ApiProperty({ required: false, example: 'edit-1' }) id?: string;

  @ApiProperty({ type: 'integer', minimum: 200, maximum: 599, example: 200 }) status!: number;

  /** The headers `ETag`, `Location`, `Retry-After` and `X-Request-Id` of the response, if present. Names are in lower case. */
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { etag: '"note:01890a5d-ac96-774b-bcce-b302099a8057:r4"' },
  })
  headers!: Record<string, string>;

  /** The JSON body, exactly as for a single request. Null for a response without a body, and with `Prefer: return=minimal`. */
  @ApiProperty({
    type: 'object',
    nullable: true,
    additionalProperties: true,
    example: { notes: [], next: null },
  })
  body!: unknown;
}

export class BatchEnvelope {
  /** One for each request, in the order of the requests. */
  @ApiProperty({ type: [BatchItemResponse] }) responses!: BatchItemResponse[];
}

/** Errors of single requests in a batch. They appear in the response to that request only. */
export const BatchErrors = {
  notBatchable: new ErrorKind(
    422,
    'not_batchable',
    'This request cannot be part of a batch: files, sign-in, `wait` and batches are excluded. Send it alone.',
  ),
  notRun: new ErrorKind(424, 'not_run', 'An earlier request of this batch failed, so this one did not run.'),
  batchFull: new ErrorKind(
    503,
    'batch_full',
    'The responses before this one filled the batch, so this request did not run. Send it in another batch.',
  ),
} as const;
