import { Injectable, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { charsetOf } from '../../../lib/content-lines/index.js';
import { type CardResult, countCards, readCards } from '../../../lib/vcard/index.js';
import { Blobs } from '../../../platform/blobs/blobs.js';
import type { UploadForm } from '../../../platform/blobs/uploads/upload-form.js';
import { Uploads } from '../../../platform/blobs/uploads/uploads.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { Errors } from '../../../platform/http/errors.js';
import { collectStepGarbage } from '../../../platform/memory/garbage.js';
import { SyncCursors } from '../../../platform/sync/sync-cursors.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { type AccessedBook, AddressbookAccess, DefaultBook } from '../addressbook-access.js';
import { ContactErrors, CONTACTS, fieldError } from '../contacts.resource.js';
import { ContactsRepository } from '../contacts.repository.js';
import { phoneCountry } from '../input/contact.dto.js';
import type { ImportCounts } from './import.entity.js';
import { ImportBatch } from './import-batch.js';
import { fromJson, fromVcard, type ImportedCard, type ImportEntry, UidsOfFile } from './import-cards.js';
import { importResponse } from './import-undo.js';
import { ImportPhotos } from './import-photos.js';
import type { ImportRun } from './import-touched.js';
import { deleteOld, ImportsRepository } from './imports.repository.js';
import {
  type ImportedEnvelope,
  type ImportOptions,
  type ImportProblemResponse,
  PhoneErrors,
} from './phone.dto.js';

export const MAX_IMPORT_BYTES = 20 * 1024 * 1024;
/** 10,000 contacts, each with 60 values on average. */
export const MAX_IMPORT_VALUES = 600_000;
const MAX_IMPORT_CARDS = 10_000;
/** Cards of one transaction. */
const BATCH = 100;
/** Approximate bytes of the photos of one transaction. */
const BATCH_PHOTO_BYTES = 4 * 1024 * 1024;
const MAX_PROBLEMS = 1_000;

interface Batch {
  cards: ImportedCard[];
  problems: ImportProblemResponse[];
}

/** Imports of contacts from devices. Each batch is one transaction; a repeated import finds its contacts (docs/adr/0030). */
@Injectable()
export class ImportsService implements OnModuleInit {
  constructor(
    private readonly access: AddressbookAccess,
    private readonly defaults: DefaultBook,
    private readonly batches: ImportBatch,
    private readonly photos: ImportPhotos,
    private readonly contacts: ContactsRepository,
    private readonly cursors: SyncCursors,
    private readonly imports: ImportsRepository,
    private readonly uploads: Uploads,
    private readonly blobs: Blobs,
    private readonly jobs: PeriodicJobs,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'purge-contact-imports', everySeconds: 86_400, deletes: deleteOld });
  }

  /**
   * Imports a vCard file, which is the body or a part of a form. The file is stored first, so that its transactions do not wait
   * for the client.
   * @throws ApiError 404, 403, 413 `file_too_large`, 415, 422 `no_card`, `too_many_contacts`
   */
  async file(
    ctx: RequestContext,
    options: ImportOptions,
    form: UploadForm,
    isForm: boolean,
  ): Promise<ImportedEnvelope> {
    const book = await this.target(ctx, options);
    if (!isForm && (form.request.headers['content-encoding'] ?? 'identity') !== 'identity')
      throw Errors.unsupportedMediaType.with({ message: 'The body must not be compressed.' });
    const charset = isForm ? undefined : charsetOf(form.request.headers['content-type']);
    const use = async (blobId: string): Promise<ImportedEnvelope> => {
      const open = async () =>
        (await this.blobs.open(ctx.tenantId, blobId)).stream as AsyncIterable<Uint8Array>;
      const count = await countCards(await open());
      if (count === 0) throw PhoneErrors.noCard.with();
      if (count > MAX_IMPORT_CARDS) throw PhoneErrors.tooManyCards.with();
      const country = phoneCountry(options.default_country ?? book.default_country);
      return this.run(ctx, book, options, vcardEntries(readCards(await open(), undefined, charset), country));
    };
    if (!isForm) return this.uploads.receiveBody(ctx, form, MAX_IMPORT_BYTES, ({ id }) => use(id));
    return this.uploads.receive(ctx, form, MAX_IMPORT_BYTES, ({ blobId }) => use(blobId), { isKept: false });
  }

  /** Imports a JSON list. @throws ApiError 404, 403, 422 */
  async json(ctx: RequestContext, options: ImportOptions, contacts: unknown): Promise<ImportedEnvelope> {
    const book = await this.target(ctx, options);
    if (!Array.isArray(contacts)) throw fieldError('contacts', 'is_array', 'must be a list of contacts');
    if (contacts.length > MAX_IMPORT_CARDS) throw PhoneErrors.tooManyCards.with();
    const country = phoneCountry(options.default_country ?? book.default_country);
    return this.run(ctx, book, options, jsonEntries(contacts, country));
  }

  /** @throws ApiError 404, 403 */
  private async target(ctx: RequestContext, options: ImportOptions): Promise<AccessedBook> {
    return this.access.requireWritable(ctx, options.addressbook_id ?? (await this.defaults.idOf(ctx)));
  }

  private async run(
    ctx: RequestContext,
    book: AccessedBook,
    { device_id = '', on_duplicate: onDuplicate }: ImportOptions,
    entries: AsyncIterable<ImportEntry> | Iterable<ImportEntry>,
  ): Promise<ImportedEnvelope> {
    const seq = await this.contacts.head(ctx, book.id);
    const run: ImportRun = {
      id: uuidv7(),
      bookId: book.id,
      deviceId: device_id,
      onDuplicate,
      touched: new Map(),
      counts: { total: 0, created: 0, updated: 0, merged: 0, unchanged: 0, skipped: 0, failed: 0 },
      problems: [],
    };
    const batches = new ReadAhead(batchesOf(entries));
    try {
      // At this point nothing refers to the written batch, so its memory can be freed.
      while (await this.step(ctx, run, batches)) collectStepGarbage();
    } finally {
      await batches.close();
    }
    if (run.counts.total === 0)
      await this.db.tx(async (tx) => {
        await this.imports.save(tx, ctx, run);
        await this.imports.deleteOldest(tx, ctx);
      });
    const done = await this.imports.read(ctx, run.id);
    if (!done) throw ContactErrors.bookNotFound.with();
    const position = { mode: 'changes', seq, since: seq } as const;
    const cursor = this.cursors.write({ ...ctx, userId: book.id }, CONTACTS.collection, position);
    return { import: importResponse(done), cursor };
  }

  /** Writes the next batch. @returns false after the last one */
  private async step(ctx: RequestContext, run: ImportRun, batches: ReadAhead<Batch>): Promise<boolean> {
    const batch = await batches.take();
    if (!batch) return false;
    const photoIds = await this.photos.store(ctx.tenantId, batch.cards);
    // The transaction may be repeated, so `run` is changed after it.
    const { counts, problems, touched } = await this.db.tx(async (tx) => {
      const count = await this.contacts.lockBook(tx, ctx, run.bookId);
      if (count === undefined || !(await this.imports.save(tx, ctx, { ...run, problems: [] })))
        throw ContactErrors.bookNotFound.with();
      if (run.counts.total === 0) await this.imports.deleteOldest(tx, ctx);
      const capacity = QUOTAS.item.contacts_of_addressbook - count;
      const result = await this.batches.write(tx, ctx, run, batch.cards, photoIds, capacity);
      const omissions = batch.cards.flatMap((card) => card.problems);
      const failed = [...batch.problems, ...result.failed].toSorted((a, b) => a.index - b.index);
      const written = {
        counts: sum(run.counts, result.outcomes, failed.length),
        problems: [...run.problems, ...failed, ...omissions].slice(0, MAX_PROBLEMS),
      };
      await this.imports.save(tx, ctx, { ...run, ...written });
      return { ...written, touched: result.touched };
    });
    run.counts = counts;
    run.problems = problems;
    for (const [id, contact] of touched) run.touched.set(id, contact);
    return true;
  }
}

