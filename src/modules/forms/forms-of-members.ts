import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { rowsOf } from '../../platform/database/rows.js';
import { workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';
import { personalRows } from '../../platform/personal-data/personal-rows.js';
import { type ContentTransfer, MemberContent, RegisteredContent } from '../tenants/index.js';
import { FormEvents } from './changes/form-writes.repository.js';
import { Form } from './forms.schema.js';

const lock = workspace.statement<Pick<Form, 'id'>>(
  'forms.lock_owned',
  `SELECT id FROM forms WHERE tenant_id = $1 AND owner_id = $2 AND deleted_at IS NULL ORDER BY id FOR UPDATE`,
);

const transfer = workspace.statement<never>(
  'forms.transfer',
  `UPDATE forms SET owner_id = $3, updated_at = now() WHERE tenant_id = $1 AND id = ANY ($2)`,
);

/** The forms that a member owns, for a transfer to another member. */
@Injectable()
export class FormsOfMembers extends RegisteredContent {
  constructor(
    contents: MemberContent,
    private readonly events: FormEvents,
  ) {
    super(contents, {
      kind: 'forms',
      order: 50,
      count: (reader, { tenantId, userId }) =>
        rowsOf(reader, Form).count({ tenant_id: tenantId, owner_id: userId, deleted_at: IsNull() }),
    });
  }

  /** Forms have no change feed. */
  async lock(tx: Tx, { ctx, from }: ContentTransfer): Promise<string[]> {
    await tx.query(lock, [ctx.tenantId, from]);
    return [];
  }

  /** Responses, reports and roles of others stay as they are. */
  async transfer(tx: Tx, { ctx, from, to }: ContentTransfer): Promise<number> {
    const ids = (await tx.query(lock, [ctx.tenantId, from])).map(({ id }) => id);
    await tx.query(transfer, [ctx.tenantId, ids, to]);
    for (const id of ids) await this.events.record(tx, ctx, 'transferred', id, { from, to });
    return ids.length;
  }
}

const owned = workspace.statement<never>(
  'forms.personal_owned',
  personalRows(`SELECT form.id, form.title, form.description, form.state, form.draft, form.settings, form.created_at, form.updated_at,
            form.published_at, form.deleted_at
       FROM forms form WHERE form.tenant_id = $1 AND form.owner_id = $2 ORDER BY form.id`),
);

const submitted = workspace.statement<never>(
  'forms.personal_submitted',
  personalRows(`SELECT response.id, response.form_id, response.version, response.answers, response.submitted_at, response.updated_at
       FROM form_responses response WHERE response.tenant_id = $1 AND response.respondent_id = $2 ORDER BY response.id`),
);

const reports = workspace.statement<never>(
  'forms.personal_reports',
  personalRows(`SELECT report.id, report.form_id, report.name, report.definition, report.created_at, report.updated_at
       FROM form_reports report WHERE report.tenant_id = $1 AND report.created_by = $2 ORDER BY report.id`),
);

const files = workspace.statement<never>(
  'forms.personal_files',
  personalRows(`SELECT file.id, file.blob_id, file.name, file.size
       FROM form_uploads file WHERE file.tenant_id = $1 AND file.user_id = $2 ORDER BY file.id`),
);

// Forms without access and without responses of others.
const PRIVATE = `WITH private AS (
     SELECT form.id FROM forms form
      WHERE form.tenant_id = $1 AND form.owner_id = $2
        AND NOT EXISTS (SELECT FROM form_access access WHERE access.tenant_id = $1 AND access.form_id = form.id)
        AND NOT EXISTS (SELECT FROM form_responses response
                         WHERE response.tenant_id = $1 AND response.form_id = form.id AND response.respondent_id IS DISTINCT FROM $2))`;

const erasePrivateFiles = workspace.statement<never>(
  'forms.erase_private_files',
  `${PRIVATE},
   files AS (
     DELETE FROM form_uploads USING private WHERE form_uploads.tenant_id = $1 AND form_uploads.form_id = private.id
     RETURNING form_uploads.blob_id)
   SELECT blob_release($1, array_agg(files.blob_id)) FROM files HAVING count(*) > 0`,
);

// Responses to forms of other owners belong to these forms.
const erasePrivateForms = workspace.statement<never>(
  'forms.erase_private_forms',
  `${PRIVATE}
   DELETE FROM forms USING private WHERE forms.tenant_id = $1 AND forms.id = private.id`,
);

/** Forms of a user, and the responses and files that the user submitted. Anonymous responses name no user. */
@Injectable()
export class FormsPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, {
      name: 'forms',
      rows: { 'forms.json': owned, 'responses.json': submitted, 'reports.json': reports },
      files,
      erasure: { rows: [erasePrivateFiles, erasePrivateForms] },
    });
  }
}
