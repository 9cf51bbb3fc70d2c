import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../platform/database/schema/sql-migration.js';
import { ScimGroup, ScimToken, ScimUser } from './scim.entity.js';

export const scimSchema: SchemaPart = {
  owner: 'scim',
  entities: { workspace: [ScimToken, ScimUser, ScimGroup] },
  migrations: sqlMigrations(import.meta.url, { Scim1797900000001: '0001-scim' }),
};