function sum(before: ImportCounts, outcomes: readonly (keyof ImportCounts)[], failed: number): ImportCounts {
  const after = { ...before, total: before.total + outcomes.length + failed, failed: before.failed + failed };
  for (const outcome of outcomes) after[outcome] += 1;
  return after;
}

async function* vcardEntries(
  results: AsyncIterable<CardResult>,
  country: string | null,
): AsyncGenerator<ImportEntry> {
  for await (const result of results) yield fromVcard(result, country);
}

function* jsonEntries(contacts: readonly unknown[], country: string | null): Generator<ImportEntry> {
  for (const [index, contact] of contacts.entries()) yield fromJson(index, contact, country);
}

/** Reads the next item while the last one is processed. Taken items are not kept. */
class ReadAhead<T> {
  private next: Promise<IteratorResult<T>>;

  constructor(private readonly source: AsyncGenerator<T>) {
    this.next = this.read();
  }

  /** @returns undefined at the end @throws errors of the source */
  async take(): Promise<T | undefined> {
    const { done, value } = await this.next;
    if (done) return undefined;
    this.next = this.read();
    return value;
  }

  async close(): Promise<void> {
    await this.source.return(undefined);
  }

  private read(): Promise<IteratorResult<T>> {
    const next = this.source.next();
    // `take` throws the error; until then it must not count as unhandled.
    next.catch(() => undefined);
    return next;
  }
}

/** Begins a new batch after a number of cards, and after many bytes of photos. */
async function* batchesOf(
  entries: AsyncIterable<ImportEntry> | Iterable<ImportEntry>,
): AsyncGenerator<Batch> {
  let batch: Batch = { cards: [], problems: [] };
  let bytes = 0;
  const uids = new UidsOfFile();
  for await (const entry of entries) {
    if (batch.cards.length + batch.problems.length >= BATCH || bytes >= BATCH_PHOTO_BYTES) {
      yield batch;
      batch = { cards: [], problems: [] };
      bytes = 0;
    }
    if ('card' in entry) {
      batch.cards.push(uids.assign(entry));
      bytes += entry.photo?.image.length ?? 0;
    } else batch.problems.push(entry);
  }
  if (batch.cards.length + batch.problems.length > 0) yield batch;
}
