import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { create as contentDisposition } from 'content-disposition';
import type { Request, Response } from 'express';
import { disconnectSignal } from '../abort-signal.js';
import { BodyReply } from './body-reply.js';
import { asciiFileName, safeFileName } from './file-name.js';

interface FileOptions {
  contentType: string;
  /** Any text; `safeFileName` makes a name of it. */
  title: string;
  /** With its dot. */
  extension: string;
  /** The name for a title without usable characters. */
  otherwise: string;
}

/** The `Content-Disposition` of a download (RFC 6266): an ASCII name, and the real one (RFC 8187) where it differs. */
export function attachmentNamed(name: string, otherwise: string): string {
  return contentDisposition(name, { fallback: asciiFileName(name, otherwise) });
}

/**
 * A generated file as a download. Browsers never display it, even if they support its type.
 * @param bytes null for HEAD; the length is then unknown, and RFC 9110 allows to omit it
 */
export function fileReply(bytes: Uint8Array | null, options: FileOptions): BodyReply {
  const { contentType, title, extension, otherwise } = options;
  const name = safeFileName(title, extension, otherwise);
  return new BodyReply(bytes, {
    contentType,
    headers: { 'Content-Disposition': attachmentNamed(name, otherwise) },
  });
}

/** The parts of a request that file generation needs. */
export interface FileRequest {
  /** False for HEAD. */
  readonly wantsBytes: boolean;
  /** Aborts with a ClientDisconnectedError when the client disconnects. */
  readonly signal: AbortSignal;
}

/** Injects the `FileRequest`. */
export const FileRequestParam = createParamDecorator((_: unknown, context: ExecutionContext): FileRequest => {
  const http = context.switchToHttp();
  return {
    wantsBytes: http.getRequest<Request>().method !== 'HEAD',
    signal: disconnectSignal(http.getResponse<Response>()),
  };
});
