import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { QueueFullError, WorkerLimitError, WorkerPool } from '../../platform/workers/worker-pool.js';
import { refuse } from '../http/mail-error.js';
import type { Bytes } from '../storage/bytes.js';
import type { Scratch } from '../storage/spool.js';
import type { NewMessage, ParsedMessage, TakenAttachments } from './message.js';
import type { MimeOrder, MimeResult } from './mime.worker.js';

/** Threads; the memory holds the longest message a few times over. A message that needs more of anything is hostile. */
const LIMITS = { workers: 2, queue: 64, timeoutMs: 20_000, memoryMb: 512 };

/** What says nothing about the message: a full disk, a file that is gone. */
const DISK = /^Error: E(?:ACCES|DQUOT|EXIST|FBIG|IO|MFILE|NFILE|NOENT|NOSPC|PERM|ROFS)\b/;

/**
 * Builds and reads MIME outside the event loop, always: a message of a few kilobytes can be as costly to read as one of
 * megabytes, and nobody can tell before.
 */
@Injectable()
export class MimeWorkers implements OnApplicationShutdown {
  private readonly pool = new WorkerPool<MimeOrder, MimeResult>(
    new URL('./mime.worker.js', import.meta.url),
    LIMITS,
  );

  /** @throws MailError 400 when it cannot be read within bounds, 503 when too many wait */
  async parse(raw: Bytes): Promise<ParsedMessage> {
    return (await this.run({ kind: 'parse', raw })).parsed;
  }

  /**
   * @param scratch for what is long
   * @throws MailError as `parse`, and for an unknown encoding of an attachment
   */
  async compose(
    message: NewMessage,
    scratch: Scratch,
    taken?: TakenAttachments,
  ): Promise<{ raw: Bytes; parsed: ParsedMessage }> {
    const { raw, parsed } = await this.run({
      kind: 'compose',
      message,
      file: scratch.file(),
      ...(taken && { taken: { ...taken, file: scratch.file() } }),
    });
    return { raw: raw as Bytes, parsed };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.close();
  }

  private async run(order: MimeOrder): Promise<MimeResult> {
    try {
      return await this.pool.run(order);
    } catch (error) {
      if (error instanceof QueueFullError) throw refuse.busy();
      if (error instanceof WorkerLimitError) throw refuse.messageUnreadable();
      if (DISK.test((error as Error).message)) throw error;
      const encoding = /Unknown encoding: (.*)/s.exec((error as Error).message)?.[1];
      throw encoding === undefined ? refuse.messageUnreadable() : refuse.unknownEncoding(encoding);
    }
  }
}
