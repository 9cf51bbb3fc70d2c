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

// Notes with a share link and without members are private, too: the link ends with the note.
const erasePrivate = workspace.statement<never>(
  'notes.erase_private',
  `WITH private AS (
     SELECT note.id FROM notes note
      WHERE note.tenant_id = $1 AND note.owner_id = $2 AND NOT EXISTS (
        SELECT FROM note_members member
         WHERE member.tenant_id = $1 AND member.note_id = note.id AND member.user_id <> $2 AND member.role IS NOT NULL)),
   purged AS (
     INSERT INTO purged_notes (tenant_id, note_id) SELECT $1, id FROM private ON CONFLICT DO NOTHING)
   DELETE FROM notes USING private WHERE notes.tenant_id = $1 AND notes.id = private.id`,
);

// The folders are deleted. Clients choose the ids of devices.
const eraseMemberRows = workspace.statement<never>(
  'notes.erase_member_rows',
  `UPDATE note_members SET folder_id = NULL, device_id = NULL
    WHERE tenant_id = $1 AND user_id = $2 AND (folder_id IS NOT NULL OR device_id IS NOT NULL)`,
);

const eraseDevices = workspace.statement<never>(
  'notes.erase_devices',
  `UPDATE note_revisions SET device_id = NULL WHERE tenant_id = $1 AND author_id = $2 AND device_id IS NOT NULL`,
);

/** The notes of a user, also those in the trash. Notes of other owners are not included. */
@Injectable()
export class NotesPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, {
      name: 'notes',
      rows: { 'notes.json': owned },
      erasure: { rows: [erasePrivate, eraseMemberRows, eraseDevices] },
    });
  }
}
