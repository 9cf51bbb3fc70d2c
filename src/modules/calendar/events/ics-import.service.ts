import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { charsetOf } from '../../../lib/content-lines/index.js';
import { ICalendarError } from '../../../lib/icalendar/index.js';
import { RecurrenceError } from '../../../lib/recurrence/index.js';
import { Turns } from '../../../lib/turns/index.js';
import { Blobs } from '../../../platform/blobs/blobs.js';
import type { UploadForm } from '../../../platform/blobs/uploads/upload-form.js';
import { Uploads } from '../../../platform/blobs/uploads/uploads.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { ConcurrentChangeError } from '../../../platform/database/database-errors.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { ApiError, Errors } from '../../../platform/http/errors.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { CalendarErrors, RuleErrors } from '../calendar.errors.js';
import { type BatchResult, EventBatch } from '../changes/event-batch.js';
import { entryIn, EventOperations } from '../changes/event-operations.js';
import type { EventChange } from '../changes/event-write.js';
import { EventWriter } from '../changes/event-writer.js';
import { EventsRepository } from '../events.repository.js';
import { permissionsOf } from '../model/event-policy.js';
import type { CalendarContext, ImportedVersion } from '../model/event-record.js';
import type { ReadEvent } from '../model/vevent-reader.js';
import { createdEvent, compareEvents, fileEvent, replaceValues, withInstances } from './imported-event.js';
import { type FileEvent, IcsFile, MAX_FILE_BYTES, splitRanges, TooManyEventsError } from './ics-file.js';
import { takeNewer, importedVersion, withPastStamps } from './import-version.js';
import type { ReadWarning } from '../model/vevent-time-parts.js';
import type { EventBatchEnvelope } from './events.dto.js';
import type { OperationErrorResponse } from '../responses/event.response.js';

/** Maximum number of events in a transaction, and the bytes of JSON after which the next one begins. */
const BATCH = 100;
const BATCH_BYTES = 2 * 1024 * 1024;

/** The outcome of one event of a file. */
type ImportResult = BatchResult & { event_id: string | null; warnings: ReadWarning[] };

interface Job {
  tx: Tx;
  ctx: RequestContext;
  calendar: CalendarContext;
  now: string;
  /** Active members by address. */
  members: ReadonlyMap<string, string>;
}

/** An event after the import; `change` is null where nothing differs. */
interface Imported {
  status: 200 | 201;
  eventId: string;
  change: EventChange | null;
  /** What the file has of an event that does not change; absent where it is stored already. */
  seen?: ImportedVersion;
  /** The comparison with the stored event finds them. */
  warnings?: ReadWarning[];
}

/**
 * Imports of iCalendar files into a calendar. An event is found by its UID, and replaced unless it was edited here later, so a repeated
 * import changes nothing (`takeNewer`). No message is sent, and no other calendar changes.
 */
@Injectable()
export class IcsImport {
  constructor(
    private readonly events: EventsRepository,
    private readonly operations: EventOperations,
    private readonly batch: EventBatch,
    private readonly writer: EventWriter,
    private readonly uploads: Uploads,
    private readonly blobs: Blobs,
    private readonly db: Db,
  ) {}

  /**
   * The file is stored first, so that its transactions do not wait for the client; each has at most 100 events.
   * @throws ApiError 404; 403; 409 `quota_exceeded`; 413 `file_too_large`; 415; 422 `invalid_ics`, `too_many_events`
   */
  async run(
    ctx: RequestContext,
    calendarId: string,
    form: UploadForm,
  ): Promise<JsonReply<EventBatchEnvelope>> {
    const calendar = await this.events.calendar(this.db, ctx, calendarId);
    this.operations.assertWriter(calendar);
    if ((form.request.headers['content-encoding'] ?? 'identity') !== 'identity')
      throw Errors.unsupportedMediaType.with({ message: 'The body must not be compressed.' });
    return this.uploads.receiveBody(ctx, form, MAX_FILE_BYTES, async ({ id }) => {
      const file = await opened(
        async () => (await this.blobs.open(ctx.tenantId, id)).stream as AsyncIterable<Uint8Array>,
        calendar.time_zone,
        charsetOf(form.request.headers['content-type']),
      );
      const results: ImportResult[] = [];
      for await (const events of batchesOf(withoutRanges(file.events())))
        results.push(...(await this.db.tx((tx) => this.write(tx, ctx, calendarId, events))));
      if (file.unfinished) results.push(unfinishedResult(file.unfinished));
      const failed = results.filter(({ error }) => error !== null).length;
      const warnings = leftOut(file);
      return JsonReply.of({
        results,
        applied: results.length - failed,
        failed,
        ...(warnings.length > 0 && { warnings }),
      });
    });
  }

