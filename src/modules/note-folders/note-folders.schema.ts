import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../platform/database/schema/sql-migration.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
import { NoteFolder } from './note-folder.entity.js';

export const noteFoldersSchema: SchemaPart = {
  owner: 'note-folders',
  publishes: ['live_note_folders'],
  entities: { workspace: [NoteFolder] },
  migrations: sqlMigrations(import.meta.url, {
    NoteFolders1795000000004: '0001-note-folders',
    NoteFolderDevices1796200000001: '0002-note-folder-devices',
  }),
  sql: sqlFiles('workspace', import.meta.url, 'live-note-folders'),
};
