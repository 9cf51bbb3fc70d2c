import { type ArgumentsHost, Catch } from '@nestjs/common';
import type { Response } from 'express';
import { API_PREFIX } from '../../../config/config.js';
import { MESSAGES, ScimInputError, type ScimType } from '../../../lib/scim/index.js';
import { type ApiError, ErrorKind } from '../../../platform/http/errors.js';
import { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { writeBody } from '../../../platform/http/replies/reply-writer.js';
import { ApiExceptionFilter, type ErrorShape } from '../../../platform/http/server/exception.filter.js';
import { DATABASE_STORAGE, Dependencies } from '../../../platform/observability/dependencies.js';

/** The path of the SCIM interface, below the prefix of the API. */
export const SCIM_PATH = 'scim/v2';

/** The media type of RFC 7644, section 8.1. */
export const SCIM_JSON = 'application/scim+json';

interface ReplyOptions {
  status?: number;
  etag?: string;
  location?: string;
}

/** A response of the protocol. */
export function scimReply(body: object, { status = 200, etag, location }: ReplyOptions = {}): BodyReply {
  const headers = { ...(etag && { ETag: etag }), ...(location && { Location: location }) };
  return replyOf(body, status, headers);
}

/** 204 after a deletion, 304 for an unchanged resource. */
export const emptyReply = (status: 204 | 304, etag?: string): BodyReply =>
  new BodyReply(null, { status, contentType: SCIM_JSON, headers: { ...(etag && { ETag: etag }) } });

export function writeScim(
  response: Response,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  writeBody(response, replyOf(body, status, headers));
}

const replyOf = (body: object, status: number, headers: Record<string, string>): BodyReply =>
  new BodyReply(Buffer.from(JSON.stringify(body)), { status, contentType: SCIM_JSON, headers });

/** An error of the protocol, to throw. @param scimType detail keyword of RFC 7644, section 3.12 */
export const scimError = (status: number, detail: string, scimType: ScimType | '' = ''): ApiError =>
  new ErrorKind(status, scimType, detail).with();

/** Statuses and keywords for error codes of the API, where they differ. */
const BY_CODE: Record<string, { status?: number; scimType: ScimType }> = {
  invalid_json: { status: 400, scimType: 'invalidSyntax' },
  already_exists: { scimType: 'uniqueness' },
};

const SCIM_TYPES: ReadonlySet<string> = new Set<ScimType>([
  'invalidFilter',
  'invalidPath',
  'invalidSyntax',
  'invalidValue',
  'mutability',
  'noTarget',
  'tooMany',
  'uniqueness',
]);

/** Writes errors as RFC 7644, section 3.12, requires: a documented exception to the error shape of the API. */
@Catch()
export class ScimExceptionFilter extends ApiExceptionFilter {
  constructor(dependencies: Dependencies) {
    super(() => dependencies.reportFull(DATABASE_STORAGE));
  }

  override catch(thrown: unknown, host: ArgumentsHost): void {
    const error = thrown instanceof ScimInputError ? scimError(400, thrown.message, thrown.scimType) : thrown;
    // oxlint-disable-next-line promise/valid-params -- the method of a Nest filter, not of a promise
    super.catch(error, host);
  }

  protected override write(response: Response, error: ApiError): void {
    SCIM_ERRORS.write(response, error);
  }
}

/** The error shape of RFC 7644, section 3.12, also for requests that reach no route of SCIM. */
export const SCIM_ERRORS: ErrorShape = {
  applies: (target) => target.startsWith(`/${API_PREFIX}/${SCIM_PATH}/`),
  write(response, error) {
    const { status, scimType } = protocolOf(error);
    const { details } = error.extras;
    const detail = details ? details.map(({ message }) => message).join('; ') : error.message;
    const body = {
      schemas: [`${MESSAGES}:Error`],
      status: String(status),
      ...(scimType && { scimType }),
      detail,
    };
    writeScim(response, status, body, error.extras.headers);
  },
};

function protocolOf({ kind: { status, code } }: ApiError): { status: number; scimType?: string } {
  if (SCIM_TYPES.has(code)) return { status, scimType: code };
  const mapped = BY_CODE[code];
  if (mapped) return { status, ...mapped };
  return status === 422 ? { status: 400, scimType: 'invalidValue' } : { status };
}