  private async write(
    tx: Tx,
    ctx: RequestContext,
    calendarId: string,
    events: readonly FileEvent[],
  ): Promise<ImportResult[]> {
    const replaced = events.filter(({ isReplaced }) => isReplaced).map(replacedResult);
    const current = events.filter(({ isReplaced }) => !isReplaced);
    return inOrder([...replaced, ...(await this.writeEvents(tx, ctx, calendarId, current))]);
  }

  private async writeEvents(
    tx: Tx,
    ctx: RequestContext,
    calendarId: string,
    events: readonly FileEvent[],
  ): Promise<ImportResult[]> {
    const uids = events.map(({ uid }) => uid);
    const eventIds = await this.events.idsOfUids(tx, ctx.tenantId, calendarId, uids);
    // Access is checked again: it may have changed during the upload.
    const calendar = await this.batch.lock(
      tx,
      ctx,
      calendarId,
      [...eventIds.values()].map((event_id) => ({ op: 'update', event_id })),
    );
    this.operations.assertWriter(calendar);
    // Another request may have written a UID before the lock: the transaction is repeated.
    if (!isDeepStrictEqual(await this.events.idsOfUids(tx, ctx.tenantId, calendarId, uids), eventIds))
      throw new ConcurrentChangeError('uids');
    const turns = new Turns();
    const read: { event: FileEvent; found: ReadEvent | ApiError | null }[] = [];
    for (const event of events) {
      const isWhole = event.master !== null || !eventIds.has(event.uid);
      read.push({ event, found: isWhole ? caught(() => fileEvent(event, null, true)) : null });
      // A VTIMEZONE that is compared with all zones takes milliseconds.
      await turns.pause();
    }
    const emails = read.flatMap(({ found: each }) =>
      each && !(each instanceof ApiError)
        ? [...each.participants.map(({ email }) => email), each.organizer?.email ?? '']
        : [],
    );
    const job: Job = {
      tx,
      ctx,
      calendar,
      now: new Date().toISOString(),
      members: await this.events.memberIds(tx, ctx.tenantId, emails),
    };
    const changes: EventChange[] = [];
    const seen: { id: string; imported: ImportedVersion }[] = [];
    const results: ImportResult[] = [];
    for (const { event, found: each } of read) {
      const result = await this.imported(job, event, each, eventIds.get(event.uid) ?? null);
      if (!(result instanceof ApiError)) {
        if (result.change) changes.push(result.change);
        if (result.seen) seen.push({ id: result.eventId, imported: result.seen });
      }
      results.push(resultOf(event, result, each instanceof ApiError ? [] : (each?.warnings ?? [])));
      await turns.pause();
    }
    if (changes.length > 0) await this.writer.commit(tx, ctx, changes, job.now);
    await this.events.setImported(tx, ctx.tenantId, seen);
    return results;
  }

  private async imported(
    job: Job,
    event: FileEvent,
    read: ReadEvent | ApiError | null,
    eventId: string | null,
  ): Promise<Imported | ApiError> {
    if (read instanceof ApiError) return read;
    if (eventId !== null) return this.updated(job, event, read, eventId);
    const { ctx, calendar, members, now } = job;
    return caught(() => {
      const change = createdEvent(ctx.userId, calendar, members, read as ReadEvent, now);
      const record = withPastStamps(change.record, now);
      const imported = importedVersion(event, null, record, true);
      return {
        status: 201,
        eventId: record.id,
        change: { ...change, record: { ...record, imported } },
      };
    });
  }

  /** Changes an event that the calendar contains. Attendees and their responses stay. */
  private async updated(
    { tx, ctx, calendar, now }: Job,
    event: FileEvent,
    read: ReadEvent | null,
    eventId: string,
  ): Promise<Imported | ApiError> {
    const locked = await this.events.lock(tx, ctx, calendar.id, eventId);
    if (!locked?.record) throw new ConcurrentChangeError('event');
    const { record, entries } = locked;
    if (entryIn(entries, calendar.id).hidden) return CalendarErrors.eventNotFound.with();
    const whole = caught(() => {
      const own = read ?? fileEvent(event, record, true);
      return own ? replaceValues(record, own) : withInstances(record, event);
    });
    if (whole instanceof ApiError) return whole;
    const unchanged = { status: 200, eventId, change: null } as const;
    const mayEdit = permissionsOf(record, calendar, ctx.userId).edit;
    // What others see of the event is not what its editors edited.
    const remembered = (isWhole: boolean): Pick<Imported, 'seen'> => {
      const seen = importedVersion(event, record, record, isWhole);
      return mayEdit && !isDeepStrictEqual(record.imported, seen) ? { seen } : {};
    };
    if (compareEvents(record, whole).length === 0) return { ...unchanged, ...remembered(true) };
    const next = caught(() => takeNewer(event, record, whole));
    if (next instanceof ApiError) return next;
    const fields = next ? compareEvents(record, next) : [];
    if (!next || fields.length === 0)
      return { ...unchanged, ...remembered(false), warnings: [OLDER_THAN_STORED] };
    if (!mayEdit) return CalendarErrors.notOrganizer.with();
    const sequence = Math.max(next.sequence, record.sequence + 1);
    const after = { ...withPastStamps(next, now), sequence };
    const isWhole = compareEvents(next, whole).length === 0;
    const change: EventChange = {
      before: record,
      record: { ...after, imported: importedVersion(event, record, after, isWhole) },
      entries,
      action: 'updated',
      fields,
    };
    return { status: 200, eventId, change, ...(!isWhole && { warnings: [OLDER_THAN_STORED] }) };
  }
}

