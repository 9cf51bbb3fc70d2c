import { PassThrough } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import multer, { MulterError, type StorageEngine } from 'multer';
import type { RequestContext } from '../../context/request-context.js';
import type { Tx } from '../../database/tx.js';
import { ClientDisconnectedError } from '../../http/abort-signal.js';
import { ApiError, Errors, fieldError } from '../../http/errors.js';
import { uploadedFileName } from '../../http/replies/file-reply.js';
import { Slots } from '../../workers/slots.js';
import { Blobs, fileTooLarge, type StoredBlob } from '../blobs.js';
import { BlobErrors } from '../file-errors.dto.js';
import type { UploadForm } from './upload-form.js';
import { fileTypeFromBuffer } from 'file-type';

/** Limits of the uploads of this process. */
@Injectable()
export class UploadLimits {
  /** Concurrent uploads of all users. */
  total = 32;
  /** Concurrent uploads of one user. */
  perUser = 8;
  /** Period in which at least `windowBytes` of a body must arrive, milliseconds. */
  windowMs = 10_000;
  windowBytes = 4_096;
  /** Timeout of a whole body, milliseconds. Below the timeout of the server, which closes the connection without a response. */
  totalMs = 110_000;
  /** Time in which the rest of a rejected body is read, milliseconds. */
  lingerMs = 5_000;
}

/** Limits concurrent uploads. There is no queue, because a waiting connection costs as much as a served one. */
@Injectable()
export class UploadGate {
  private readonly slots = new Slots();

  constructor(private readonly limits: UploadLimits) {}

  /**
   * @returns a function to call at the end of the upload
   * @throws ApiError 429 `too_many_uploads` at the limit of the user, 503 `overloaded` at the limit of the process
   */
  enter(userId: string): () => void {
    const { perUser: owner, total } = this.limits;
    const release = this.slots.take(userId, { owner, total });
    if (typeof release !== 'string') return release;
    const error = release === 'owner' ? BlobErrors.tooManyUploads : Errors.overloaded;
    throw error.with({ headers: { 'Retry-After': '2' } });
  }
}

/** Detects a client that sends its body too slowly. */
export class UploadClock {
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly expiry = Promise.withResolvers<never>();
  private seen: number;

  constructor(
    private readonly request: Request,
    private readonly limits: UploadLimits,
  ) {
    this.seen = request.socket.bytesRead;
    const expire = (): void =>
      this.expiry.reject(BlobErrors.uploadTimeout.with({ headers: { Connection: 'close' } }));
    this.timers.push(
      setTimeout(expire, limits.totalMs),
      setInterval(() => this.isStalled() && expire(), limits.windowMs),
    );
    this.expiry.promise.catch(() => undefined);
  }

  /** The promise never settles, or rejects with ApiError 408 `upload_timeout`. */
  get expired(): Promise<never> {
    return this.expiry.promise;
  }

  stop(): void {
    for (const timer of this.timers) clearTimeout(timer);
  }

  /** When received bytes are unread, the store is slow and not the client. */
  private isStalled(): boolean {
    const before = this.seen;
    this.seen = this.request.socket.bytesRead;
    return (
      !this.request.complete &&
      this.request.readableLength === 0 &&
      this.seen - before < this.limits.windowBytes
    );
  }
}

/** Limits of the other parts of a form. They are not used. */
const FORM_LIMITS = {
  files: 1,
  fields: 16,
  fieldSize: 8_192,
  fieldNameSize: 200,
  parts: 17,
  headerPairs: 50,
};
/** Maximum size of a form in addition to its file, bytes. */
const FORM_BYTES = 256 * 1024;

/** An uploaded file. */
export interface ReceivedFile {
  /** Sanitised for downloads. */
  readonly name: string;
  readonly size: number;
  readonly sha256: Buffer;
  /** Detected from the content. */
  readonly contentType: string;
  /** Id of the blob. The transaction that stores it must call `keep`. */
  readonly blobId: string;
  keep(tx: Tx): Promise<void>;
  /** Records that an SQL function of this transaction has called `blob_keep`, and checks the limits. @throws ApiError 507 */
  keptBy(tx: Tx): Promise<void>;
}

interface FilePart {
  originalname: string;
  mimetype: string;
  stored: Promise<StoredBlob>;
  stream: NodeJS.ReadableStream & { destroy(error?: Error): void };
  /** The error that ended the stream, from the parser or from this class. */
  failure?: unknown;
}

/**
 * Streams forms with one file into the blob store. Services call it after the authorisation of the caller, so that the body of
 * an unauthorised request is not read.
 */
@Injectable()
export class Uploads {
  constructor(
    private readonly blobs: Blobs,
    private readonly gate: UploadGate,
    private readonly limits: UploadLimits,
  ) {}

