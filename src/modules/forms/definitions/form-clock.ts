import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { inBatches } from '../../../platform/jobs/sweep.js';
import { FormEvents } from '../changes/form-writes.repository.js';
import type { Form } from '../forms.schema.js';
import { RESPONSE_COUNT } from '../forms.repository.js';
import { isClosedByWindow } from '../model/form-rules.js';

const BATCH = 200;

interface EndedForm extends Pick<Form, 'tenant_id' | 'id' | 'settings'> {
  count: number;
}

// Index forms_window_end. Concurrent runs skip the forms of each other.
const lockEnded = workspace.statement<EndedForm>(
  'forms.close_ended',
  `SELECT form.tenant_id, form.id, form.settings, ${RESPONSE_COUNT} AS count FROM forms form
    WHERE form.accepting AND form.deleted_at IS NULL AND form.settings->>'closes_at' IS DISTINCT FROM form.reported_end
      AND form.settings->>'closes_at' <= to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    ORDER BY form.settings->>'closes_at' LIMIT ${BATCH} FOR NO KEY UPDATE OF form SKIP LOCKED`,
  { reach: 'cell' },
);

const markReported = workspace.statement<never>(
  'forms.mark_end_reported',
  `UPDATE forms SET reported_end = settings->>'closes_at' WHERE tenant_id = $1 AND id = ANY ($2::uuid[])`,
);

/** Reports the ends of the windows of forms, each once. */
@Injectable()
export class FormClock implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly events: FormEvents,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'forms.close-ended', everySeconds: 15, run: () => this.tick() });
  }

  /** @returns the number of windows that have ended since the last run */
  async tick(): Promise<number> {
    return inBatches(BATCH, () => this.db.tx(async (tx) => this.reportEnded(tx)));
  }

  private async reportEnded(tx: Tx): Promise<number> {
    const ended = await tx.query(lockEnded, []);
    for (const [tenantId, forms] of Map.groupBy(ended, (form) => form.tenant_id)) {
      await tx.query(markReported, [tenantId, forms.map(({ id }) => id)]);
      for (const { id, settings, count } of forms)
        if (isClosedByWindow(settings, count))
          await this.events.appendClosed(tx, tenantId, id, 'window_ended');
    }
    return ended.length;
  }
}
