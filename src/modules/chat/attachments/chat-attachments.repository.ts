import { Injectable } from '@nestjs/common';
import type { StoredBlob, StoredFile } from '../../../platform/blobs/blobs.js';
import type { ReceivedFile } from '../../../platform/blobs/uploads/uploads.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { deletion, type Sweep } from '../../../platform/jobs/sweep.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { ATTACHMENT } from '../changes/message-files.js';
import type { RoomGuest } from '../room-guest.js';

interface StoredChatFile extends StoredFile {
  /** Null: the file has no thumbnail. */
  thumbnail_id: string | null;
  thumbnail_size: number | null;
  /** Hexadecimal. */
  thumbnail_sha256: string | null;
}

const insert = workspace.statement<{ attachment: string }>(
  'chat_attachments.insert',
  `INSERT INTO chat_attachments AS file
          (tenant_id, id, owner_id, blob_id, name, size, content_type, sha256, thumbnail_id, thumbnail_size, thumbnail_sha256)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING ${ATTACHMENT}::text AS attachment`,
);

// Index: chat_attachments_unsent.
const countUnsent = workspace.statement<{ count: number }>(
  'chat_attachments.count_unsent',
  `SELECT count(*)::int AS count FROM chat_attachments WHERE tenant_id = $1 AND owner_id = $2 AND room_id IS NULL`,
);

const lockUnsent = workspace.lock('chat_attachments.lock_unsent', 'chat attachments', 2);

const COLUMNS = `file.blob_id, file.name, file.size::float8 AS size, file.content_type, encode(file.sha256, 'hex') AS sha256,
          file.thumbnail_id, file.thumbnail_size::float8 AS thumbnail_size,
          encode(file.thumbnail_sha256, 'hex') AS thumbnail_sha256`;

// The owner can read an unsent file, the members of the room a sent one.
const find = workspace.statement<StoredChatFile>(
  'chat_attachments.find',
  `SELECT ${COLUMNS}
     FROM chat_attachments file
    WHERE file.tenant_id = $1 AND file.id = $3
      AND CASE WHEN file.room_id IS NULL THEN file.owner_id = $2 ELSE EXISTS (
        SELECT FROM chat_members member
          JOIN chat_rooms room ON room.tenant_id = $1 AND room.id = member.room_id AND room.deleted_at IS NULL
         WHERE member.tenant_id = $1 AND member.room_id = file.room_id AND member.user_id = $2) END`,
);

const findForGuest = workspace.statement<StoredChatFile>(
  'chat_attachments.find_for_guest',
  `SELECT ${COLUMNS}
     FROM chat_attachments file
    WHERE file.tenant_id = $1 AND file.id = $3
      AND CASE WHEN file.room_id IS NULL THEN file.owner_id = $2
               ELSE file.room_id = $4 AND (file.message_seq > $5 OR file.owner_id = $2) END`,
);

// Index: chat_attachments_due. Until it is sent, a file is kept for 24 hours.
export const deleteUnsent: Sweep = workspace.statement(
  'chat_attachments.sweep',
  deletion('chat_attachments', `room_id IS NULL AND created_at < now() - interval '24 hours'`),
  { reach: 'cell' },
);

/** SQL of files of messages. A trigger releases the blobs of deleted rows. */
@Injectable()
export class ChatAttachmentsRepository {
  constructor(private readonly db: Db) {}

  /** Serialises the uploads of the caller until the end of the transaction. */
  async lockUnsent(tx: Tx, { tenantId, userId }: RequestContext): Promise<void> {
    await tx.query(lockUnsent, [tenantId, userId]);
  }

  async countUnsent(reader: Reader, { tenantId, userId }: RequestContext): Promise<number> {
    return (await reader.query(countUnsent, [tenantId, userId]))[0]?.count ?? 0;
  }

  /** @returns JSON of the attachment */
  async insert(
    tx: Tx,
    { tenantId, userId }: RequestContext,
    id: string,
    { blobId, name, size, contentType, sha256 }: ReceivedFile,
    thumbnail: StoredBlob | undefined,
  ): Promise<string> {
    const small = [thumbnail?.id ?? null, thumbnail?.size ?? null, thumbnail?.sha256 ?? null];
    const values = [tenantId, id, userId, blobId, name, size, contentType, sha256, ...small];
    const [row] = await tx.query(insert, values);
    return row?.attachment as string;
  }

  async find({ tenantId, userId }: RequestContext, id: string): Promise<StoredChatFile | undefined> {
    return (await this.db.query(find, [tenantId, userId, id]))[0];
  }

  /** The caller has checked the access of the guest to the room. */
  async findForGuest(
    { tenantId, guestId, roomId, afterSeq }: RoomGuest,
    id: string,
  ): Promise<StoredChatFile | undefined> {
    return (await this.db.query(findForGuest, [tenantId, guestId, id, roomId, afterSeq]))[0];
  }
}