  /**
   * Stores the file and passes it to `use`. The file is removed unless `use` keeps it in a committed transaction.
   *
   * @param maxBytes maximum size of the file, inclusive
   * @param options.isKept false: `use` reads the file only, so limits do not apply
   * @throws ApiError 400 `invalid_multipart`, 408 `upload_timeout`, 413 `file_too_large` or `body_too_large`, 422
   *   `validation_failed` unless there is exactly one file, 429 `too_many_uploads`, 503 `overloaded` or `blob_store_unavailable`, 507
   *   `file_limit_reached`
   */
  async receive<T>(
    ctx: RequestContext,
    form: UploadForm,
    maxBytes: number,
    use: (file: ReceivedFile) => Promise<T>,
    { isKept = true } = {},
  ): Promise<T> {
    if (Number(form.request.headers['content-length']) > maxBytes + FORM_BYTES) throw fileTooLarge(maxBytes);
    const limits = { maxBytes, userId: isKept ? ctx.userId : undefined };
    const part = await this.asUpload(ctx, form, (expired) => this.read(ctx, form, limits, expired));
    const blob = await part.stored;
    let kept = false;
    const { id: blobId, size, sha256 } = blob;
    try {
      const contentType = await contentTypeOf(blob.head, part.mimetype);
      const commits = (tx: Tx): void => tx.afterCommit(() => (kept = true));
      const keptBy = async (tx: Tx): Promise<void> => {
        await this.blobs.keptBy(tx, ctx.tenantId, blob);
        commits(tx);
      };
      const keep = async (tx: Tx): Promise<void> => {
        await this.blobs.keep(tx, ctx.tenantId, blob, contentType);
        commits(tx);
      };
      const name = uploadedFileName(part.originalname);
      return await use({ name, size, sha256, contentType, blobId, keep, keptBy });
    } finally {
      if (!kept) await this.blobs.discard(ctx.tenantId, blob);
    }
  }

  /**
   * Stores a body that is the file itself, passes it to `use` and removes it.
   *
   * @param maxBytes maximum size of the body, inclusive
   * @throws ApiError 408 `upload_timeout`, 413 `file_too_large`, 429 `too_many_uploads`, 503 `overloaded` or
   *   `blob_store_unavailable`
   */
  async receiveBody<T>(
    ctx: RequestContext,
    form: UploadForm,
    maxBytes: number,
    use: (blob: StoredBlob) => Promise<T>,
  ): Promise<T> {
    if (Number(form.request.headers['content-length']) > maxBytes) throw fileTooLarge(maxBytes);
    const blob = await this.asUpload(ctx, form, (expired) => this.readBody(ctx, form, maxBytes, expired));
    try {
      return await use(blob);
    } finally {
      await this.blobs.discard(ctx.tenantId, blob);
    }
  }

  /**
   * Runs `work` as one of the concurrent uploads of the user.
   * @param work gets a promise that rejects when the client sends too slowly
   * @throws ApiError 429 `too_many_uploads`, 503 `overloaded`; ClientDisconnectedError
   */
  private async asUpload<T>(
    { userId }: RequestContext,
    { request, response }: UploadForm,
    work: (expired: Promise<never>) => Promise<T>,
  ): Promise<T> {
    // The client may have disconnected while the service waited for the database. No event reports it again.
    if (response.closed) throw new ClientDisconnectedError();
    const leave = this.gate.enter(userId);
    const clock = new UploadClock(request, this.limits);
    try {
      return await work(clock.expired);
    } finally {
      clock.stop();
      leave();
    }
  }

  private async readBody(
    ctx: RequestContext,
    { request }: UploadForm,
    maxBytes: number,
    expired: Promise<never>,
  ): Promise<StoredBlob> {
    // The store destroys its source when it fails. The request must live until the response is sent.
    const body = request.pipe(new PassThrough());
    // A complete request also emits `close`, possibly before the store has read it.
    const disconnected = (): void => {
      if (!request.complete) body.destroy(new ClientDisconnectedError());
    };
    request.once('close', disconnected);
    const stored = this.blobs.put(ctx.tenantId, body, { maxBytes });
    try {
      return await Promise.race([stored, expired]);
    } catch (error) {
      request.unpipe(body).resume();
      body.destroy(error instanceof Error ? error : undefined);
      await Promise.allSettled([stored]);
      this.discardBody(request);
      throw request.destroyed && !request.complete ? new ClientDisconnectedError() : error;
    } finally {
      request.off('close', disconnected);
    }
  }

