import type { SchemaPart } from '../../platform/database/schema-part.js';
import { sqlMigration } from '../../platform/database/sql-migration.js';
import { sqlFiles } from '../../platform/database/stored-sql.js';
import { NoteSearch } from './search/note-search.entity.js';
import { Note, NoteMember, NoteRevision } from './note.entity.js';

export const notesSchema: SchemaPart = {
  owner: 'notes',
  entities: { workspace: [Note, NoteRevision, NoteMember, NoteSearch] },
  migrations: [
    sqlMigration('Notes1795000000005', new URL('migrations/0001-notes.sql', import.meta.url)),
    sqlMigration('NoteSearch1795000000101', new URL('migrations/0101-note-search.sql', import.meta.url)),
    sqlMigration(
      'NoteSearchInline1795000000102',
      new URL('migrations/0102-note-search-inline.sql', import.meta.url),
    ),
  ],
  sql: sqlFiles(
    'workspace',
    new URL('sql/', import.meta.url),
    'note-views',
    'note-writes',
    'note-sharing',
    'notes-of-folders',
    'note-links',
    'note-search',
  ),
};
