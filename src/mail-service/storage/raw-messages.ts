import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { BlobStore } from '../../platform/blobs/blob-store.js';
import { Db } from '../../platform/database/db.js';
import { statement } from '../../platform/database/statement.js';
import { PeriodicJobs } from '../../platform/jobs/periodic-jobs.js';
import { type Bytes, gatherInto } from './bytes.js';
import type { Scratch } from './spool.js';

/** Under which the blob store keeps mail, beside the tenants of the workspace: raw messages have several owners. */
const MAIL = '00000000-0000-7000-8000-6d61696c0000';
const BATCH = 100;

const begin = statement<never>(
  'raws.begin',
  `INSERT INTO raws (id, collect_after) VALUES ($1, now() + interval '1 hour')`,
);
/** What something else refers to. A reference that goes meanwhile marks the row again, before or after this. */
const spare = statement<never>(
  'raws.spare',
  `UPDATE raws r SET collect_after = NULL WHERE r.collect_after < now()
   AND (EXISTS (SELECT FROM messages m WHERE m.raw_id = r.id) OR EXISTS (SELECT FROM queue q WHERE q.raw_id = r.id))`,
);
/** What nothing refers to and nobody else is collecting. A message that is being stored holds the row. */
const claim = statement<{ id: string }>(
  'raws.claim',
  `UPDATE raws SET collect_after = now() + interval '10 minutes'
   WHERE id IN (
     SELECT r.id FROM raws r WHERE r.collect_after < now()
       AND NOT EXISTS (SELECT FROM messages m WHERE m.raw_id = r.id)
       AND NOT EXISTS (SELECT FROM queue q WHERE q.raw_id = r.id)
     ORDER BY r.collect_after LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
   RETURNING id`,
);
const forget = statement<never>('raws.forget', `DELETE FROM raws WHERE id = $1`);

/** The bytes of messages in the blob store. Durable before anything refers to them. */
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
      run: async () => void (await this.collect()),
    });
  }

  /** @returns the id to refer to the message by, within an hour */
  async put(raw: AsyncIterable<Uint8Array>): Promise<string> {
    const id = uuidv7();
    await this.db.single((tx) => tx.query(begin, [id]));
    await this.store.write({ tenantId: MAIL, id }, raw);
    return id;
  }

  /** @throws BlobMissingError, BlobStoreError */
  async open(id: string): Promise<Readable> {
    return (await this.store.open({ tenantId: MAIL, id })).stream;
  }

  /** All of it, in memory only when it is short. */
  async read(id: string, scratch: Scratch): Promise<Bytes> {
    return gatherInto(await this.open(id), scratch.file());
  }

  /** Its first bytes, at most `length`. */
  async head(id: string, length: number): Promise<Buffer> {
    const { stream } = await this.store.open({ tenantId: MAIL, id }, { start: 0, end: length - 1 });
    return buffer(stream);
  }

  /** Deletes what nothing has referred to for a while. @returns how many */
  async collect(): Promise<number> {
    await this.db.single((tx) => tx.query(spare, []));
    const claimed = await this.db.single((tx) => tx.query(claim, []));
    for (const { id } of claimed) {
      try {
        await this.store.remove({ tenantId: MAIL, id });
        await this.db.single((tx) => tx.query(forget, [id]));
      } catch (error) {
        this.logger.warn({ err: error, raw: id }, 'a raw message could not be removed, will be tried again');
      }
    }
    return claimed.length;
  }
}
