import type { Response } from 'express';
import { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { writeBody } from '../../../platform/http/replies/reply-writer.js';

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
