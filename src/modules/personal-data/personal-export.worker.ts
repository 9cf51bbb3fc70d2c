import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { MAX_ZIP_BYTES } from '../../lib/zip/index.js';
import { Audit } from '../../platform/audit/audit.js';
import { Blobs, type StoredBlob } from '../../platform/blobs/blobs.js';
import { forProcess } from '../../platform/current-work/current-work.js';
import { Db } from '../../platform/database/db.js';
import { PeriodicJobs } from '../../platform/jobs/periodic-jobs.js';
import { PersonalArchive } from '../../platform/personal-data/personal-archive.js';
import { type DataOwner, PersonalData } from '../../platform/personal-data/personal-data.js';
import { PersonalRows } from '../../platform/personal-data/personal-rows.js';
import { type ClaimedExport, PersonalExportsRepository } from './personal-exports.repository.js';

interface ArchiveOptions {
  /** Ends the export. */
  signal: AbortSignal;
  /** Lists unavailable files in the archive, in place of an error. */
  omitsUnavailable: boolean;
  /** Called after each source. */
  progress: () => Promise<void>;
}

/** Writes the archives of exports into the blob store, as streams. */
@Injectable()
export class ExportArchives {
  constructor(
    private readonly data: PersonalData,
    private readonly rows: PersonalRows,
    private readonly blobs: Blobs,
  ) {}

  /** @returns the archive, which is not kept yet @throws the error of a source, or the reason of `signal` */
  async store(owner: DataOwner, options: ArchiveOptions): Promise<{ blob: StoredBlob; omitted: number }> {
    const stream = new PassThrough();
    const stored = this.blobs.put(owner.tenantId, stream, { maxBytes: MAX_ZIP_BYTES });
    // A failure of the store must end a writer that waits for the stream.
    stored.catch((error: Error) => stream.destroy(error));
    try {
      const omitted = await this.write(owner, stream, options);
      stream.end();
      return { blob: await stored, omitted };
    } catch (error) {
      stream.destroy(error as Error);
      await stored.catch(() => undefined);
      throw error;
    }
  }

  private async write(owner: DataOwner, stream: PassThrough, options: ArchiveOptions): Promise<number> {
    const { signal, omitsUnavailable, progress } = options;
    const { rows, blobs } = this;
    const sink = async (bytes: Uint8Array): Promise<void> => {
      signal.throwIfAborted();
      if (!stream.write(bytes)) await once(stream, 'drain', { signal });
    };
    const sources = { rows, blobs, tenantId: owner.tenantId };
    const archive = new PersonalArchive(sources, sink, signal, { omitsUnavailable });
    for (const source of this.data.sources) {
      signal.throwIfAborted();
      archive.enter(source.name);
      await untilAborted(source.export(owner, archive), signal);
      await progress();
    }
    archive.enter('');
    const { omitted } = archive;
    if (omitted.length > 0) await archive.content('omitted-files.json', [JSON.stringify(omitted, null, 2)]);
    await archive.content('README.txt', [readme(archive, this.data)]);
    await archive.end();
    return omitted.length;
  }
}

/** Waits for a source, or for the end of the export: a source may wait for a service that does not respond. */
function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([work, aborted.promise]).finally(() => signal.removeEventListener('abort', abort));
}

function readme({ counts, omitted }: PersonalArchive, { sources }: PersonalData): string {
  const folders = sources.map(({ name }) => `${name}/  ${counts.get(name) ?? 0} files`);
  return [
    'Your personal data in this workspace, and those of your account.',
    '',
    ...folders,
    '',
    'JSON files contain a list with one object in each line. Times are UTC. Files are stored as files/<id>/<name>.',
    'Notes and tasks that other members own are not included. Older versions of notes are not included.',
    ...(omitted.length > 0
      ? [`omitted-files.json lists ${omitted.length} files that do not fit or are unavailable.`]
      : []),
    '',
  ].join('\n');
}

/** Duration of a lease. Another process starts an export again when its process has not renewed the lease. */
const LEASE_SECONDS = 60;
const RENEWAL_MS = 15_000;
const PAUSE_SECONDS = 60;
const MAX_ATTEMPTS = 4;
/** Days for which an archive is kept. */
const KEPT_DAYS = 7;

