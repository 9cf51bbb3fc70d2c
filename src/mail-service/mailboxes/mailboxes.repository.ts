import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { errorCode } from '../../platform/database/database-errors.js';
import { QUOTAS } from '../../platform/quotas/quotas.js';
import { mailService } from '../mail-service.schema.js';

/** A mailbox; int8 columns are text. */
export interface Mailbox {
  id: string;
  path: string;
  special_use: string | null;
  subscribed: boolean;
  hidden: boolean;
  encrypt_messages: boolean;
  retention: string | null;
  modify_index: string;
  total: string;
  unseen: string;
  size: string;
}

export interface MailboxChange {
  path?: string;
  retention?: number;
  subscribed?: boolean;
  hidden?: boolean;
  encryptMessages?: boolean;
}

/** Messages that one statement deletes. */
const DELETED_AT_ONCE = 5_000;

const COLUMNS =
  'id, path, special_use, subscribed, hidden, encrypt_messages, retention, modify_index, total, unseen, size';

const list = mailService.statement<Mailbox>(
  'mailboxes.list',
  `SELECT ${COLUMNS} FROM mailboxes WHERE user_id = $1 AND (NOT hidden OR $2)
   ORDER BY special_use IS DISTINCT FROM '\\Inbox', path`,
);
const find = mailService.statement<Mailbox>(
  'mailboxes.find',
  `SELECT ${COLUMNS} FROM mailboxes WHERE user_id = $1 AND id = $2`,
);
const findByPath = mailService.statement<Mailbox>(
  'mailboxes.find_by_path',
  `SELECT ${COLUMNS} FROM mailboxes
   WHERE user_id = $1 AND (path = $2 OR (special_use = '\\Inbox' AND upper($2) = 'INBOX'))`,
);
const insert = mailService.statement<Mailbox>(
  'mailboxes.insert',
  `INSERT INTO mailboxes (user_id, id, path, hidden, retention, encrypt_messages) VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`,
);
/** Concurrent creations wait for each other, so that together they do not pass the limit. */
const lockCreation = mailService.statement<never>(
  'mailboxes.lock_creation',
  `SELECT pg_advisory_xact_lock(hashtextextended('mailboxes of ' || $1::text, 0))`,
);
const count = mailService.statement<{ count: number }>(
  'mailboxes.count',
  `SELECT count(*)::int AS count FROM mailboxes WHERE user_id = $1`,
);
const lock = mailService.statement<Pick<Mailbox, 'path' | 'retention'>>(
  'mailboxes.lock',
  `SELECT path, retention FROM mailboxes WHERE user_id = $1 AND id = $2 FOR UPDATE`,
);
const update = mailService.statement<never>(
  'mailboxes.update',
  `UPDATE mailboxes SET path = coalesce($3, path), retention = coalesce($4::bigint, retention),
     subscribed = coalesce($5, subscribed), hidden = coalesce($6, hidden),
     encrypt_messages = coalesce($7, encrypt_messages)
   WHERE user_id = $1 AND id = $2`,
);
/** Child mailboxes move with their parent, whose new path may be below its former path. */
const renameBelow = mailService.statement<never>(
  'mailboxes.rename_below',
  `UPDATE mailboxes SET path = $4 || substr(path, length($3) + 1)
   WHERE user_id = $1 AND id <> $2 AND left(path, length($3) + 1) = $3 || '/'`,
);
/** In WildDuck a new retention applies to later messages only. Here a longer one also applies to earlier messages. */
const expireLater = mailService.statement<never>(
  'mailboxes.expire_later',
  `UPDATE messages SET expires_at = CASE WHEN $3::bigint > 0 THEN greatest(expires_at, expiry_of($3)) END
   WHERE user_id = $1 AND mailbox_id = $2 AND expires_at IS NOT NULL`,
);
const empty = mailService.statement<never>(
  'mailboxes.empty',
  `SELECT delete_messages($1, $2, NULL, NULL, NULL)`,
);
/** 100,000 messages take seconds, in which no mail of the user can be stored; the time limit of a statement is near. */
const deleteOldest = mailService.statement<{ deleted: string }>(
  'mailboxes.delete_oldest',
  `SELECT delete_messages($1, $2, '{}', 0, (SELECT max(uid) FROM (
     SELECT uid FROM messages WHERE user_id = $1 AND mailbox_id = $2 ORDER BY uid LIMIT ${DELETED_AT_ONCE}) AS oldest)) AS deleted`,
);
const remove = mailService.statement<{ id: string }>(
  'mailboxes.remove',
  `DELETE FROM mailboxes WHERE user_id = $1 AND id = $2 RETURNING id`,
);
const findChild = mailService.statement<{ id: string }>(
  'mailboxes.find_child',
  `SELECT child.id FROM mailboxes AS parent
   JOIN mailboxes AS child ON child.user_id = parent.user_id
     AND left(child.path, length(parent.path) + 1) = parent.path || '/'
   WHERE parent.user_id = $1 AND parent.id = $2 LIMIT 1`,
);
const userExists = mailService.statement<{ id: string }>(
  'mailboxes.user_exists',
  `SELECT id FROM users WHERE id = $1`,
);

