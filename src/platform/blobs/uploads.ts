import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import multer, { MulterError, type StorageEngine } from 'multer';
import type { RequestContext } from '../context/request-context.js';
import type { Tx } from '../database/tx.js';
import { ClientDisconnectedError } from '../http/abort-signal.js';
import { ApiError } from '../http/api-error.js';
import { Errors } from '../http/errors.js';
import { uploadedFileName } from '../http/file-name.js';
import { Blobs, fileTooLarge, type StoredBlob } from './blobs.js';
import { BlobErrors } from './blobs.errors.js';
import { contentTypeOf, SNIFF_BYTES } from './content-type.js';
import { UploadClock } from './upload-clock.js';
import type { UploadForm } from './upload-form.js';
import { UploadGate, UploadLimits } from './upload-limits.js';

/** What a form may hold beside its file: nothing of ours reads it. */
const FORM_LIMITS = {
  files: 1,
  fields: 16,
  fieldSize: 8_192,
  fieldNameSize: 200,
  parts: 17,
  headerPairs: 50,
};
/** The most a form of that kind adds to its file. */
const FORM_BYTES = 256 * 1024;

/** A file that has arrived. */
export interface ReceivedFile {
  /** Safe to offer as the name of a download. */
  readonly name: string;
  readonly size: number;
  readonly sha256: Buffer;
  /** By its content. */
  readonly contentType: string;
  /** Of the blob, which the transaction that stores this id must `keep`. */
  readonly blobId: string;
  keep(tx: Tx): Promise<void>;
  /** Says that this transaction has called `blob_keep` by itself, within a function of its own. */
  keptBy(tx: Tx): void;
}

interface FilePart {
  originalname: string;
  mimetype: string;
  stored: Promise<StoredBlob>;
  stream: NodeJS.ReadableStream & { destroy(error?: Error): void };
  /** What the parser or we ourselves broke the stream with. */
  failure?: unknown;
}

/**
 * Reads forms with one file, straight into the blob store. Called by services once they know that the caller may send it:
 * until then nothing of the body has been read.
 */
@Injectable()
export class Uploads {
  constructor(
    private readonly blobs: Blobs,
    private readonly gate: UploadGate,
    private readonly limits: UploadLimits,
  ) {}

  /**
   * Receives the file and hands it to `use`. What `use` has not kept when it ends, by a committed transaction, is removed.
   *
   * @param maxBytes of the file; exactly so many are still taken
   * @throws ApiError 400 `invalid_multipart`, 408 `upload_timeout`, 413 `file_too_large` or `body_too_large`, 422
   *   `validation_failed` unless there is exactly one file, 429 `too_many_uploads`, 503 `overloaded` or `blob_store_unavailable`
   */
  async receive<T>(
    ctx: RequestContext,
    form: UploadForm,
    maxBytes: number,
    use: (file: ReceivedFile) => Promise<T>,
  ): Promise<T> {
    if (Number(form.request.headers['content-length']) > maxBytes + FORM_BYTES) throw fileTooLarge(maxBytes);
    const part = await this.read(ctx, form, maxBytes);
    const blob = await part.stored;
    let kept = false;
    const { id: blobId, size, sha256 } = blob;
    try {
      const contentType = await contentTypeOf(blob.head, part.mimetype);
      const keptBy = (tx: Tx): void => tx.afterCommit(() => (kept = true));
      const keep = async (tx: Tx): Promise<void> => {
        await this.blobs.keep(tx, ctx.tenantId, blob, contentType);
        keptBy(tx);
      };
      const name = uploadedFileName(part.originalname);
      return await use({ name, size, sha256, contentType, blobId, keep, keptBy });
    } finally {
      if (!kept) await this.blobs.discard(ctx.tenantId, blob);
    }
  }

  /** Reads the whole form; its file is stored when this returns, and removed when it throws. */
  private async read(
    ctx: RequestContext,
    { request, response }: UploadForm,
    maxBytes: number,
  ): Promise<FilePart> {
    const leave = this.gate.enter(ctx.userId);
    const clock = new UploadClock(request, this.limits);
    const failed = Promise.withResolvers<never>();
    let part: FilePart | undefined;
    const storage = this.engine(ctx.tenantId, maxBytes, (started) => {
      part = started;
      started.stored.catch(failed.reject);
    });
    const parse = multer({ storage, limits: FORM_LIMITS, defParamCharset: 'utf8' }).any();
    const parsed = new Promise<void>((resolve, reject) => {
      void parse(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
    });
    try {
      // What the store refuses is answered at once: multer would first read the body to its end.
      await Promise.race([parsed, failed.promise, clock.expired]);
      if (!part) throw notOneFile('required', 'file is required');
      return part;
    } catch (error) {
      const refusal = await this.undo(ctx.tenantId, part, error);
      this.dismiss(request);
      throw request.destroyed && !request.complete ? new ClientDisconnectedError() : outcome(error, refusal, part);
    } finally {
      clock.stop();
      leave();
    }
  }

  private engine(tenantId: string, maxBytes: number, started: (part: FilePart) => void): StorageEngine {
    return {
      _handleFile: (_request, file, done) => {
        const { originalname, mimetype, stream } = file;
        const stored = this.blobs.put(tenantId, stream, { maxBytes, headBytes: SNIFF_BYTES });
        const part: FilePart = { originalname, mimetype, stream, stored };
        stream.once('error', (error) => (part.failure ??= error));
        started(part);
        void report(stored, done);
      },
      // Whatever has been stored is removed by us, in all cases and not only in those that multer knows of.
      _removeFile: (_request, _file, done) => done(null),
    };
  }

  /** Breaks the upload off. @returns what it ended with, unless it was stored, in which case it is removed */
  private async undo(tenantId: string, part: FilePart | undefined, error: unknown): Promise<unknown> {
    if (!part) return undefined;
    part.stream.destroy(error instanceof Error ? error : undefined);
    try {
      await this.blobs.discard(tenantId, await part.stored);
      return undefined;
    } catch (refusal) {
      return refusal;
    }
  }

  /** The client may still be sending. It can read the answer only while we take that, for which there is a limit. */
  private dismiss(request: Request): void {
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
 * What the client is told. The parser fails as well when the store does not want more of a file, and before the store has
 * said why.
 */
function outcome(error: unknown, refusal: unknown, part: FilePart | undefined): unknown {
  for (const reason of [error, refusal]) if (reason instanceof ApiError) return reason;
  if (error instanceof MulterError) return formError(error);
  if (part === undefined || error === part.failure) return BlobErrors.invalidMultipart.with();
  return error;
}

function formError({ code }: MulterError): ApiError {
  if (code === 'LIMIT_FILE_COUNT') return notOneFile('max_files', 'file must be one file');
  return code.startsWith('LIMIT_') ? Errors.bodyTooLarge.with() : BlobErrors.invalidMultipart.with();
}

function notOneFile(code: string, message: string): ApiError {
  return Errors.validationFailed.with({ details: [{ field: 'file', code, message }] });
}
