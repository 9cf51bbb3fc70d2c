import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { NO_BACKUP_RUNS } from '../../platform/blobs/blobs.repository.js';
import { removeClaimed } from '../../platform/blobs/blob-collector.js';
import { type BlobKey, BlobStore } from '../../platform/blobs/store/blob-store.js';
import { Db } from '../../platform/database/db.js';
import { mailService } from '../mail-service.schema.js';
import { PeriodicJobs } from '../../platform/jobs/periodic-jobs.js';
import { type Bytes, gatherInto } from './bytes.js';
import type { Scratch } from './spool.js';

/** The tenant id of mail in the blob store: a raw message may belong to several users. */
const MAIL = '00000000-0000-7000-8000-6d61696c0000';
const BATCH = 100;

/** The address of a raw message in the blob store. */
export const rawMessageKey = (id: string): BlobKey => ({ tenantId: MAIL, id });

const begin = mailService.statement<never>(
  'raws.begin',
  `INSERT INTO raws (id, collect_after) VALUES ($1, now() + interval '1 hour')`,
);
/** Unmarks blobs with references. A reference that is deleted concurrently marks the row again. */
const unmark = mailService.statement<never>(
  'raws.spare',
  `UPDATE raws AS raw SET collect_after = NULL WHERE raw.collect_after < now()
   AND (EXISTS (SELECT FROM messages WHERE raw_id = raw.id) OR EXISTS (SELECT FROM queue WHERE raw_id = raw.id))`,
);
/** Claims blobs without references. */
const claim = mailService.statement<{ id: string }>(
  'raws.claim',
  `UPDATE raws SET collect_after = now() + interval '10 minutes'
   WHERE id IN (
     SELECT raw.id FROM raws AS raw WHERE raw.collect_after < now() AND ${NO_BACKUP_RUNS}
       AND NOT EXISTS (SELECT FROM messages WHERE raw_id = raw.id)
       AND NOT EXISTS (SELECT FROM queue WHERE raw_id = raw.id)
     ORDER BY raw.collect_after LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
   RETURNING id`,
);
/** The raw messages that rows refer to, in the order of their names in the store. */
export const keptRaws = mailService.statement<{ id: string }>(
  'raws.kept',
  `SELECT id FROM raws
   WHERE EXISTS (SELECT FROM messages WHERE raw_id = raws.id) OR EXISTS (SELECT FROM queue WHERE raw_id = raws.id)
   ORDER BY id COLLATE "C"`,
);
const forget = mailService.statement<never>('raws.forget', `DELETE FROM raws WHERE id = $1`);

/** Raw messages in the blob store. They are durable before a row refers to them. */
@Injectable()
export class RawMessages implements OnModuleInit {
  private readonly logger = new Logger(RawMessages.name);

  constructor(
    private readonly store: BlobStore,
    private readonly db: Db,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: 'collect-raw-messages',
      everySeconds: 60,
      queue: 'files',
      run: () => this.collect(),
    });
  }

  /** @returns the id; a blob without a reference is deleted after an hour */
  async put(raw: AsyncIterable<Uint8Array>): Promise<string> {
    const id = uuidv7();
    await this.db.single((tx) => tx.query(begin, [id]));
    await this.store.write(rawMessageKey(id), raw);
    return id;
  }

  /** @throws BlobMissingError, BlobStoreError */
  async open(id: string): Promise<Readable> {
    return (await this.store.open(rawMessageKey(id))).stream;
  }

  /** Reads a message into memory or into a file. */
  async read(id: string, scratch: Scratch): Promise<Bytes> {
    return gatherInto(await this.open(id), scratch.file());
  }

  /** The first bytes, at most `length`. */
  async head(id: string, length: number): Promise<Buffer> {
    const { stream } = await this.store.open(rawMessageKey(id), { start: 0, end: length - 1 });
    return buffer(stream);
  }

  /** Deletes blobs without references. @returns their number */
  async collect(): Promise<number> {
    await this.db.single((tx) => tx.query(unmark, []));
    const claimed = () => this.db.single((tx) => tx.query(claim, []));
    return removeClaimed(claimed, BATCH, ({ id }) => this.remove(id));
  }

  private async remove(id: string): Promise<boolean> {
    try {
      await this.store.remove(rawMessageKey(id));
      await this.db.single((tx) => tx.query(forget, [id]));
      return true;
    } catch (error) {
      this.logger.warn({ err: error, raw: id }, 'a raw message could not be removed; it will be retried');
      return false;
    }
  }
}
