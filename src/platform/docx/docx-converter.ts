import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { unzipSync } from 'fflate';
import { Config } from '../../config/config.js';
import type { DocxSource } from '../../lib/docx/index.js';
import { defineError } from '../http/errors.js';
import { ClosedError, QueueFullError, type WorkerLimits, WorkerPool } from '../workers/worker-pool.js';
import { type DocxEngine, LibreOfficeDocx, MissingProgramError } from './libreoffice-docx.js';
export type { DocxSource } from '../../lib/docx/index.js';

/** The errors of document conversion. */
export const DocxErrors = {
  failed: defineError(
    502,
    'docx_conversion_failed',
    'The conversion of the note failed; retry, or simplify its content.',
  ),
  unavailable: defineError(
    503,
    'docx_converter_unavailable',
    'Document conversion is unavailable; retry later.',
  ),
} as const;

const RETRY_AFTER = { headers: { 'Retry-After': '5' } };

/** The queue is full. */
export const makeBusyError = () => DocxErrors.unavailable.with(RETRY_AFTER);

/** The writer of `lib/docx`, in worker threads. */
export class EmbeddedDocx implements DocxEngine {
  private readonly pool: WorkerPool<DocxSource, Uint8Array>;

  constructor(limits: WorkerLimits) {
    this.pool = new WorkerPool(new URL('./docx.worker.js', import.meta.url), limits);
  }

  convert(source: DocxSource, signal?: AbortSignal): Promise<Uint8Array> {
    return this.pool.run(source, signal);
  }

  close(): Promise<void> {
    return this.pool.close();
  }
}

export const DOCX_TYPE = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

const EMBEDDED_MS = 10_000;
const LIBREOFFICE_MS = 30_000;

/** Converts HTML to Word documents with the engine of DOCX_CONVERTER. */
@Injectable()
export class DocxConverter implements OnModuleDestroy {
  private readonly engine: DocxEngine | null;
  private readonly logger = new Logger('DOCX');

  constructor(config: Config) {
    this.engine = engineOf(config);
  }

  /**
   * @param signal aborts the conversion, which then rejects with the signal's reason
   * @throws ApiError 503 `docx_converter_unavailable` when no engine is available or its queue is full; 502
   *   `docx_conversion_failed` when the conversion fails
   */
  async convert(source: DocxSource, signal?: AbortSignal): Promise<Uint8Array> {
    if (this.engine === null) throw DocxErrors.unavailable.with();
    try {
      const bytes = await this.engine.convert(source, signal);
      if (!isDocx(bytes)) throw new Error('the result is not a document');
      return bytes;
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw this.asApiError(error);
    }
  }

  async onModuleDestroy(): Promise<void> {
    await this.engine?.close();
  }

  private asApiError(error: unknown): Error {
    if (error instanceof QueueFullError || error instanceof ClosedError) return makeBusyError();
    this.logger.error({ err: error }, 'a conversion failed');
    return error instanceof MissingProgramError ? DocxErrors.unavailable.with() : DocxErrors.failed.with();
  }
}

function engineOf(config: Config): DocxEngine | null {
  const limits = (defaultMs: number) => ({
    workers: config.DOCX_WORKERS,
    queue: config.DOCX_QUEUE,
    timeoutMs: config.DOCX_TIMEOUT_MS ?? defaultMs,
    memoryMb: config.DOCX_MEMORY_MB,
  });
  switch (config.DOCX_CONVERTER) {
    case 'embedded':
      return new EmbeddedDocx(limits(EMBEDDED_MS));
    case 'libreoffice':
      return new LibreOfficeDocx(config.DOCX_LIBREOFFICE, limits(LIBREOFFICE_MS));
    case 'off':
      return null;
  }
}

/** True for a ZIP archive with a main part. Reads only the directory of the archive. */
function isDocx(bytes: Uint8Array): boolean {
  let found = false;
  try {
    unzipSync(bytes, {
      filter: ({ name }) => {
        found ||= name === 'word/document.xml';
        return false;
      },
    });
  } catch {
    return false;
  }
  return found;
}
