import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigration } from '../../platform/database/schema/sql-migration.js';
import { ScimGroup, ScimToken, ScimUser } from './scim.entity.js';

export const scimSchema: SchemaPart = {
  owner: 'scim',
  entities: { workspace: [ScimToken, ScimUser, ScimGroup] },
  migrations: [sqlMigration('Scim1797900000001', new URL('migrations/0001-scim.sql', import.meta.url))],
};
