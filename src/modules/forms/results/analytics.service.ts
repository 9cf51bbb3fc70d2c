import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Distribution, Summaries } from '../../../lib/forms/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { FormAccess } from '../form-access.js';
import { FormVisitCounter } from '../form-visit-counter.js';
import { LocalTime } from './local-time.js';
import { ResponseScan } from './response-scan.js';
import type { FormAnalyticsEnvelope } from './analytics.response.js';
import type { AnalyseResponses } from './export.dto.js';

/** Summaries of all responses of a form. */
@Injectable()
export class AnalyticsService {
  constructor(
    private readonly access: FormAccess,
    private readonly scan: ResponseScan,
    private readonly visits: FormVisitCounter,
  ) {}

  /** @throws ApiError 404, 403 */
  async analyse(
    ctx: RequestContext,
    id: string,
    query: AnalyseResponses,
  ): Promise<JsonReply<FormAnalyticsEnvelope>> {
    await this.access.open(ctx, id, 'viewer', query.share_token);
    const summary = await this.summarise(ctx, id, query);
    return JsonReply.of(summary);
  }

  private async summarise(
    { tenantId }: RequestContext,
    id: string,
    { tz = 'UTC', ...query }: AnalyseResponses,
  ): Promise<FormAnalyticsEnvelope> {
    const local = new LocalTime(tz);
    const { views, starts } = await this.visits.totals(tenantId, id, query);
    return this.scan.run(tenantId, id, { ...query, respondents: false }, async (versions, batches) => {
      const summaries = new Summaries(versions);
      const days = new Map<string, number>();
      const durations = new Distribution();
      let submitted = 0;
      for await (const rows of batches) {
        for (const { version, answers, submitted_at, duration_seconds: seconds } of rows) {
          summaries.add(version, answers);
          const day = local.day(submitted_at);
          days.set(day, (days.get(day) ?? 0) + 1);
          if (seconds !== null) durations.add(seconds);
        }
        submitted += rows.length;
        await nextTurn();
      }
      return {
        totals: {
          views,
          started: Math.max(starts, submitted),
          submitted,
          completion_rate: views === 0 ? null : Math.round(Math.min(1, submitted / views) * 10_000) / 10_000,
          median_seconds: durations.median,
        },
        by_day: [...days]
          .map(([day, count]) => ({ day, count }))
          .toSorted((a, b) => (a.day < b.day ? -1 : 1)),
        questions: summaries.all(),
      };
    });
  }
}
