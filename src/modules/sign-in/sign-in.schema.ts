import type { SchemaPart } from '../../platform/database/data-source.js';
import { sqlMigration } from '../../platform/database/sql-migration.js';
import { OidcClient, OidcRecord } from './sign-in.entities.js';

export const signInSchema: SchemaPart = {
  entities: [OidcRecord, OidcClient],
  migrations: [sqlMigration('SignIn1795600000001', new URL('migrations/0001-sign-in.sql', import.meta.url))],
  sql: [],
};
