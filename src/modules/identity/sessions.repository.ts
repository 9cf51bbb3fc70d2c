import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { directory } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';

/** A session as its owner sees it. */
export interface SessionRow {
  id: string;
  tenant_id: string | null;
  client_id: string;
  created_at: Date;
  expires_at: Date;
  last_seen_at: Date | null;
  aal2_at: Date | null;
  user_agent: string | null;
  ip: string | null;
}

const COLUMNS = 'id, tenant_id, client_id, created_at, expires_at, last_seen_at, aal2_at, user_agent, ip';
const LIVE = 'revoked_at IS NULL AND expires_at > now()';

// Index: sessions_account.
const live = directory.statement<SessionRow>(
  'identity.live_sessions',
  `SELECT ${COLUMNS} FROM sessions WHERE account_id = $1 AND ${LIVE}
    ORDER BY id = $2 DESC, coalesce(last_seen_at, created_at) DESC, id DESC LIMIT $3`,
);

const aal2 = directory.statement<{ seconds: number | null }>(
  'identity.session_aal2',
  `SELECT extract(epoch FROM clock_timestamp() - aal2_at)::float8 AS seconds FROM sessions WHERE id = $1`,
);

const raise = directory.statement<never>(
  'identity.raise_session',
  `UPDATE sessions SET aal2_at = now() WHERE id = $1`,
);

const revokeOne = directory.statement<{ id: string }>(
  'identity.revoke_session',
  `UPDATE sessions SET revoked_at = now() WHERE id = $2 AND account_id = $1 AND ${LIVE} RETURNING id`,
);

const revokeOthers = directory.statement<{ id: string }>(
  'identity.revoke_other_sessions',
  `UPDATE sessions SET revoked_at = now() WHERE account_id = $1 AND id IS DISTINCT FROM $2 AND ${LIVE} RETURNING id`,
);

const revokePending = directory.statement<{ id: string }>(
  'identity.revoke_pending_sessions',
  `UPDATE sessions SET revoked_at = now() WHERE account_id = $1 AND aal2_at IS NULL AND ${LIVE} RETURNING id`,
);

const lower = directory.statement<never>(
  'identity.lower_sessions',
  `UPDATE sessions SET aal2_at = NULL WHERE account_id = $1 AND aal2_at IS NOT NULL`,
);

const seen = directory.statement<never>(
  'identity.sessions_seen',
  `UPDATE sessions s SET last_seen_at = date_trunc('minute', g.at)
     FROM unnest($1::uuid[], $2::timestamptz[]) AS g (id, at)
    WHERE s.id = g.id AND (s.last_seen_at IS NULL OR s.last_seen_at < date_trunc('minute', g.at))`,
);

/** All SQL on single sessions. */
@Injectable()
export class SessionsRepository {
  constructor(private readonly db: Db) {}

  /** The live sessions of an account: `first` first, then by last use. */
  async live(accountId: string, first: string | null, limit: number): Promise<SessionRow[]> {
    return this.db.query(live, [accountId, first, limit]);
  }

  /** Seconds since the second factor was proven in this session; null: it was not. */
  async aal2Age(sessionId: string): Promise<number | null> {
    return (await this.db.query(aal2, [sessionId]))[0]?.seconds ?? null;
  }

  /** The second factor has been proven in this session. */
  async raise(tx: Tx, sessionId: string): Promise<void> {
    await tx.query(raise, [sessionId]);
  }

  /** @returns whether it was live */
  async revokeOne(tx: Tx, accountId: string, sessionId: string): Promise<boolean> {
    return (await tx.query(revokeOne, [accountId, sessionId])).length > 0;
  }

  /** @param except this one stays; null: none does @returns those that ended */
  async revokeOthers(tx: Tx, accountId: string, except: string | null): Promise<string[]> {
    return (await tx.query(revokeOthers, [accountId, except])).map((row) => row.id);
  }

  /** Ends the sessions that have not proven the second factor. @returns those that ended */
  async revokePending(tx: Tx, accountId: string): Promise<string[]> {
    return (await tx.query(revokePending, [accountId])).map((row) => row.id);
  }

  /** What the sessions have proven was about a factor that is gone. */
  async lower(tx: Tx, accountId: string): Promise<void> {
    await tx.query(lower, [accountId]);
  }

  /** @param times by session id */
  async seen(tx: Tx, times: ReadonlyMap<string, Date>): Promise<void> {
    await tx.query(seen, [[...times.keys()], [...times.values()]]);
  }
}
