import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';
import { personalRows } from '../../platform/personal-data/personal-rows.js';

const owned = workspace.statement<never>(
  'note_folders.personal_owned',
  personalRows(`SELECT folder.id, folder.parent_id, folder.name, folder.color, folder.created_at, folder.updated_at
       FROM note_folders folder WHERE folder.tenant_id = $1 AND folder.owner_id = $2 AND folder.gone_at IS NULL ORDER BY folder.id`),
);

const eraseFolders = workspace.statement<never>(
  'note_folders.erase_folders',
  `DELETE FROM note_folders WHERE tenant_id = $1 AND owner_id = $2`,
);

/** The note folders of a user. */
@Injectable()
export class NoteFoldersPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, { name: 'note-folders', rows: { 'folders.json': owned }, erasure: { rows: [eraseFolders] } });
  }
}
