import type { SchemaPart } from '../../platform/database/data-source.js';
import { sqlMigration } from '../../platform/database/sql-migration.js';
import { NoteSearch } from './search/note-search.entity.js';
import { Note, NoteMember, NoteRevision } from './note.entity.js';

export const notesSchema: SchemaPart = {
  entities: [Note, NoteRevision, NoteMember, NoteSearch],
  migrations: [
    sqlMigration('Notes1795000000005', new URL('migrations/0001-notes.sql', import.meta.url)),
    sqlMigration('NoteViews1795000000006', new URL('migrations/0002-note-views.sql', import.meta.url)),
    sqlMigration('NoteWrites1795000000007', new URL('migrations/0003-note-writes.sql', import.meta.url)),
    sqlMigration('NoteSharing1795000000008', new URL('migrations/0004-note-sharing.sql', import.meta.url)),
    sqlMigration(
      'NotesOfFolders1795000000010',
      new URL('migrations/0005-notes-of-folders.sql', import.meta.url),
    ),
    sqlMigration('NoteSearch1795000000101', new URL('migrations/0101-note-search.sql', import.meta.url)),
    sqlMigration(
      'NoteSearchInline1795000000102',
      new URL('migrations/0102-note-search-inline.sql', import.meta.url),
    ),
    sqlMigration('NoteLinks1795100000020', new URL('migrations/0006-note-links.sql', import.meta.url)),
  ],
};
