import { readFileSync } from 'node:fs';
import { migrateDatabase } from '../../app.prepare.js';
import type { Config } from '../../config/config.js';
import { migrateMailService } from '../../mail-service/mail-service.js';
import { MAIL_SCHEMA, mailServiceSchema } from '../../mail-service/mail-service.schema.js';
import { keptRaws, rawMessageKey } from '../../mail-service/storage/raw-messages.js';
import { keptBlobs } from '../../platform/blobs/blob-inventory.js';
import { objectName } from '../../platform/blobs/store/blob-store.js';
import type { MigrationClass, Schema } from '../../platform/database/schema/schema-part.js';
import { schema } from '../../schema.js';

/** A file of the blob store that a row refers to. */
export interface NeededFile {
  /** In the blob store. */
  name: string;
  /** Undefined: the rows do not contain size and checksum. */
  bytes?: number;
  sha256?: string;
}

/** How rows refer to files. */
export interface FilesOfRows {
  kind: string;
  /** SQL of the rows with files, ordered by the names of the files. */
  sql: string;
  toFile: (row: Record<string, string>) => NeededFile;
}

/** A PostgreSQL schema of the product. */
export interface OwnSchema {
  name: string;
  definition: Schema;
  migrate: (config: Config, databaseUrl: string, definition: Schema) => Promise<unknown>;
  files: FilesOfRows;
}

/** Tables that the migrations of a restore fill. */
export const DERIVED_TABLES = ['schema_migrations', 'schema_sql'];

/** All schemas, in the order of migration. */
export const OWN_SCHEMAS: readonly OwnSchema[] = [
  {
    name: 'public',
    definition: schema,
    migrate: migrateDatabase,
    files: {
      kind: 'files',
      sql: keptBlobs.text,
      toFile: ({ tenant_id: tenantId = '', id = '', size, sha256 }) => ({
        name: objectName({ tenantId, id }),
        bytes: Number(size),
        sha256,
      }),
    },
  },
  {
    name: MAIL_SCHEMA,
    definition: mailServiceSchema,
    migrate: migrateMailService,
    files: {
      kind: 'mail',
      sql: keptRaws.text,
      toFile: ({ id = '' }) => ({ name: objectName(rawMessageKey(id)) }),
    },
  },
];

/** The name under which a migration is recorded. */
export const migrationName = (migration: MigrationClass): string => new migration().name as string;

/** Version of this program. */
export const productVersion = (): string =>
  (JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { version: string })
    .version;
