import { randomInt } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import type pg from 'pg';
import { PrimaryClient } from '../../platform/database/connections/primary-client.js';
import { MailSettings } from '../mail-settings.js';
import { MAIL_SCHEMA } from '../mail-service.schema.js';

/** First key of the advisory locks of queue workers; the second is the worker's number. */
export const WORKER_LOCKS = 770_611;
export const LEASE_SECONDS = 60;
const HEARTBEAT_MS = 20_000;
const CONNECT_TIMEOUT_MS = 5_000;

/**
 * The identity of this process as a queue worker. A separate session holds an advisory lock, which PostgreSQL releases when the
 * process dies, so that other workers take over its entries at once. If a machine disappears without closing its connections,
 * the leases of its entries expire, because the heartbeats are missing.
 */
@Injectable()
export class QueueLease {
  readonly worker = randomInt(1, 2 ** 31 - 1);
  private readonly logger = new Logger(QueueLease.name);
  private session: pg.Client | undefined;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;
  /** Claimed entries in progress: only their leases are extended. */
  readonly inProgress = new Set<readonly { id: string }[]>();

  constructor(private readonly settings: MailSettings) {}

  /** False while the worker has no session: it must not claim entries then. */
  get isHeld(): boolean {
    return this.session !== undefined;
  }

  async start(): Promise<void> {
    this.timer = setInterval(() => void this.beat(), HEARTBEAT_MS).unref();
    await this.beat();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    await this.end(this.session);
  }

  private async beat(): Promise<void> {
    let { session } = this;
    try {
      session ??= await this.open();
      const ids = [...this.inProgress].map(([entry]) => entry?.id);
      await session.query(
        `UPDATE queue SET leased_until = now() + make_interval(secs => $2) WHERE worker = $1 AND id = ANY ($3::text[])`,
        [this.worker, LEASE_SECONDS, ids],
      );
      if (this.stopped) await this.end(session);
      else this.session = session;
    } catch (error) {
      this.logger.warn({ err: error }, 'the queue lease could not be extended');
      // A session that stays open keeps the lock, for which the next one would wait.
      await this.end(session);
    }
  }

  private async open(): Promise<pg.Client> {
    const session = new PrimaryClient({
      connectionString: this.settings.databaseUrl,
      session: { search_path: MAIL_SCHEMA },
      application_name: 'workspace mail queue',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: HEARTBEAT_MS,
      keepAlive: true,
    });
    session.on('error', () => void this.end(session));
    try {
      await session.connect();
      await session.query('SELECT pg_advisory_lock($1, $2)', [WORKER_LOCKS, this.worker]);
      return session;
    } catch (error) {
      await session.end().catch(() => undefined);
      throw error;
    }
  }

  private async end(session: pg.Client | undefined): Promise<void> {
    if (this.session === session) this.session = undefined;
    await session?.end().catch(() => undefined);
  }
}
