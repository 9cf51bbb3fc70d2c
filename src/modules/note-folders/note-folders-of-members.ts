import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { rowsOf } from '../../platform/database/rows.js';
import { workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';
import { personalRows } from '../../platform/personal-data/personal-rows.js';
import { type ContentTransfer, MemberContent, RegisteredContent } from '../tenants/index.js';
import { NoteFoldersRepository } from './note-folders.repository.js';
import { NoteFolder } from './note-folders.schema.js';

/** The note folders of a member, for a transfer to another member. */
@Injectable()
export class NoteFoldersOfMembers extends RegisteredContent {
  constructor(
    contents: MemberContent,
    private readonly folders: NoteFoldersRepository,
  ) {
    super(contents, {
      kind: 'note_folders',
      order: 30,
      count: (reader, { tenantId, userId }) =>
        rowsOf(reader, NoteFolder).count({ tenant_id: tenantId, owner_id: userId, gone_at: IsNull() }),
    });
  }

  /** The feed counters of both members lock their trees. */
  async lock(): Promise<string[]> {
    return [];
  }

  /** The tree keeps its shape. Its top-level folders come after those of the new owner. */
  async transfer(tx: Tx, { ctx, from, to }: ContentTransfer): Promise<number> {
    const { tenantId } = ctx;
    const tree = await this.folders.tree(tx, { tenantId, userId: from });
    const top = tree.children(null);
    const ids = top.flatMap((id) => tree.listBelow(id));
    const first = (await this.folders.tree(tx, { tenantId, userId: to })).lastPosition(null);
    const position = () =>
      'CASE WHEN parent_id IS NULL THEN :first + array_position(:ids::uuid[], id) ELSE position END';
    await this.folders.transfer(tx, { tenantId, from, to }, ids, { position, device_id: null }, { first });
    return ids.length;
  }
}

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
