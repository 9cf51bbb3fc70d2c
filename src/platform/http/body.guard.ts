import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { Errors } from './errors.js';
import { LargeBodies } from './large-bodies.js';
import { lengthOfLong, parsedLong, readLong } from './long-body.js';
import { assertStorable, removeInheritedKeys } from './storable-text.js';

const DEFAULT_LIMIT = 1024 * 1024;
/** Bodies beyond this are counted: several times their size is held until the answer is given. */
const LARGE = 8 * 1024 * 1024;
const BODY_LIMIT = 'workspace:body-limit';
const MULTIPART = 'workspace:multipart';

/** Bytes of JSON the route accepts; 1 MiB where not said. */
export const BodyLimit = (bytes: number) => SetMetadata(BODY_LIMIT, bytes);

const BYTES_BODY = 'workspace:bytes-body';

interface BytesBodyOptions {
  /** Media types that are taken, without parameters. */
  types: readonly string[];
  /** At most so many bytes. */
  limit: number;
}

/** The route takes bytes as they are instead of JSON: the body is then a Buffer, empty where nothing was sent. */
export const BytesBody = (options: BytesBodyOptions) => SetMetadata(BYTES_BODY, options);
/** The route takes a form with files, which the handler reads itself: here it is left where it is. */
export const MultipartBody = () => SetMetadata(MULTIPART, true);

/** A request whose JSON body has been read. */
export interface RequestWithBody extends Request {
  /** The bytes as sent (after decompression), kept where an Idempotency-Key asks to compare them. */
  rawBody?: Buffer;
  /** Set by the bearer guard. */
  ctx?: { readonly userId: string };
}

/**
 * Reads the JSON body, as a guard so that it comes after the bearer guard: nobody makes the server buffer megabytes
 * without a valid token, and a missing token is a 401 whatever the body is (docs/adr/0002).
 */
@Injectable()
export class BodyGuard implements CanActivate {
  private readonly parsers = new Map<number, RequestHandler>();
  private readonly large = new LargeBodies();

  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<RequestWithBody>();
    const bytes = this.reflector.get<BytesBodyOptions | undefined>(BYTES_BODY, context.getHandler());
    if (!hasBody(request)) {
      request.body = bytes ? Buffer.alloc(0) : {};
      return true;
    }
    if (bytes) return this.readBytes(request, http.getResponse<Response>(), bytes);
    if (this.reflector.get<boolean>(MULTIPART, context.getHandler())) {
      if (!isForm(request)) throw Errors.unsupportedMediaType.with({ message: NO_FORM });
      return true;
    }
    if (!isJson(request)) throw Errors.unsupportedMediaType.with();
    const limit = this.reflector.get<number>(BODY_LIMIT, context.getHandler()) ?? DEFAULT_LIMIT;
    // The parser would read it to its end before it says so.
    if (Number(request.headers['content-length']) > limit) throw Errors.bodyTooLarge.with();
    const response = http.getResponse<Response>();
    if (limit > LARGE && mayBeLarge(request)) {
      const leave = this.large.enter(request.ctx?.userId ?? '');
      response.once('close', leave);
    }
    return this.read(request, response, this.parser(limit));
  }

  private async read(request: RequestWithBody, response: Response, parse: RequestHandler): Promise<boolean> {
    const length = lengthOfLong(request);
    if (length === null) await parsed(request, response, parse);
    else {
      const raw = await readLong(request, length);
      keepRaw(request, response, raw);
      request.body = parsedLong(raw);
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
    const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
    if (!types.includes(type))
      throw Errors.unsupportedMediaType.with({ message: `The body must be ${types.join(', ')}.` });
    if (Number(request.headers['content-length']) > limit) throw Errors.bodyTooLarge.with();
    await parsed(request, response, express.raw({ limit, type: () => true }));
    return true;
  }

  private parser(limit: number): RequestHandler {
    let parser = this.parsers.get(limit);
    if (!parser) {
      parser = express.json({ limit, strict: false, type: () => true, verify: keepRaw });
      this.parsers.set(limit, parser);
    }
    return parser;
  }
}

function parsed(request: Request, response: Response, parse: RequestHandler): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    void parse(request, response, (error?: unknown) =>
      error === undefined ? resolve() : reject(bodyError(error)),
    );
  });
}

function keepRaw(request: RequestWithBody, _response: unknown, raw: Buffer): void {
  if (request.headers['idempotency-key'] !== undefined) request.rawBody = raw;
}

function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

const NO_FORM = 'The body must be multipart/form-data.';

function isForm({ headers }: Request): boolean {
  return /^multipart\/form-data\s*(?:;|$)/i.test(headers['content-type'] ?? '');
}

/** Its length is beyond what goes uncounted, or not said, or that of something packed. */
function mayBeLarge({ headers }: Request): boolean {
  const length = Number(headers['content-length'] ?? Infinity);
  return length > LARGE || (headers['content-encoding'] ?? 'identity') !== 'identity';
}

function isJson({ headers }: Request): boolean {
  return /^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '');
}

/** The errors of body-parser, by their documented `type`. */
function bodyError(error: unknown): unknown {
  const type = (error as { type?: unknown }).type;
  if (type === 'entity.too.large') return Errors.bodyTooLarge.with();
  if (type === 'encoding.unsupported' || type === 'charset.unsupported')
    return Errors.unsupportedMediaType.with();
  if (type === 'entity.parse.failed') return Errors.invalidJson.with();
  if (type === 'request.aborted' || type === 'request.size.invalid') return Errors.badRequest.with();
  return (error as { status?: number }).status === 400 ? Errors.invalidJson.with() : error;
}
