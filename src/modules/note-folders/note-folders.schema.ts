import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigration } from '../../platform/database/schema/sql-migration.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
import { NoteFolder } from './note-folder.entity.js';

export const noteFoldersSchema: SchemaPart = {
  owner: 'note-folders',
  publishes: ['live_note_folders'],
  entities: { workspace: [NoteFolder] },
  migrations: [
    sqlMigration('NoteFolders1795000000004', new URL('migrations/0001-note-folders.sql', import.meta.url)),
    sqlMigration(
      'NoteFolderDevices1796200000001',
      new URL('migrations/0002-note-folder-devices.sql', import.meta.url),
    ),
  ],
  sql: sqlFiles('workspace', new URL('sql/', import.meta.url), 'live-note-folders'),
};
