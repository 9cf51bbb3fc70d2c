import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../platform/database/schema/sql-migration.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
import { NoteSearch } from './search/note-search.entity.js';
import { DueNoteHistory, NoteRevisionPack } from './history/note-history.entity.js';
import { Note, NoteMember, NoteRevision, PurgedNote } from './note.entity.js';

export const notesSchema: SchemaPart = {
  owner: 'notes',
  entities: {
    workspace: [Note, NoteRevision, NoteRevisionPack, DueNoteHistory, NoteMember, PurgedNote, NoteSearch],
  },
  migrations: sqlMigrations(import.meta.url, {
    Notes1795000000005: '0001-notes',
    NoteSearch1795000000101: '0101-note-search',
    NoteSearchInline1795000000102: '0102-note-search-inline',
    NoteRoles1796100000001: '0201-note-roles',
    NoteTitles1796100000002: '0202-note-titles',
    NoteHistory1796500000001: '0301-note-history',
    NotesByCreation1798023000001: '0401-notes-by-creation',
  }),
  sql: sqlFiles(
    'workspace',
    import.meta.url,
    'note-fields',
    'note-views',
    'note-store',
    'note-search',
    'release-0.1.0',
  ),
};
