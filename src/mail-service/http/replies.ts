import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ArgumentsHost, Catch, type ExceptionFilter, Logger, NotFoundException } from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  DatabaseBusyError,
  fullStorage,
  isConnectionError,
  isTimeout,
} from '../../platform/database/database-errors.js';
import { LeanExpressAdapter } from '../../platform/http/server/lean-express.adapter.js';
import { countForwardedBytes } from '../../platform/memory/garbage.js';
import { MailError, mailErrors } from '../mail-error.js';
import { isMediaType } from '../mime/clean-text.js';

/** JSON that is already text, e.g. from PostgreSQL. */
export class SerializedJson {
  constructor(readonly text: string) {}
}

/**
 * Writes a JSON response in one call.
 * @param type media type; errors of the HTTP layer have no charset
 */
export function writeJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  type = 'application/json; charset=utf-8',
): void {
  const text = body instanceof SerializedJson ? body.text : JSON.stringify(body);
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(text);
}

/**
 * Streams bytes at the client's pace. An error of the source closes the connection; a disconnected client destroys the
 * source.
 * @param type declared media type
 * @param length bytes, when known
 */
export async function sendStream(
  response: Response,
  stream: Readable,
  type: string,
  length?: number,
): Promise<void> {
  response.writeHead(200, {
    'Content-Type': isMediaType(type) ? type : 'application/octet-stream',
    ...(length !== undefined && { 'Content-Length': length }),
    // Marks the response as a file: a JSON file could look like an error.
    'Content-Disposition': 'attachment',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; sandbox",
  });
  await pipeline(stream, countBytes, response);
}

async function* countBytes(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) {
    countForwardedBytes(chunk.length);
    yield chunk;
  }
}

/** Maps exceptions to error responses. Unexpected exceptions are logged and reveal nothing. */
@Catch()
export class MailExceptionFilter implements ExceptionFilter {
  private readonly logger = new Logger(MailExceptionFilter.name);

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const response = http.getResponse<Response>();
    if (response.headersSent) {
      // The response has begun: close the connection, so that it cannot look complete.
      response.destroy();
      return;
    }
    const mailError = this.mailErrorOf(error, http.getRequest<Request>());
    const type = mailError.isTransport ? 'application/json' : undefined;
    writeJson(response, mailError.status, mailError.body, type);
  }

  private mailErrorOf(error: unknown, request: Request): MailError {
    if (error instanceof MailError) return error;
    if (error instanceof NotFoundException) return mailErrors.noRoute(request.path);
    if (error instanceof DatabaseBusyError || isConnectionError(error) || isTimeout(error))
      return mailErrors.busy();
    this.logger.error({ err: error, method: request.method }, 'a request failed');
    const storage = fullStorage(error);
    if (storage) return mailErrors.storageFull(storage);
    return mailErrors.internal();
  }
}

/** The platform's adapter with WildDuck's responses: status 200 for every success. */
export class MailExpressAdapter extends LeanExpressAdapter {
  override reply(response: Response, body: unknown): unknown {
    return writeJson(response, 200, body);
  }
}
