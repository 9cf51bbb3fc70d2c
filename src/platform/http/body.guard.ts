import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import express, { type Request, type RequestHandler, type Response } from 'express';
import type { AuthenticatedRequest } from '../context/request-context.js';
import { Errors } from './errors.js';
import { LargeBodies } from './large-bodies.js';
import { assertStorable } from './storable-text.js';

const DEFAULT_LIMIT = 1024 * 1024;
/** Bodies beyond this are counted: several times their size is held until the answer is given. */
const LARGE = 8 * 1024 * 1024;
const BODY_LIMIT = 'workspace:body-limit';

/** Bytes of JSON the route accepts; 1 MiB where not said. */
export const BodyLimit = (bytes: number) => SetMetadata(BODY_LIMIT, bytes);

/** A request whose JSON body has been read. */
export interface RequestWithBody extends Request {
  /** The bytes as sent (after decompression), kept where an Idempotency-Key asks to compare them. */
  rawBody?: Buffer;
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
    if (!hasBody(request)) {
      request.body = {};
      return true;
    }
    if (!isJson(request)) throw Errors.unsupportedMediaType.with();
    const limit = this.reflector.get<number>(BODY_LIMIT, context.getHandler()) ?? DEFAULT_LIMIT;
    // The parser would read it to its end before it says so.
    if (Number(request.headers['content-length']) > limit) throw Errors.bodyTooLarge.with();
    const response = http.getResponse<Response>();
    if (limit > LARGE && mayBeLarge(request)) {
      const leave = this.large.enter((request as RequestWithBody & AuthenticatedRequest).ctx?.userId ?? '');
      response.once('close', leave);
    }
    return this.read(request, response, this.parser(limit));
  }

  private async read(request: RequestWithBody, response: Response, parse: RequestHandler): Promise<boolean> {
    await new Promise<void>((resolve, reject) => {
      void parse(request, response, (error?: unknown) =>
        error === undefined ? resolve() : reject(bodyError(error)),
      );
    });
    assertStorable(request.body);
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

function keepRaw(request: RequestWithBody, _response: unknown, raw: Buffer): void {
  if (request.headers['idempotency-key'] !== undefined) request.rawBody = raw;
}

function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
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
