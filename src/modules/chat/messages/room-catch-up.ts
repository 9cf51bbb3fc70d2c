import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { CatchUp } from '../../../platform/realtime/catch-up.js';
import { FanoutRepository } from './fanout.repository.js';
import { RoomFanout } from './room-fanout.js';
import { RoomStates } from './room-states.js';

/** Rooms of one statement. */
const BATCH = 2_000;

/** Finds lost changes: compares the delivered rooms with their rows, and reads the members who joined since the last comparison. */
@Injectable()
export class RoomCatchUp implements OnModuleInit {
  constructor(
    private readonly catchUp: CatchUp,
    private readonly fanout: RoomFanout,
    private readonly states: RoomStates,
    private readonly repository: FanoutRepository,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.catchUp.register('rooms', (seconds) => this.compare(seconds));
  }

  private async compare(seconds: number): Promise<void> {
    const heads = await this.db.ofCurrentCell(this.states.heads(), ({ tenant }) => tenant);
    for (let at = 0; at < heads.length; at += BATCH) {
      for (const row of await this.repository.behind(heads.slice(at, at + BATCH))) {
        const room = { tenant: row.tenant_id, room: row.room_id };
        if (row.mod_seq === null) this.fanout.deleted(room);
        else this.fanout.changed(room, row.mod_seq);
      }
    }
    await this.addRecent(seconds);
  }

  /** Reports rooms to their new members, unless this process delivers the room already. */
  private async addRecent(seconds: number): Promise<void> {
    if (this.states.isIdle) return;
    const found = await this.repository.recentMembers(seconds);
    const rooms = Map.groupBy(found, ({ tenant_id, room_id }) => `${tenant_id} ${room_id}`);
    for (const members of rooms.values()) {
      const [{ tenant_id: tenant, room_id: room, mod_seq: modSeq }] = members as [(typeof members)[0]];
      if (this.states.get({ tenant, room })) continue;
      const users = members.map(({ user_id }) => user_id);
      this.fanout.added({ tenant, room }, users, modSeq);
    }
  }
}
