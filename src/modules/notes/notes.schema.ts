import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigration } from '../../platform/database/schema/sql-migration.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
import { NoteSearch } from './search/note-search.entity.js';
import { DueNoteHistory, NoteRevisionPack } from './history/note-history.entity.js';
import { Note, NoteMember, NoteRevision, PurgedNote } from './note.entity.js';

const file = (name: string): URL => new URL(`migrations/${name}.sql`, import.meta.url);

export const notesSchema: SchemaPart = {
  owner: 'notes',
  entities: {
    workspace: [Note, NoteRevision, NoteRevisionPack, DueNoteHistory, NoteMember, PurgedNote, NoteSearch],
  },
  migrations: [
    sqlMigration('Notes1795000000005', file('0001-notes')),
    sqlMigration('NoteSearch1795000000101', file('0101-note-search')),
    sqlMigration('NoteSearchInline1795000000102', file('0102-note-search-inline')),
    sqlMigration('NoteRoles1796100000001', file('0201-note-roles')),
    sqlMigration('NoteTitles1796100000002', file('0202-note-titles')),
    sqlMigration('NoteHistory1796500000001', file('0301-note-history')),
    sqlMigration('NotesByCreation1798023000001', file('0401-notes-by-creation')),
  ],
  sql: sqlFiles(
    'workspace',
    new URL('sql/', import.meta.url),
    'note-writes',
    'note-fields',
    'note-views',
    'note-trash',
    'note-sharing',
    'notes-of-folders',
    'note-links',
    'note-search',
  ),
};
