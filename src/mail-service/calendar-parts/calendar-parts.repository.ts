import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { deletion, type Sweep } from '../../platform/jobs/sweep.js';
import { mailService } from '../mail-service.schema.js';

export interface CalendarPartRow {
  id: string;
  user_id: string;
  mailbox_id: string;
  uid: string;
  message_id: string;
  sender: string;
  method: string | null;
  content: Buffer | null;
  /** The workspace may not know the account yet. */
  is_new: boolean;
}

const list = mailService.statement<CalendarPartRow>(
  'calendar_parts.list',
  `SELECT id, user_id, mailbox_id, uid, message_id, sender, method, content,
          arrived_at > now() - interval '10 minutes' AS is_new
     FROM calendar_parts WHERE id > $1 ORDER BY id LIMIT $2`,
);
const remove = mailService.statement<{ id: string }>(
  'calendar_parts.remove',
  `DELETE FROM calendar_parts WHERE id = ANY ($1::bigint[]) RETURNING id`,
);
/** Calendars that the workspace has not read. */
export const purgeCalendarParts: Sweep = mailService.statement(
  'calendar_parts.purge',
  deletion('calendar_parts', `arrived_at < now() - interval '30 days'`),
);

/** Calendars of received messages. */
@Injectable()
export class CalendarPartsRepository {
  constructor(private readonly db: Db) {}

  /** The oldest ones after an id. */
  async list(after: number, limit: number): Promise<CalendarPartRow[]> {
    return this.db.query(list, [after, limit]);
  }

  /** @returns the number of deleted rows */
  async remove(ids: readonly number[]): Promise<number> {
    return (await this.db.single((tx) => tx.query(remove, [ids]))).length;
  }
}
