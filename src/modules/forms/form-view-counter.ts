import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';

const FLUSH_MS = 10_000;
const HOUR_MS = 3_600_000;

/** Views of a version of a form in one hour. */
interface Views {
  tenantId: string;
  formId: string;
  version: number;
  hour: Date;
  count: number;
}

// In the order of the primary key. A form that has been deleted for good meanwhile is left out.
const add = workspace.statement<never>(
  'form_views.add',
  `INSERT INTO form_views AS views (tenant_id, form_id, version, hour, count)
   SELECT $1, form.id, counted.version, counted.hour, counted.count
     FROM unnest($2::uuid[], $3::int[], $4::timestamptz[], $5::bigint[]) AS counted (form_id, version, hour, count)
     JOIN forms form ON form.tenant_id = $1 AND form.id = counted.form_id
    ORDER BY 2, 3, 4
   ON CONFLICT (tenant_id, form_id, version, hour) DO UPDATE SET count = views.count + excluded.count`,
);

const sum = workspace.statement<{ count: number }>(
  'form_views.sum',
  `SELECT coalesce(sum(count), 0)::float8 AS count FROM form_views
    WHERE tenant_id = $1 AND form_id = $2 AND ($3::int IS NULL OR version = $3)
      AND hour > $4::timestamptz - interval '1 hour' AND hour < $5::timestamptz`,
);

/** Counts views of published forms in memory and writes them every 10 s, so that reads do not write. */
@Injectable()
export class FormViewCounter implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(FormViewCounter.name);
  private counted = new Map<string, Views>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly db: Db) {}

  onModuleInit(): void {
    this.timer = setInterval(() => void this.flush(), FLUSH_MS);
    this.timer.unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
  }

  record(tenantId: string, formId: string, version: number): void {
    const hour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
    const key = `${tenantId} ${formId} ${version} ${hour}`;
    const views = this.counted.get(key);
    if (views) views.count += 1;
    else this.counted.set(key, { tenantId, formId, version, hour: new Date(hour), count: 1 });
  }

  /** Views in the hours that overlap the period, those of this process included. Those of other processes follow within 10 s. */
  async count(
    tenantId: string,
    form: string,
    { from, to, version }: { from?: Date; to?: Date; version?: number },
  ): Promise<number> {
    await this.flush();
    const values = [tenantId, form, version ?? null, from ?? '-infinity', to ?? 'infinity'];
    return (await this.db.query(sum, values))[0]?.count ?? 0;
  }

  /** Writes the counts. A failed write is lost: the counts are informational. */
  private async flush(): Promise<void> {
    const views = [...this.counted.values()];
    this.counted = new Map();
    try {
      for (const [tenantId, list] of Map.groupBy(views, (each) => each.tenantId)) {
        const columns = (['formId', 'version', 'hour', 'count'] as const).map((name) =>
          list.map((each) => each[name]),
        );
        await this.db.single((tx) => tx.query(add, [tenantId, ...columns]));
      }
    } catch (error) {
      this.logger.warn({ err: error }, 'views of forms not written');
    }
  }
}
