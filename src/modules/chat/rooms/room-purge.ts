import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';

/** Messages of a deleted room that one statement deletes. */
const BATCH = 5_000;

interface DeletedRoom {
  tenant_id: string;
  id: string;
}

// The rooms that another process purges are skipped. Index: chat_rooms_deleted.
const next = workspace.statement<DeletedRoom>(
  'chat_rooms.purge',
  `SELECT tenant_id, id FROM chat_rooms WHERE deleted_at IS NOT NULL ORDER BY deleted_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
  { reach: 'cell' },
);

const deleteMessages = workspace.statement<{ count: number }>(
  'chat_rooms.purge_messages',
  `WITH purged AS (
     DELETE FROM chat_messages message
      WHERE message.tenant_id = $1 AND message.room_id = $2 AND message.seq IN (
        SELECT seq FROM chat_messages WHERE tenant_id = $1 AND room_id = $2 ORDER BY seq LIMIT $3) RETURNING seq)
   SELECT count(*)::int AS count FROM purged`,
);

const deleteMembers = workspace.statement<never>(
  'chat_rooms.purge_members',
  `DELETE FROM chat_members WHERE tenant_id = $1 AND room_id = $2`,
);

const deleteRoom = workspace.statement<never>(
  'chat_rooms.purge_room',
  `DELETE FROM chat_rooms WHERE tenant_id = $1 AND id = $2`,
);

/** Deletes the content of deleted rooms in batches, then the rooms, the earliest deletion first. */
@Injectable()
export class RoomPurge implements OnModuleInit {
  constructor(
    private readonly jobs: PeriodicJobs,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'chat.purge-rooms', everySeconds: 60, run: () => this.run() });
  }

  async run(): Promise<void> {
    while (await this.purgeNext());
  }

  /** Deletes messages of one room of the current cell, or a room without messages. @returns whether there was one */
  private async purgeNext(): Promise<boolean> {
    return this.db.tx(async (tx) => {
      const rooms = await tx.query(next, []);
      for (const { tenant_id, id } of rooms) {
        const key = [tenant_id, id];
        const [deleted] = await tx.query(deleteMessages, [...key, BATCH]);
        if (deleted!.count > 0) continue;
        await tx.query(deleteMembers, key);
        await tx.query(deleteRoom, key);
      }
      return rooms.length > 0;
    });
  }
}
