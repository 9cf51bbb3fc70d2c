import type { SchemaPart } from '../../platform/database/data-source.js';
import { sqlMigration } from '../../platform/database/sql-migration.js';
import { Note, NoteMember, NoteRevision } from './note.entity.js';

export const notesSchema: SchemaPart = {
  entities: [Note, NoteRevision, NoteMember],
  migrations: [sqlMigration('Notes1795000000005', new URL('migrations/0001-notes.sql', import.meta.url))],
};
