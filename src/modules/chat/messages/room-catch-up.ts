import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { FanoutRepository } from './fanout.repository.js';
import { RoomFanout } from './room-fanout.js';
import { RoomStates } from './room-states.js';

/** Seconds between two comparisons. */
const EVERY_SECONDS = 30;
/** A row may become visible this long after its time: the limit of a transaction. */
const OVERLAP_SECONDS = 60;
/** Rooms of one statement. */
const BATCH = 2_000;

/**
 * Finds changes of rooms whose report was lost, because the process that made them ended between the commit and the report. Each
 * process compares the rooms that it has delivered with their rows, and reads the members who joined since the last comparison.
 */
@Injectable()
export class RoomCatchUp implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(RoomCatchUp.name);
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private lastRun = performance.now();

  constructor(
    private readonly fanout: RoomFanout,
    private readonly states: RoomStates,
    private readonly repository: FanoutRepository,
  ) {}

  onApplicationBootstrap(): void {
    const run = () =>
      this.run().catch((error: unknown) =>
        this.logger.warn({ err: error }, 'rooms not compared; repeated later'),
      );
    this.timer = setInterval(() => void run(), EVERY_SECONDS * 1_000).unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    await this.running?.catch(() => undefined);
  }

  /** Delivers the changes that this process has missed. */
  run(): Promise<void> {
    this.running ??= this.compare().finally(() => (this.running = undefined));
    return this.running;
  }

  private async compare(): Promise<void> {
    const started = performance.now();
    const heads = this.states.heads();
    for (let at = 0; at < heads.length; at += BATCH) {
      for (const row of await this.repository.behind(heads.slice(at, at + BATCH))) {
        const room = { tenant: row.tenant_id, room: row.room_id };
        if (row.mod_seq === null) this.fanout.deleted(room);
        else this.fanout.changed(room, row.mod_seq);
      }
    }
    await this.addRecent((started - this.lastRun) / 1_000 + OVERLAP_SECONDS);
    this.lastRun = started;
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
