import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { SessionsRepository } from './sessions.repository.js';

const FLUSH_MS = 60_000;
/** Sessions written in one statement. */
const BATCH = 2_000;

/** Records the last use of sessions in memory and writes it once a minute, so that requests do not write. */
@Injectable()
export class SessionActivity implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(SessionActivity.name);
  private seen = new Map<string, Date>();
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> | undefined;
  private round = 0;

  constructor(
    private readonly sessions: SessionsRepository,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.timer = setInterval(() => {
      this.writing ??= this.flush()
        .catch((error: unknown) => this.logger.warn({ err: error }, 'last use of sessions not written'))
        .finally(() => (this.writing = undefined));
    }, FLUSH_MS);
    this.timer.unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    await this.writing;
    await this.flush().catch(() => undefined);
  }

  /** Changes with each flush. A caller stores it to know whether it has recorded a session since the last flush. */
  get period(): number {
    return this.round;
  }

  record(sessionId: string): void {
    this.seen.set(sessionId, new Date());
  }

  /** Writes the recorded times. A failed write is lost: the times are informational. */
  async flush(): Promise<void> {
    const entries = [...this.seen].toSorted(([a], [b]) => (a < b ? -1 : 1));
    this.seen = new Map();
    this.round += 1;
    for (let at = 0; at < entries.length; at += BATCH)
      await this.db.single((tx) => this.sessions.seen(tx, new Map(entries.slice(at, at + BATCH))));
  }
}
