import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { QueueFullError, WorkerLimitError, WorkerPool } from '../../platform/workers/worker-pool.js';
import { mailErrors } from '../mail-error.js';
import type { Bytes } from '../storage/bytes.js';
import type { Scratch } from '../storage/spool.js';
import { type CopiedAttachments, INVALID_BASE64, type NewMessage, type ParsedMessage } from './message.js';
import type { MimeTask, MimeResult } from './mime.worker.js';

/** A thread can hold the longest message in memory several times. A message that exceeds a limit is hostile. */
const LIMITS = { workers: 2, queue: 64, timeoutMs: 20_000, memoryMb: 512 };

/** File system errors, which do not depend on the message. */
const FILE_ERROR = /^Error: E(?:ACCES|DQUOT|EXIST|FBIG|IO|MFILE|NFILE|NOENT|NOSPC|PERM|ROFS)\b/;

/**
 * Builds and parses MIME in worker threads. A small message can be as expensive to parse as a large one.
 */
@Injectable()
export class MimeWorkers implements OnApplicationShutdown {
  private readonly pool = new WorkerPool<MimeTask, MimeResult>(
    new URL('./mime.worker.js', import.meta.url),
    LIMITS,
  );

  /** @throws MailError 400 when the message exceeds the limits, 503 when the queue is full */
  async parse(raw: Bytes): Promise<ParsedMessage> {
    return (await this.run({ kind: 'parse', raw })).parsed;
  }

  /**
   * @param scratch files for long contents
   * @throws MailError as `parse`, and for an unknown attachment encoding or content that is not base64
   */
  async compose(
    message: NewMessage,
    scratch: Scratch,
    copied: readonly CopiedAttachments[] = [],
  ): Promise<{ raw: Bytes; parsed: ParsedMessage }> {
    const { raw, parsed } = await this.run({
      kind: 'compose',
      message,
      file: scratch.file(),
      copied: copied.map((each) => ({ ...each, file: scratch.file() })),
    });
    return { raw: raw as Bytes, parsed };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.close();
  }

  private async run(task: MimeTask): Promise<MimeResult> {
    try {
      return await this.pool.run(task);
    } catch (error) {
      if (error instanceof QueueFullError) throw mailErrors.busy();
      if (error instanceof WorkerLimitError) throw mailErrors.messageUnreadable();
      if (FILE_ERROR.test((error as Error).message)) throw error;
      if ((error as Error).message.includes(INVALID_BASE64)) throw mailErrors.notBase64();
      const encoding = /Unknown encoding: (.*)/s.exec((error as Error).message)?.[1];
      throw encoding === undefined ? mailErrors.messageUnreadable() : mailErrors.unknownEncoding(encoding);
    }
  }
}
