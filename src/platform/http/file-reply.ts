import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { create as contentDisposition } from 'content-disposition';
import type { Request, Response } from 'express';
import { clientGone } from './abort-signal.js';
import { asciiFileName, safeFileName } from './file-name.js';

/** How a file is offered. */
export interface FileOptions {
  contentType: string;
  /** Anything; made safe here. */
  title: string;
  /** With its dot. */
  extension: string;
  /** The name when the title leaves none. */
  otherwise: string;
}

/** A success answer that is a file to keep: never shown in the browser, whatever its type. */
export class FileReply {
  readonly contentType: string;
  /** By RFC 6266: an ASCII name for everybody, and the real one (RFC 8187) where it differs. */
  readonly disposition: string;

  /** @param bytes null where the client asked for the headers only */
  constructor(
    readonly bytes: Uint8Array | null,
    options: FileOptions,
  ) {
    const name = safeFileName(options.title, options.extension, options.otherwise);
    this.contentType = options.contentType;
    this.disposition = contentDisposition(name, { fallback: asciiFileName(name, options.otherwise) });
  }
}

/** What making a file may need to know of the request. */
export interface FileRequest {
  /** False for HEAD: nothing has to be made. */
  readonly wantsBytes: boolean;
  /** Aborts, with a ClientGoneError, when nobody waits for the file any more. */
  readonly signal: AbortSignal;
}

/** The `FileRequest` of a route that answers with a file. */
export const AsksForFile = createParamDecorator((_: unknown, context: ExecutionContext): FileRequest => {
  const http = context.switchToHttp();
  return {
    wantsBytes: http.getRequest<Request>().method !== 'HEAD',
    signal: clientGone(http.getResponse<Response>()),
  };
});