/** Reasons why PostgreSQL rejects a path: another mailbox has it, or it does not fit into the index. */
const PATH_REJECTIONS = { '23505': 'taken', '54000': 'too_long' } as const;
export type PathRejection = (typeof PATH_REJECTIONS)[keyof typeof PATH_REJECTIONS];

/** SQL of mailboxes. */
@Injectable()
export class MailboxesRepository {
  constructor(private readonly db: Db) {}

  async list(userId: string, hidden: boolean): Promise<Mailbox[]> {
    return this.db.query(list, [userId, hidden]);
  }

  async find(userId: string, id: string): Promise<Mailbox | undefined> {
    return (await this.db.query(find, [userId, id]))[0];
  }

  async findByPath(userId: string, path: string): Promise<Mailbox | undefined> {
    return (await this.db.query(findByPath, [userId, path]))[0];
  }

  async hasUser(userId: string): Promise<boolean> {
    return (await this.db.query(userExists, [userId])).length > 0;
  }

  async create(
    userId: string,
    id: string,
    box: MailboxChange & { path: string },
  ): Promise<Mailbox | PathRejection | 'too_many'> {
    const { path, hidden = false, retention = null, encryptMessages = false } = box;
    const values = [userId, id, path, hidden, retention, encryptMessages];
    const work = this.db.tx(async (tx) => {
      await tx.query(lockCreation, [userId]);
      const [stored] = await tx.query(count, [userId]);
      if ((stored?.count ?? 0) >= QUOTAS.user.mailboxes) return 'too_many';
      return (await tx.query(insert, values))[0] ?? 'taken';
    });
    return work.catch(rejectionOf);
  }

  async update(userId: string, id: string, change: MailboxChange): Promise<'ok' | 'gone' | PathRejection> {
    const {
      path = null,
      retention = null,
      subscribed = null,
      hidden = null,
      encryptMessages = null,
    } = change;
    const values = [userId, id, path, retention, subscribed, hidden, encryptMessages];
    const work = this.db.tx(async (tx) => {
      const [before] = await tx.query(lock, [userId, id]);
      if (!before) return 'gone';
      await tx.query(update, values);
      if (path !== null) await tx.query(renameBelow, [userId, id, before.path, path]);
      if (retention !== null && retention !== Number(before.retention))
        await tx.query(expireLater, [userId, id, retention]);
      return 'ok';
    });
    return work.catch(rejectionOf);
  }

  /** True when other mailboxes are below this one. */
  async hasChildren(userId: string, id: string): Promise<boolean> {
    return (await this.db.query(findChild, [userId, id])).length > 0;
  }

  /**
   * Deletes the mailbox with all messages, first most of these in batches. After an error, a repeated call deletes the others.
   * @returns false for an unknown mailbox
   */
  async remove(userId: string, id: string): Promise<boolean> {
    for (let isMore = true; isMore;) {
      const [row] = await this.db.single((tx) => tx.query(deleteOldest, [userId, id]));
      isMore = Number(row?.deleted ?? 0) > 0;
    }
    return this.db.tx(async (tx) => {
      await tx.query(empty, [userId, id]);
      return (await tx.query(remove, [userId, id])).length > 0;
    });
  }
}

/** @throws the error unless it rejects a path */
function rejectionOf(error: unknown): PathRejection {
  const rejection = PATH_REJECTIONS[errorCode(error) as keyof typeof PATH_REJECTIONS] as
    | PathRejection
    | undefined;
  if (rejection === undefined) throw error;
  return rejection;
}
