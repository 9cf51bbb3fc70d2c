import type { SchemaPart } from './platform/database/data-source.js';
import { platformSchema } from './platform/platform.schema.js';
import { accountSecuritySchema } from './modules/account-security/account-security.schema.js';
import { accessSchema } from './modules/access/access.schema.js';
import { identitySchema } from './modules/identity/identity.schema.js';
import { mailSchema } from './modules/mail/mail.schema.js';
import { noteFoldersSchema } from './modules/note-folders/note-folders.schema.js';
import { notesSchema } from './modules/notes/notes.schema.js';
import { signInSchema } from './modules/sign-in/sign-in.schema.js';
import { settingsSchema } from './modules/settings/settings.schema.js';
import { tasksSchema } from './modules/tasks/tasks.schema.js';
import { tenantsSchema } from './modules/tenants/tenants.schema.js';

const PARTS: SchemaPart[] = [
  platformSchema,
  tenantsSchema,
  identitySchema,
  accountSecuritySchema,
  signInSchema,
  accessSchema,
  settingsSchema,
  noteFoldersSchema,
  tasksSchema,
  notesSchema,
  mailSchema,
];

/** The whole database: one line for each domain. */
export const schema: SchemaPart = {
  entities: PARTS.flatMap((part) => part.entities),
  migrations: PARTS.flatMap((part) => part.migrations),
  sql: PARTS.flatMap((part) => part.sql),
};
