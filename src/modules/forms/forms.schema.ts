import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../platform/database/schema/sql-migration.js';
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
  migrations: sqlMigrations(import.meta.url, {
    Forms1796100000015: '0001-forms',
    FormViews1796100000115: '0002-form-views',
    FormClosings1797100000015: '0003-form-closings',
    FormPublishedSearchText1798700000061: '0004-published-search-text',
  }),
  sql: sqlFiles('workspace', import.meta.url, 'form-access', 'response-scan', 'release-0.1.0'),
};