/** Runs exports, one at a time in a process. An export of a killed process starts again. */
@Injectable()
export class PersonalExportWorker implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('PersonalData');
  private readonly shutdown = new AbortController();
  private running: Promise<void> | undefined;
  private isWoken = false;

  constructor(
    private readonly exports: PersonalExportsRepository,
    private readonly archives: ExportArchives,
    private readonly blobs: Blobs,
    private readonly jobs: PeriodicJobs,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    // In the background, since other jobs must not wait for an export.
    this.jobs.register({ name: 'personal-exports', everySeconds: 15, run: async () => this.wake() });
    this.jobs.register({ name: 'expire-personal-exports', everySeconds: 3600, run: () => this.expire() });
  }

  async onApplicationShutdown(): Promise<void> {
    this.shutdown.abort();
    await this.running;
  }

  /** Starts to run exports that are due, if this process does not run one. */
  wake(): void {
    this.isWoken = true;
    this.running ??= this.runDue();
  }

  /** Deletes expired archives. */
  async expire(): Promise<void> {
    await this.db.tx(async (tx) => this.blobs.release(tx, await this.exports.expire(tx)));
  }

  private async runDue(): Promise<void> {
    try {
      while (this.isWoken && !this.shutdown.signal.aborted) {
        this.isWoken = false;
        const runs = await this.db.inEachCell(() => this.runNext());
        if (runs.includes(true)) this.isWoken = true;
      }
    } catch (error) {
      this.logger.warn({ err: error }, 'exports were not run; a later run continues');
    } finally {
      // Synchronously after the last check of `isWoken`, so that no call of `wake` is lost.
      this.running = undefined;
    }
  }

  /** @returns whether the cell had an export that was due */
  private async runNext(): Promise<boolean> {
    const run = await this.exports.claim(randomUUID(), LEASE_SECONDS);
    if (!run) return false;
    await this.run(run);
    return true;
  }

  private async run(run: ClaimedExport): Promise<void> {
    const lost = new AbortController();
    const signal = AbortSignal.any([lost.signal, this.shutdown.signal]);
    let done = 0;
    const renew = async (): Promise<void> => {
      if (!(await forProcess(() => this.exports.renew(run, LEASE_SECONDS, done))))
        lost.abort(new Error('the lease was lost'));
    };
    const timer = setInterval(() => void renew().catch((error: unknown) => lost.abort(error)), RENEWAL_MS);
    try {
      if (run.attempts > MAX_ATTEMPTS) throw new Error('the export was started too often');
      const omitsUnavailable = run.attempts === MAX_ATTEMPTS;
      const progress = async (): Promise<void> => {
        done += 1;
        await renew();
      };
      const archive = await this.archives.store(run, { signal, omitsUnavailable, progress });
      await this.finish(run, archive);
    } catch (error) {
      await this.recover(run, error);
    } finally {
      clearInterval(timer);
    }
  }

  private async finish(
    run: ClaimedExport,
    { blob, omitted }: Awaited<ReturnType<ExportArchives['store']>>,
  ): Promise<void> {
    const { tenantId } = run;
    const isFinished = await this.db.tx(async (tx) => {
      if (!(await this.exports.finish(tx, run, blob, { omitted, keptDays: KEPT_DAYS }))) return false;
      await this.blobs.keep(tx, tenantId, blob, 'application/zip');
      await this.audit.record(tx, jobOf(run), {
        action: 'personal_data.exported',
        objectKind: 'user',
        objectId: run.userId,
        data: { export_id: run.id, size: blob.size, omitted_files: omitted },
      });
      return true;
    });
    if (!isFinished) await this.blobs.discard(tenantId, blob);
  }

  private async recover(run: ClaimedExport, error: unknown): Promise<void> {
    const { tenantId, userId, attempts } = run;
    if (this.shutdown.signal.aborted) return this.exports.release(run);
    this.logger.warn({ err: error, tenantId, userId, attempts }, 'the export of personal data failed');
    if (attempts < MAX_ATTEMPTS) return this.exports.postpone(run, PAUSE_SECONDS);
    await this.db.tx(async (tx) => {
      if (!(await this.exports.fail(tx, run))) return;
      const entry = { action: 'personal_data.export_failed', objectKind: 'user', objectId: userId };
      await this.audit.record(tx, jobOf(run), { ...entry, data: { export_id: run.id } });
    });
  }
}

const jobOf = ({ tenantId }: ClaimedExport) => ({ tenantId, userId: null, origin: 'job' }) as const;
