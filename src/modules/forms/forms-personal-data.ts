import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';
import { personalRows } from '../../platform/personal-data/personal-rows.js';

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

/** Forms of a user, and the responses and files that the user submitted. Anonymous responses name no user. */
@Injectable()
export class FormsPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, {
      name: 'forms',
      rows: { 'forms.json': owned, 'responses.json': submitted, 'reports.json': reports },
      files,
    });
  }
}
