import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigration } from '../../platform/database/schema/sql-migration.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
import {
  Form,
  FormAccessRow,
  FormCounter,
  FormReport,
  FormReportViewer,
  FormResponseOnce,
  FormResponseRow,
  FormUpload,
  FormVersion,
  FormViews,
} from './forms.entity.js';

export const formsSchema: SchemaPart = {
  owner: 'forms',
  entities: {
    workspace: [
      Form,
      FormVersion,
      FormAccessRow,
      FormResponseRow,
      FormResponseOnce,
      FormCounter,
      FormUpload,
      FormReport,
      FormReportViewer,
      FormViews,
    ],
  },
  migrations: [
    sqlMigration('Forms1796100000015', new URL('migrations/0001-forms.sql', import.meta.url)),
    sqlMigration('FormViews1796100000115', new URL('migrations/0002-form-views.sql', import.meta.url)),
    sqlMigration('FormClosings1797100000015', new URL('migrations/0003-form-closings.sql', import.meta.url)),
    sqlMigration(
      'FormPublishedSearchText1798700000061',
      new URL('migrations/0004-published-search-text.sql', import.meta.url),
    ),
  ],
  sql: sqlFiles(
    'workspace',
    new URL('sql/', import.meta.url),
    'form-access',
    'form-closings',
    'form-submit-steps',
    'form-submit',
    'form-response-delete',
    'release-0.1.0',
  ),
};
