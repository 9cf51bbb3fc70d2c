import { isUtf8 } from 'node:buffer';
import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { ClientDisconnectedError } from '../abort-signal.js';
import { ApiError, Errors } from '../errors.js';
import {
  assertFewParameters,
  assertFewValues,
  type BodyLimits,
  bodyLimitsOf,
  LargeBodies,
  lengthOfLong,
  parsedJson,
  readLong,
} from './body-limits.js';
import { assertStorable, removeInheritedKeys } from '../storable-text.js';

/** Larger bodies count against `LargeBodies`: several times their size is in memory until the response. */
const LARGE = 8 * 1024 * 1024;
const MULTIPART = 'workspace:multipart';
const BYTES_BODY = 'workspace:bytes-body';

interface BytesBodyOptions {
  /** Accepted media types, without parameters. */
  types: readonly string[];
  /** Maximum size, bytes. */
  limit: number;
}

/** The route accepts bytes instead of JSON. The body is a Buffer, empty for a request without a body. */
export const BytesBody = (options: BytesBodyOptions) => SetMetadata(BYTES_BODY, options);
/** The route accepts a multipart form with files. The handler reads it, not the guard. */
export const MultipartBody = () => SetMetadata(MULTIPART, true);

const STREAMED = 'workspace:streamed-body';
/** The handler reads bodies of these media types. All others are JSON. */
export const StreamedBody = (...types: readonly string[]) => SetMetadata(STREAMED, types);

const JSON_TYPES = 'workspace:json-types';
/** The JSON body may have these media types beside `application/json`. */
export const JsonTypes = (...types: readonly string[]) => SetMetadata(JSON_TYPES, types);

/** A request whose JSON body has been read. */
export interface RequestWithBody extends Request {
  /** The decompressed bytes, kept for requests with an Idempotency-Key, which compares them. */
  rawBody?: Buffer;
  /** Set by the bearer guard. */
  ctx?: { readonly userId: string };
}

/**
 * Reads the JSON body. It is a guard because it must run after the bearer guard: without a valid token the server buffers
 * nothing, and a missing token is a 401 even if the body is invalid (docs/adr/0002).
 */
@Injectable()
export class BodyGuard implements CanActivate {
  private readonly parsers = new Map<string, RequestHandler>();
  private readonly large = new LargeBodies();

  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<RequestWithBody>();
    assertFewParameters(request.url);
    const bytes = this.reflector.get<BytesBodyOptions | undefined>(BYTES_BODY, context.getHandler());
    if (!hasBody(request)) {
      request.body = bytes ? Buffer.alloc(0) : {};
      return true;
    }
    const response = http.getResponse<Response>();
    // The client may have disconnected while an earlier guard waited for the database. No event reports it again.
    if (response.closed) throw new ClientDisconnectedError();
    if (bytes) return this.readBytes(request, response, bytes);
    if (this.reflector.get<boolean>(MULTIPART, context.getHandler())) {
      if (!isForm(request)) throw Errors.unsupportedMediaType.with({ message: NO_FORM });
      return true;
    }
    const streamed = this.reflector.get<readonly string[] | undefined>(STREAMED, context.getHandler());
    if (streamed?.includes(mediaTypeOf(request))) return true;
    const others = this.reflector.get<readonly string[] | undefined>(JSON_TYPES, context.getHandler());
    if (!isJson(request) && !others?.includes(mediaTypeOf(request))) throw Errors.unsupportedMediaType.with();
    const limits = bodyLimitsOf(context.getHandler());
    // Rejected before the body is read; the parser would read all of it.
    if (Number(request.headers['content-length']) > limits.bytes) throw Errors.bodyTooLarge.with();
    if (limits.bytes > LARGE && mayBeLarge(request)) {
      const release = this.large.enter(request.ctx?.userId ?? '');
      response.once('close', release);
    }
    return this.read(request, response, limits);
  }

  private async read(request: RequestWithBody, response: Response, limits: BodyLimits): Promise<boolean> {
    const length = lengthOfLong(request);
    if (length === null) await parsed(request, response, this.parser(limits));
    else {
      const raw = await readLong(request, length);
      keepRaw(request, response, raw);
      assertFewValues(raw, limits.values);
      request.body = parsedJson(raw);
    }
    assertStorable(request.body);
    removeInheritedKeys(request.body);
    return true;
  }

  private async readBytes(
    request: RequestWithBody,
    response: Response,
    { types, limit }: BytesBodyOptions,
  ): Promise<boolean> {
    if (!types.includes(mediaTypeOf(request)))
      throw Errors.unsupportedMediaType.with({ message: `The body must be ${types.join(', ')}.` });
    if (Number(request.headers['content-length']) > limit) throw Errors.bodyTooLarge.with();
    await parsed(request, response, express.raw({ limit, type: () => true }));
    return true;
  }

  private parser({ bytes, values }: BodyLimits): RequestHandler {
    const key = `${bytes} ${values}`;
    let parser = this.parsers.get(key);
    if (!parser) {
      const verify: Verify = (request, response, raw, charset) => {
        keepRaw(request as RequestWithBody, response, raw);
        rethrown(() => assertFewValues(inUtf8(raw, charset), values));
      };
      parser = express.json({ limit: bytes, strict: false, type: () => true, verify });
      this.parsers.set(key, parser);
    }
    return parser;
  }
}

