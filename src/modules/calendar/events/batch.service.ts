import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { Checked } from '../../../platform/http/input.pipe.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { CalendarErrors } from '../calendar.errors.js';
import { type BatchOperation, type BatchResult, EventBatch } from '../changes/event-batch.js';
import { EventsRepository } from '../events.repository.js';
import type { CreateEvent } from '../input/event.dto.js';
import { isAtLeast } from '../model/event-policy.js';
import type { BatchEvents, EventBatchEnvelope } from './events.dto.js';
import { EventsService } from './events.service.js';

/** Many changes of one calendar in one request. */
@Injectable()
export class EventBatchService {
  constructor(
    private readonly events: EventsRepository,
    private readonly batch: EventBatch,
    private readonly writes: IdempotentWrites,
  ) {}

  /** @throws ApiError 404; 422 `batch_failed` where `atomic` is set and an operation fails */
  async run(
    ctx: RequestContext,
    calendarId: string,
    key: IdempotencyKey | null,
    body: Checked<BatchEvents>,
  ): Promise<JsonReply<EventBatchEnvelope>> {
    return this.writes.runTx(ctx, key, async (tx) => {
      await this.events.calendar(tx, ctx, calendarId);
      const { operations, events = [], atomic = false } = body.value;
      const wanted: BatchOperation[] = operations ?? events.map((event) => ({ op: 'create', event }));
      const calendar = await this.batch.lock(tx, ctx, calendarId, wanted);
      const results: BatchResult[] = [];
      for (const [index, operation] of wanted.entries())
        results.push(await this.batch.apply(tx, ctx, calendar, operation, index));
      const failed = results.filter(({ error }) => error !== null).length;
      if (atomic && failed > 0)
        throw CalendarErrors.batchFailed.with({ body: { results: rolledBack(results) } });
      return JsonReply.of({ results, applied: results.length - failed, failed });
    });
  }
}

/** The results after a rollback: errors keep their content, other operations have the status 424. */
const rolledBack = (results: readonly BatchResult[]): BatchResult[] =>
  results.map((result) => (result.error ? result : { ...result, status: 424, event: null }));

/** Events for other domains. */
@Injectable()
export class EventsApi {
  constructor(
    private readonly repository: EventsRepository,
    private readonly events: EventsService,
    private readonly db: Db,
  ) {}

  /** Whether the user may create events in the calendar. */
  async isWritable(ctx: RequestContext, calendarId: string): Promise<boolean> {
    const calendar = (await this.repository.contexts(this.db, ctx, [calendarId])).get(calendarId);
    return calendar !== undefined && isAtLeast(calendar.role, 'writer');
  }

  /** @returns the id of the new event @throws ApiError 404, 403; 422 for times */
  async create(ctx: RequestContext, calendarId: string, fields: CreateEvent): Promise<string> {
    const id = uuidv7();
    await this.events.create(ctx, calendarId, null, Checked.valid({ ...fields, id }));
    return id;
  }
}