/** Runs `work`. Errors of the API and of the libraries are returned as errors of the API. */
function caught<T>(work: () => T): T | ApiError {
  try {
    return work();
  } catch (error) {
    if (error instanceof ApiError) return error;
    if (error instanceof RecurrenceError) return RuleErrors[error.code].with({ message: error.message });
    if (error instanceof ICalendarError) return invalidIcs(error);
    throw error;
  }
}

function invalidIcs({ code, message, property = '' }: ICalendarError): ApiError {
  return CalendarErrors.invalidIcs.with({ message, details: [{ field: property, code, message }] });
}

/** @throws ApiError 422 `invalid_ics`, `too_many_events` */
async function opened(
  open: () => Promise<AsyncIterable<Uint8Array>>,
  zone: string,
  charset: string | undefined,
): Promise<IcsFile> {
  try {
    return await IcsFile.read(open, zone, zone, charset);
  } catch (error) {
    if (error instanceof ICalendarError) throw invalidIcs(error);
    if (error instanceof TooManyEventsError) throw CalendarErrors.tooManyEvents.with();
    throw error;
  }
}

/** The components that are no events. */
const OTHER_KINDS: ReadonlyMap<string, string> = new Map([
  ['VTODO', 'tasks'],
  ['VJOURNAL', 'journals'],
  ['VFREEBUSY', 'busy times'],
  ['VAVAILABILITY', 'working hours'],
]);
/** Maximum number of kinds that are named. */
const MAX_KINDS = 20;

/** What a calendar does not keep of a file, with the number of each kind. */
const leftOut = ({ kinds }: IcsFile): ReadWarning[] =>
  [...kinds]
    .filter(([kind]) => kind !== 'VEVENT')
    .slice(0, MAX_KINDS)
    .map(([kind, count]) => {
      const name = OTHER_KINDS.get(kind) ?? 'components';
      const message = `A calendar keeps events only; the ${name} of the file (${count} ${kind.slice(0, 100)}) were left out.`;
      return { code: 'not_an_event', message };
    });

const OLDER_THAN_STORED: ReadWarning = {
  code: 'older_version',
  message: 'What was edited here later than in the file stays as it is.',
};

const inOrder = (results: ImportResult[]): ImportResult[] => results.toSorted((a, b) => a.index - b.index);

const replacedResult = ({ index, uid }: FileEvent): ImportResult => ({
  index,
  client_id: uid,
  event_id: null,
  event: null,
  status: 200,
  error: null,
  warnings: [
    {
      code: 'older_version',
      message: 'The file has another event with this UID, which is newer or comes later.',
    },
  ],
});

/** The result for the component in which a file ends. */
const unfinishedResult = ({ index, error }: NonNullable<IcsFile['unfinished']>): ImportResult =>
  resultOf({ index, uid: null }, invalidIcs(error), []);

function resultOf(
  { index, uid }: { index: number; uid: string | null },
  result: Imported | ApiError,
  warnings: ReadWarning[],
): ImportResult {
  const common = { index, client_id: uid, event: null, warnings };
  return result instanceof ApiError
    ? {
        ...common,
        event_id: null,
        status: result.kind.status,
        error: result.body as unknown as OperationErrorResponse,
      }
    : {
        ...common,
        event_id: result.eventId,
        status: result.status,
        error: null,
        warnings: [...warnings, ...(result.warnings ?? [])],
      };
}

/** Series that change from one instance on, as two series each. An event with an error is left to the batch, which reports it. */
async function* withoutRanges(events: AsyncIterable<FileEvent>): AsyncGenerator<FileEvent> {
  const turns = new Turns();
  for await (const event of events) {
    const parts = caught(() => splitRanges(event));
    yield* parts instanceof ApiError ? [event] : parts;
    await turns.pause();
  }
}

/** Batches by number and size. An event whose UID is already in the batch begins the next one. */
async function* batchesOf(events: AsyncIterable<FileEvent>): AsyncGenerator<FileEvent[]> {
  let batch: FileEvent[] = [];
  let bytes = 0;
  for await (const event of events) {
    const isFull = batch.length >= BATCH || bytes >= BATCH_BYTES;
    if (isFull || batch.some(({ uid }) => uid === event.uid)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(event);
    bytes += JSON.stringify([event.master, event.instances]).length;
  }
  if (batch.length > 0) yield batch;
}