/** body-parser writes properties such as `body` into an error of `verify`, which `ApiError` computes: it gets an error of its own. */
function rethrown(check: () => void): void {
  try {
    check();
  } catch (cause) {
    throw new Error('The body is invalid.', { cause });
  }
}

type Verify = NonNullable<NonNullable<Parameters<typeof express.json>[0]>['verify']>;

function parsed(request: Request, response: Response, parse: RequestHandler): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    void parse(request, response, (error?: unknown) =>
      error === undefined ? resolve() : reject(bodyError(error)),
    );
  });
}

/**
 * The decompressed bytes in UTF-8. The parser would replace bytes that are not in their charset, and the replacements would be stored.
 * @throws Error for other bytes, and for a charset that the platform does not know
 */
function inUtf8(raw: Buffer, charset: string): Buffer {
  if (charset !== 'utf-8') return Buffer.from(new TextDecoder(charset, { fatal: true }).decode(raw));
  if (!isUtf8(raw)) throw new Error('The body is not UTF-8.');
  return raw;
}

function keepRaw(request: RequestWithBody, _response: unknown, raw: Buffer): void {
  if (request.headers['idempotency-key'] !== undefined) request.rawBody = raw;
}

function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** Lower case, without parameters; empty without a type. */
export function mediaTypeOf({ headers }: Request): string {
  return (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

const NO_FORM = 'The body must be multipart/form-data.';

function isForm({ headers }: Request): boolean {
  return /^multipart\/form-data\s*(?:;|$)/i.test(headers['content-type'] ?? '');
}

/** True when the length is over the limit or unknown, or when the body is compressed. */
function mayBeLarge({ headers }: Request): boolean {
  const length = Number(headers['content-length'] ?? Infinity);
  return length > LARGE || (headers['content-encoding'] ?? 'identity') !== 'identity';
}

function isJson({ headers }: Request): boolean {
  return /^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '');
}

/** Maps the errors of body-parser by their documented `type`. */
function bodyError(error: unknown): unknown {
  const { type, cause } = error as { type?: unknown; cause?: unknown };
  if (cause instanceof ApiError) return cause;
  if (type === 'entity.too.large') return Errors.bodyTooLarge.with();
  if (type === 'encoding.unsupported' || type === 'charset.unsupported')
    return Errors.unsupportedMediaType.with();
  if (type === 'entity.parse.failed' || type === 'entity.verify.failed') return Errors.invalidJson.with();
  if (type === 'request.aborted' || type === 'request.size.invalid') return Errors.badRequest.with();
  return (error as { status?: number }).status === 400 ? Errors.invalidJson.with() : error;
}
