import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Blobs } from '../../../platform/blobs/blobs.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import type { Form, FormResponseRow } from '../forms.schema.js';

const BATCH = 100;
/** Days between the deletion of a form and that of its rows. */
const RETENTION_DAYS = 30;

interface FileRow {
  tenant_id: string;
  blob_id: string;
}

// Index form_uploads_expiry.
const expired = workspace.statement<FileRow>(
  'form_uploads.delete_expired',
  `DELETE FROM form_uploads
    WHERE (tenant_id, form_id, id) IN (
      SELECT tenant_id, form_id, id FROM form_uploads WHERE expires_at <= now() ORDER BY expires_at
       LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
   RETURNING tenant_id, blob_id`,
  { reach: 'cell' },
);

// Index forms_deleted.
const due = workspace.statement<Pick<Form, 'tenant_id' | 'id'>>(
  'forms.due_for_purge',
  `SELECT tenant_id, id FROM forms WHERE deleted_at <= now() - make_interval(days => ${RETENTION_DAYS})
    ORDER BY deleted_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
  { reach: 'cell' },
);

const files = workspace.statement<FileRow>(
  'form_uploads.delete_all',
  `DELETE FROM form_uploads WHERE tenant_id = $1 AND form_id = $2 RETURNING tenant_id, blob_id`,
);

// Deletes a limited number of rows, so that the statement stays within its time limit.
const responses = workspace.statement<Pick<FormResponseRow, 'id'>>(
  'form_responses.purge',
  `DELETE FROM form_responses WHERE (tenant_id, form_id, id) IN (
     SELECT tenant_id, form_id, id FROM form_responses WHERE tenant_id = $1 AND form_id = $2 LIMIT 10000)
   RETURNING id`,
);

const purge = workspace.statement<never>('forms.purge', `DELETE FROM forms WHERE tenant_id = $1 AND id = $2`);

/** Deletes files that no response contains after 24 hours, and the rows of deleted forms after 30 days. */
@Injectable()
export class FormsCleanup implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly blobs: Blobs,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'forms-cleanup', everySeconds: 600, run: () => this.run() });
  }

  async run(): Promise<void> {
    while ((await this.deleteExpired()) === BATCH);
    while (await this.purgeNext());
  }

  private async deleteExpired(): Promise<number> {
    return this.db.tx(async (tx) => {
      const rows = await tx.query(expired, []);
      await this.blobs.release(tx, rows);
      return rows.length;
    });
  }

  /** @returns false when no form is due */
  private async purgeNext(): Promise<boolean> {
    return this.db.tx(async (tx) => {
      const [form] = await tx.query(due, []);
      if (!form) return false;
      const key = [form.tenant_id, form.id];
      await this.blobs.release(tx, await tx.query(files, key));
      // Each transaction deletes some of the responses; the last one deletes the form.
      if ((await tx.query(responses, key)).length === 0) await tx.query(purge, key);
      return true;
    });
  }
}
