import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';
import { personalRows } from '../../platform/personal-data/personal-rows.js';

const owned = workspace.statement<never>(
  'notes.personal_owned',
  personalRows(`SELECT shown.note FROM notes note
       JOIN note_views shown ON shown.tenant_id = note.tenant_id AND shown.note_id = note.id AND shown.user_id = note.owner_id
      WHERE note.tenant_id = $1 AND note.owner_id = $2 ORDER BY note.id`),
);

/** The notes of a user, also those in the trash. Notes of other owners are not included. */
@Injectable()
export class NotesPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, { name: 'notes', rows: { 'notes.json': owned } });
  }
}