  /** Reads the whole form and stores its file. Removes the file when it throws. */
  private async read(
    ctx: RequestContext,
    { request, response }: UploadForm,
    limits: { maxBytes: number; userId: string | undefined },
    expired: Promise<never>,
  ): Promise<FilePart> {
    const failed = Promise.withResolvers<never>();
    let part: FilePart | undefined;
    const storage = this.engine(ctx.tenantId, limits, (started) => {
      part = started;
      started.stored.catch(failed.reject);
    });
    const parse = multer({ storage, limits: FORM_LIMITS, defParamCharset: 'utf8' }).any();
    const parsed = new Promise<void>((resolve, reject) => {
      void parse(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
    });
    try {
      // An error of the store ends the request at once. multer would read the body to its end first.
      await Promise.race([parsed, failed.promise, expired]);
      if (!part) throw fieldError('file', 'required', 'file is required');
      return part;
    } catch (error) {
      const rejection = await this.undo(ctx.tenantId, part, error);
      this.discardBody(request);
      throw request.destroyed && !request.complete
        ? new ClientDisconnectedError()
        : outcome(error, rejection, part);
    }
  }

  private engine(
    tenantId: string,
    limits: { maxBytes: number; userId: string | undefined },
    started: (part: FilePart) => void,
  ): StorageEngine {
    return {
      _handleFile: (_request, file, done) => {
        const { originalname, mimetype, stream } = file;
        const stored = this.blobs.put(tenantId, stream, { ...limits, headBytes: SNIFF_BYTES });
        const part: FilePart = { originalname, mimetype, stream, stored };
        stream.once('error', (error) => (part.failure ??= error));
        started(part);
        void report(stored, done);
      },
      // This class removes stored files in all cases. multer knows only some of them.
      _removeFile: (_request, _file, done) => done(null),
    };
  }

  /** Aborts the upload and removes the file if it was stored. @returns the error of the upload, if any */
  private async undo(tenantId: string, part: FilePart | undefined, error: unknown): Promise<unknown> {
    if (!part) return undefined;
    part.stream.destroy(error instanceof Error ? error : undefined);
    try {
      await this.blobs.discard(tenantId, await part.stored);
      return undefined;
    } catch (rejection) {
      return rejection;
    }
  }

  /** Reads the rest of the body for a limited time: most clients read the response only after they have sent the body. */
  private discardBody(request: Request): void {
    if (request.complete || request.destroyed) return;
    const timer = setTimeout(() => request.destroy(), this.limits.lingerMs);
    timer.unref();
    request.once('close', () => clearTimeout(timer));
  }
}

async function report(stored: Promise<unknown>, done: (error?: unknown) => void): Promise<void> {
  const error: unknown = await stored.then(
    () => null,
    (failure: unknown) => failure,
  );
  done(error);
}

/**
 * Selects the error of the response. When the store rejects a file, the parser fails too, possibly before the store reports its
 * reason.
 */
function outcome(error: unknown, rejection: unknown, part: FilePart | undefined): unknown {
  for (const reason of [error, rejection]) if (reason instanceof ApiError) return reason;
  if (error instanceof MulterError) return formError(error);
  if (part === undefined || error === part.failure) return BlobErrors.invalidMultipart.with();
  return error;
}

function formError({ code }: MulterError): ApiError {
  if (code === 'LIMIT_FILE_COUNT') return fieldError('file', 'max_files', 'file must be one file');
  return code.startsWith('LIMIT_') ? Errors.bodyTooLarge.with() : BlobErrors.invalidMultipart.with();
}

/** Number of first bytes that the detection needs. */
const SNIFF_BYTES = 4_100;

const UNKNOWN = 'application/octet-stream';

/** Formats in which browsers execute scripts. */
const ACTIVE =
  /^(?:text\/html|application\/xhtml\+xml|image\/svg\+xml|(?:text|application)\/(?:xml|javascript)|application\/x-(?:ms-shortcut|mswinurl))/;

/** Text types that a client may declare. Programs only display them. */
const PLAIN_TEXT = new Set(['text/plain', 'text/csv', 'text/markdown', 'text/calendar', 'application/json']);

/**
 * Detects the type of a file from its content. The declared type counts only for harmless kinds of text, which have no magic
 * numbers. Other unknown content is `application/octet-stream`.
 *
 * @param head the first `SNIFF_BYTES`, or the whole file when it is shorter
 * @param declared untrusted type from the client
 */
async function contentTypeOf(head: Buffer, declared: string): Promise<string> {
  const found = await sniffed(head);
  if (found !== undefined) return ACTIVE.test(found) ? UNKNOWN : found;
  const claimed = declared.split(';', 1)[0]!.trim().toLowerCase();
  return PLAIN_TEXT.has(claimed) && isText(head) ? claimed : UNKNOWN;
}

async function sniffed(head: Buffer): Promise<string | undefined> {
  try {
    return (await fileTypeFromBuffer(head))?.mime;
  } catch {
    // A damaged file.
    return undefined;
  }
}

/** UTF-8 without control characters other than white space; the last character may be cut. */
function isText(head: Buffer): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    return !/\p{Cc}/u.test(text.replace(/\s+/g, ''));
  } catch {
    return false;
  }
}
