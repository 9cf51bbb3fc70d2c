import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { directory } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { Session } from '../identity.schema.js';

/** A session in its owner's list. */
export type SessionRow = Pick<
  Session,
  | 'id'
  | 'tenant_id'
  | 'client_id'
  | 'created_at'
  | 'expires_at'
  | 'last_seen_at'
  | 'aal2_at'
  | 'user_agent'
  | 'ip'
>;

const COLUMNS = 'id, tenant_id, client_id, created_at, expires_at, last_seen_at, aal2_at, user_agent, ip';
const LIVE = 'revoked_at IS NULL AND expires_at > now()';

// Index: sessions_account.
const live = directory.statement<SessionRow>(
  'identity.live_sessions',
  `SELECT ${COLUMNS} FROM sessions WHERE account_id = $1 AND ${LIVE} AND activated_at IS NOT NULL
    ORDER BY id = $2 DESC, coalesce(last_seen_at, created_at) DESC, id DESC LIMIT $3`,
);

const liveIn = directory.statement<SessionRow>(
  'identity.live_sessions_in',
  `SELECT ${COLUMNS} FROM sessions WHERE account_id = $1 AND tenant_id = $2 AND ${LIVE}
    ORDER BY coalesce(last_seen_at, created_at) DESC, id DESC LIMIT $3`,
);

// Index: sessions_account.
const liveOf = directory.statement<Pick<Session, 'id' | 'account_id'>>(
  'identity.live_sessions_of_accounts',
  `SELECT id, account_id FROM sessions WHERE account_id = ANY ($1::uuid[]) AND ${LIVE}`,
);

const revokeIn = directory.statement<Pick<Session, 'id'>>(
  'identity.revoke_sessions_of_member',
  `UPDATE sessions SET revoked_at = now()
    WHERE account_id = $1 AND tenant_id = $2 AND ($3::uuid IS NULL OR id = $3) AND ${LIVE} RETURNING id`,
);

const aal2 = directory.statement<{ seconds: number | null }>(
  'identity.session_aal2',
  `SELECT extract(epoch FROM clock_timestamp() - aal2_at)::float8 AS seconds FROM sessions WHERE id = $1 AND ${LIVE}`,
);

const signIn = directory.statement<{ seconds: number }>(
  'identity.session_sign_in',
  `SELECT extract(epoch FROM clock_timestamp() - coalesce(signed_in_at, created_at))::float8 AS seconds
     FROM sessions WHERE id = $1 AND ${LIVE}`,
);

// Waits for a transaction that ends the session, and makes a later one wait.
const lockLive = directory.statement<Pick<Session, 'id'>>(
  'identity.lock_live_session',
  `SELECT id FROM sessions WHERE id = $1 AND ${LIVE} FOR SHARE`,
);

const setAal2 = directory.statement<Pick<Session, 'id'>>(
  'identity.raise_session',
  `UPDATE sessions SET aal2_at = now() WHERE id = $1 AND ${LIVE} RETURNING id`,
);

const revokeOne = directory.statement<Pick<Session, 'id'>>(
  'identity.revoke_session',
  `UPDATE sessions SET revoked_at = now() WHERE id = $2 AND account_id = $1 AND ${LIVE} RETURNING id`,
);

const revokeOthers = directory.statement<Pick<Session, 'id'>>(
  'identity.revoke_other_sessions',
  `UPDATE sessions SET revoked_at = now() WHERE account_id = $1 AND id IS DISTINCT FROM $2 AND ${LIVE} RETURNING id`,
);

const revokePending = directory.statement<Pick<Session, 'id'>>(
  'identity.revoke_pending_sessions',
  `UPDATE sessions SET revoked_at = now() WHERE account_id = $1 AND aal2_at IS NULL AND ${LIVE} RETURNING id`,
);

const clearAal2 = directory.statement<never>(
  'identity.lower_sessions',
  `UPDATE sessions SET aal2_at = NULL WHERE account_id = $1 AND aal2_at IS NOT NULL`,
);

const seen = directory.statement<never>(
  'identity.sessions_seen',
  `UPDATE sessions session SET last_seen_at = date_trunc('minute', given.at)
     FROM unnest($1::uuid[], $2::timestamptz[]) AS given (id, at)
    WHERE session.id = given.id
      AND (session.last_seen_at IS NULL OR session.last_seen_at < date_trunc('minute', given.at))`,
);

/** SQL of single sessions. */
@Injectable()
export class SessionsRepository {
  constructor(private readonly db: Db) {}

  /** Live sessions of an account: `current` first, then by last use. @param limit null: all */
  async listLive(accountId: string, current: string | null, limit: number | null): Promise<SessionRow[]> {
    return this.db.query(live, [accountId, current, limit]);
  }

  async liveIn(accountId: string, tenantId: string, limit: number): Promise<SessionRow[]> {
    return this.db.query(liveIn, [accountId, tenantId, limit]);
  }

  async liveOf(accountIds: readonly string[]): Promise<{ id: string; account_id: string }[]> {
    return this.db.query(liveOf, [accountIds]);
  }

  /** @param sessionId null: all @returns number of ended sessions */
  async revokeIn(tx: Tx, accountId: string, tenantId: string, sessionId: string | null): Promise<number> {
    return (await tx.query(revokeIn, [accountId, tenantId, sessionId])).length;
  }

  /** Seconds since the second factor was proven in this session; null: not proven, or the session has ended. */
  async aal2Age(sessionId: string): Promise<number | null> {
    return (await this.db.query(aal2, [sessionId]))[0]?.seconds ?? null;
  }

  /** Seconds since the sign-in of the session; null: unknown or ended session. */
  async signInAge(sessionId: string): Promise<number | null> {
    return (await this.db.query(signIn, [sessionId]))[0]?.seconds ?? null;
  }

  /** Prevents the end of the session until the transaction ends. @returns whether it was live */
  async lockLive(tx: Tx, sessionId: string): Promise<boolean> {
    return (await tx.query(lockLive, [sessionId])).length > 0;
  }

  /** Raises the session to AAL2. @returns whether it was live */
  async setAal2(tx: Tx, sessionId: string): Promise<boolean> {
    return (await tx.query(setAal2, [sessionId])).length > 0;
  }

  /** @returns whether it was live */
  async revokeOne(tx: Tx, accountId: string, sessionId: string): Promise<boolean> {
    return (await tx.query(revokeOne, [accountId, sessionId])).length > 0;
  }

  /** Ends all sessions except `except`; null: all. @returns ids of the ended sessions */
  async revokeOthers(tx: Tx, accountId: string, except: string | null): Promise<string[]> {
    return (await tx.query(revokeOthers, [accountId, except])).map((row) => row.id);
  }

  /** Ends the sessions that have not proven the second factor. @returns their ids */
  async revokePending(tx: Tx, accountId: string): Promise<string[]> {
    return (await tx.query(revokePending, [accountId])).map((row) => row.id);
  }

  /** Removes AAL2 from all sessions of the account. */
  async clearAal2(tx: Tx, accountId: string): Promise<void> {
    await tx.query(clearAal2, [accountId]);
  }

  /** @param times by session id */
  async saveSeen(tx: Tx, times: ReadonlyMap<string, Date>): Promise<void> {
    await tx.query(seen, [[...times.keys()], [...times.values()]]);
  }
}

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
      await this.db.single((tx) => this.sessions.saveSeen(tx, new Map(entries.slice(at, at + BATCH))));
  }
}
