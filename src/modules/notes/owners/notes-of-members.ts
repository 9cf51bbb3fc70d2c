import { Injectable } from '@nestjs/common';
import type { MemberKey } from '../../../platform/context/request-context.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { inBatches } from '../../../platform/jobs/sweep.js';
import { PersonalData, PersonalDataSource } from '../../../platform/personal-data/personal-data.js';
import { personalRows } from '../../../platform/personal-data/personal-rows.js';
import { type ContentTransfer, MemberContent, RegisteredContent } from '../../tenants/index.js';
import { NotePlacementsRepository } from '../changes/note-placements.repository.js';
import { NoteRowsRepository } from '../changes/note-rows.repository.js';
import { transferNote } from '../model/sharing-rules.js';
import { Note } from '../notes.schema.js';

const lock = workspace.statement<{ user_id: string }>(
  'notes.lock_owned',
  `WITH locked AS (
     SELECT member_ids FROM notes WHERE tenant_id = $1 AND owner_id = $2 ORDER BY id FOR UPDATE)
   SELECT DISTINCT unnest(member_ids) AS user_id FROM locked`,
);

/** Notes that one statement transfers, well within its time limit. */
const BATCH = 500;

/** The notes that a member owns, for a transfer to another member. */
@Injectable()
export class NotesOfMembers extends RegisteredContent {
  constructor(
    contents: MemberContent,
    private readonly notes: NoteRowsRepository,
    private readonly placements: NotePlacementsRepository,
    private readonly outbox: Outbox,
  ) {
    super(contents, {
      kind: 'notes',
      order: 40,
      count: (reader, { tenantId, userId }) =>
        rowsOf(reader, Note).count({ tenant_id: tenantId, owner_id: userId }),
    });
  }

  async lock(tx: Tx, { ctx, from }: ContentTransfer): Promise<string[]> {
    return (await tx.query(lock, [ctx.tenantId, from])).map((row) => row.user_id);
  }

  /**
   * Share links end; invited members stay. Folders of the former owner have been transferred before: a note stays in its folder, unless
   * the new owner has placed it already.
   */
  async transfer(tx: Tx, { ctx, from, to }: ContentTransfer): Promise<number> {
    const { tenantId } = ctx;
    const [former, heir] = [from, to].map((userId) => ({ tenantId, userId })) as [MemberKey, MemberKey];
    this.outbox.notice(tx);
    const count = await inBatches(BATCH, async () => {
      const notes = await this.notes.lockOwned(tx, tenantId, from, BATCH);
      const ids = notes.map(({ id }) => id);
      const folders = await this.placements.folders(tx, former, ids);
      await this.notes.store(
        tx,
        ctx,
        notes.map((note) => ({ note, change: transferNote(note, to) })),
      );
      await this.placements.fill(tx, heir, folders);
      return notes.length;
    });
    // Notes of others, which the former owner had placed in folders that are now those of the new owner.
    for (const folder of await this.placements.foldersInUse(tx, former))
      await this.placements.move(tx, former, folder, null, null);
    return count;
  }
}

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
