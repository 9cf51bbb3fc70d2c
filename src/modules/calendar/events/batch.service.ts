import { Injectable } from '@nestjs/common';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { CalendarErrors } from '../calendar.errors.js';
import { EventBatch, type BatchOperation, type BatchResult } from '../changes/event-batch.js';
import { EventsRepository } from '../events.repository.js';
import type { BatchEvents } from './batch.dto.js';
import type { EventBatchEnvelope } from './events.response.js';

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
