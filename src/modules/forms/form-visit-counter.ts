import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { FormViews } from './forms.schema.js';

/** Milliseconds between the first visit and the write of the counts. A crash loses the visits of this time. */
const FLUSH_MS = 1_000;
const HOUR_MS = 3_600_000;

/** Views and starts of a version of a form in one hour. */
interface Visits extends Pick<FormViews, 'version' | 'hour'> {
  tenantId: string;
  formId: string;
  views: number;
  starts: number;
}

// Writes in the order of the primary key, which avoids deadlocks. Skips forms that have been purged meanwhile.
const add = workspace.statement<never>(
  'form_views.add',
  `INSERT INTO form_views AS visits (tenant_id, form_id, version, hour, count, started)
   SELECT $1, form.id, counted.version, counted.hour, counted.views, counted.starts
     FROM unnest($2::uuid[], $3::int[], $4::timestamptz[], $5::bigint[], $6::bigint[])
            AS counted (form_id, version, hour, views, starts)
     JOIN forms form ON form.tenant_id = $1 AND form.id = counted.form_id
    ORDER BY 2, 3, 4
   ON CONFLICT (tenant_id, form_id, version, hour) DO UPDATE
     SET count = visits.count + excluded.count, started = visits.started + excluded.started`,
);

const sum = workspace.statement<VisitTotals>(
  'form_views.sum',
  `SELECT coalesce(sum(count), 0)::float8 AS views, coalesce(sum(started), 0)::float8 AS starts FROM form_views
    WHERE tenant_id = $1 AND form_id = $2 AND ($3::int IS NULL OR version = $3)
      AND hour > $4::timestamptz - interval '1 hour' AND hour < $5::timestamptz`,
);

export interface VisitTotals {
  views: number;
  starts: number;
}

/** Counts views and starts of published forms in memory and writes them after a second, so that reads do not write. */
@Injectable()
export class FormVisitCounter implements OnModuleDestroy {
  private readonly logger = new Logger(FormVisitCounter.name);
  private counted = new Map<string, Visits>();
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(private readonly db: Db) {}

  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.flush();
  }

  record(kind: keyof VisitTotals, tenantId: string, formId: string, version: number): void {
    const hour = new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS);
    this.add({ tenantId, formId, version, hour, views: 0, starts: 0, [kind]: 1 });
  }

  /** Visits in the hours that overlap the period, those of this process included. Those of other processes follow within a second. */
  async totals(
    tenantId: string,
    form: string,
    { from, to, version }: { from?: Date; to?: Date; version?: number },
  ): Promise<VisitTotals> {
    await this.flush();
    const values = [tenantId, form, version ?? null, from ?? '-infinity', to ?? 'infinity'];
    return (await this.db.query(sum, values))[0]!;
  }

  private add(visits: Visits): void {
    const { tenantId, formId, version, hour } = visits;
    const key = `${tenantId} ${formId} ${version} ${hour.getTime()}`;
    const existing = this.counted.get(key);
    if (existing) {
      existing.views += visits.views;
      existing.starts += visits.starts;
    } else this.counted.set(key, visits);
    if (this.timer || this.stopped) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void this.flush();
    }, FLUSH_MS);
    this.timer.unref();
  }

  /** Writes the counts. After a failure they are kept for the next write. */
  private async flush(): Promise<void> {
    const visits = [...this.counted.values()];
    this.counted = new Map();
    for (const [tenantId, list] of Map.groupBy(visits, (each) => each.tenantId)) {
      const columns = (['formId', 'version', 'hour', 'views', 'starts'] as const).map((name) =>
        list.map((each) => each[name]),
      );
      try {
        await this.db.single((tx) => tx.query(add, [tenantId, ...columns]));
      } catch (error) {
        this.logger.warn({ err: error }, 'visits of forms not written; they are tried again');
        for (const each of list) this.add(each);
      }
    }
  }
}
