import { Injectable } from '@nestjs/common';
import type { MemberKey } from '../../../platform/context/request-context.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { NoteMember } from '../notes.schema.js';

// Each note gets its own feed number of the user, whose counter the caller has locked. $5 NULL: all notes.
const move = workspace.statement<{ are_empty: boolean }>(
  'notes.move_batch',
  `WITH placed AS MATERIALIZED (
     SELECT listed.note_id, row_number() OVER (ORDER BY listed.seq) AS place FROM (
       SELECT note_id, seq FROM note_members
        WHERE tenant_id = $1 AND user_id = $2 AND folder_id = $3 ORDER BY seq LIMIT $5) listed),
   total AS (SELECT count(*) AS count FROM placed),
   numbered AS (
     UPDATE sync_heads SET head = head + total.count FROM total
      WHERE tenant_id = $1 AND user_id = $2 AND total.count > 0 RETURNING head),
   moved AS (
     UPDATE note_members member SET folder_id = $4, seq = numbered.head - total.count + placed.place, device_id = NULL
       FROM placed, total, numbered
      WHERE member.tenant_id = $1 AND member.user_id = $2 AND member.note_id = placed.note_id)
   SELECT coalesce(total.count < $5, true) AS are_empty FROM total`,
);

const owned = workspace.statement<Pick<NoteMember, 'note_id'>>(
  'notes.owned_in_folders',
  `SELECT note_id FROM note_members
    WHERE tenant_id = $1 AND user_id = $2 AND role = 'owner' AND NOT trashed AND folder_id = ANY ($3::uuid[])
    ORDER BY note_id LIMIT $4`,
);

const folders = workspace.statement<Pick<NoteMember, 'note_id'> & { folder_id: string }>(
  'notes.folders',
  `SELECT note_id, folder_id FROM note_members
    WHERE tenant_id = $1 AND user_id = $2 AND note_id = ANY ($3::uuid[]) AND folder_id IS NOT NULL`,
);

const used = workspace.statement<{ folder_id: string }>(
  'notes.folders_in_use',
  `SELECT DISTINCT folder_id FROM note_members WHERE tenant_id = $1 AND user_id = $2 AND folder_id IS NOT NULL`,
);

const fill = workspace.statement<never>(
  'notes.fill_folders',
  `UPDATE note_members member SET folder_id = placed.folder_id
     FROM unnest($3::uuid[], $4::uuid[]) AS placed (note_id, folder_id)
    WHERE member.tenant_id = $1 AND member.user_id = $2 AND member.note_id = placed.note_id AND member.folder_id IS NULL`,
);

const clear = workspace.statement<never>(
  'notes.clear_folders',
  `UPDATE note_members SET folder_id = NULL WHERE tenant_id = $1 AND user_id = $2 AND note_id = ANY ($3::uuid[])`,
);

const isOwn = workspace.statement<{ id: string }>(
  'notes.own_folder',
  `SELECT id FROM live_note_folders WHERE tenant_id = $1 AND owner_id = $2 AND id = $3`,
);

const place = workspace.statement<never>(
  'notes.place',
  `UPDATE note_members SET folder_id = $4, seq = $5, device_id = $6 WHERE tenant_id = $1 AND user_id = $2 AND note_id = $3`,
);

/** The folders in which users file notes. */
@Injectable()
export class NotePlacementsRepository {
  /**
   * Files the notes of one folder in another one. The counter of the user is locked.
   * @param to null: in none @param max null: all
   * @returns whether the folder is empty
   */
  async move(
    tx: Tx,
    { tenantId, userId }: MemberKey,
    from: string,
    to: string | null,
    max: number | null,
  ): Promise<boolean> {
    return (await tx.query(move, [tenantId, userId, from, to, max]))[0]!.are_empty;
  }

  /** Finds up to `max` notes of the user, outside of the trash, in the folders. */
  async findOwned(
    tx: Tx,
    { tenantId, userId }: MemberKey,
    inFolders: readonly string[],
    max: number,
  ): Promise<string[]> {
    const rows = await tx.query(owned, [tenantId, userId, inFolders, max]);
    return rows.map((row) => row.note_id);
  }

  /** The folders of notes, by note. */
  async folders(
    tx: Tx,
    { tenantId, userId }: MemberKey,
    notes: readonly string[],
  ): Promise<Map<string, string>> {
    const rows = await tx.query(folders, [tenantId, userId, notes]);
    return new Map(rows.map((row) => [row.note_id, row.folder_id]));
  }

  /** The folders in which the user has notes. */
  async foldersInUse(tx: Tx, { tenantId, userId }: MemberKey): Promise<string[]> {
    return (await tx.query(used, [tenantId, userId])).map((row) => row.folder_id);
  }

  /** Files notes that the user has in no folder, without feed numbers: those of the transaction count. */
  async fill(
    tx: Tx,
    { tenantId, userId }: MemberKey,
    placements: ReadonlyMap<string, string>,
  ): Promise<void> {
    await tx.query(fill, [tenantId, userId, [...placements.keys()], [...placements.values()]]);
  }

  /** Takes notes out of their folders, without feed numbers. */
  async clear(tx: Tx, { tenantId, userId }: MemberKey, notes: readonly string[]): Promise<void> {
    await tx.query(clear, [tenantId, userId, notes]);
  }

  async isOwnFolder(tx: Tx, { tenantId, userId }: MemberKey, folder: string): Promise<boolean> {
    return (await tx.query(isOwn, [tenantId, userId, folder])).length > 0;
  }

  /** Files one note in a folder, or in none. @param placement.number of the feed of the user */
  async place(
    tx: Tx,
    { tenantId, userId }: MemberKey,
    {
      note,
      folder,
      number,
      device,
    }: { note: string; folder: string | null; number: number; device?: string | undefined },
  ): Promise<void> {
    await tx.query(place, [tenantId, userId, note, folder, number, device ?? null]);
  }
}
