import { Injectable } from '@nestjs/common';
import type { MemberKey } from '../../../platform/context/request-context.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';

/** JSON of a row `file`: a message stores that of its attachments. */
export const ATTACHMENT = `json_build_object(
    'id', file.id, 'name', file.name, 'size', file.size, 'content_type', file.content_type,
    'sha256', encode(file.sha256, 'hex'), 'url', '/apis/v1/chat/attachments/' || file.id,
    'thumbnail_url', CASE WHEN file.thumbnail_id IS NOT NULL THEN '/apis/v1/chat/attachments/' || file.id || '/thumbnail' END)`;

// In the order of the ids, so that messages with the same files do not wait for each other.
const lockUnsent = workspace.statement<{ id: string; attachment: object }>(
  'chat_attachments.lock_unsent_files',
  `SELECT file.id, ${ATTACHMENT} AS attachment FROM chat_attachments file
    WHERE file.tenant_id = $1 AND file.owner_id = $2 AND file.room_id IS NULL AND file.id = ANY ($3::uuid[])
    ORDER BY file.id FOR UPDATE`,
);

const markSent = workspace.statement<never>(
  'chat_attachments.mark_sent',
  `UPDATE chat_attachments SET room_id = $2, message_seq = $3 WHERE tenant_id = $1 AND id = ANY ($4::uuid[])`,
);

// Index: chat_attachments_message.
const deleteSent = workspace.statement<never>(
  'chat_attachments.delete_sent',
  `DELETE FROM chat_attachments WHERE tenant_id = $1 AND room_id = $2 AND message_seq = $3`,
);

/** The files of messages that are written. */
@Injectable()
export class MessageFiles {
  /** Locks the files among these that the user has uploaded and not sent. @returns their JSON, by id */
  async lockUnsent(
    tx: Tx,
    { tenantId, userId }: MemberKey,
    ids: readonly string[],
  ): Promise<Map<string, object>> {
    const rows = await tx.query(lockUnsent, [tenantId, userId, ids]);
    return new Map(rows.map(({ id, attachment }) => [id, attachment]));
  }

  /** Makes locked files part of a message. */
  async markSent(
    tx: Tx,
    { tenantId }: MemberKey,
    roomId: string,
    seq: number,
    ids: readonly string[],
  ): Promise<void> {
    if (ids.length > 0) await tx.query(markSent, [tenantId, roomId, seq, ids]);
  }

  /** Deletes the files of a message. */
  async deleteSent(tx: Tx, { tenantId }: MemberKey, roomId: string, seq: number): Promise<void> {
    await tx.query(deleteSent, [tenantId, roomId, seq]);
  }
}
