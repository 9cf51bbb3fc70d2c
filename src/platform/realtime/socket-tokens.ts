import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { RequestContext } from '../context/request-context.js';
import { Db } from '../database/db.js';
import { workspace } from '../database/statement.js';
import { PeriodicJobs } from '../jobs/periodic-jobs.js';
import { deletion, type Sweep } from '../jobs/sweep.js';
import { newToken, readToken } from '../secrets/secret-box.js';

@Entity('socket_tokens')
@Index('socket_tokens_expired', ['expires_at'])
export class SocketTokenRow {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('bytea') hash!: Buffer;
  @Column('uuid') user_id!: string;
  @Column('uuid', { nullable: true }) session_id!: string | null;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') expires_at!: Date;
}

/** Lifetime of an unused token, seconds. */
export const TOKEN_SECONDS = 60;
const FORM = /^[\w-]{64}$/;

/** The account that a token was issued to. */
export interface SocketIdentity {
  tenantId: string;
  userId: string;
  sessionId: string | null;
  issuedAt: Date;
}

type UsedRow = Omit<SocketTokenRow, 'tenant_id' | 'hash' | 'expires_at'>;

const insert = workspace.statement<never>(
  'socket_tokens.insert',
  `INSERT INTO socket_tokens (tenant_id, hash, user_id, session_id, expires_at)
   VALUES ($1, $2, $3, $4, now() + make_interval(secs => $5))`,
);

const use = workspace.statement<UsedRow>(
  'socket_tokens.use',
  `DELETE FROM socket_tokens WHERE tenant_id = $1 AND hash = $2 AND expires_at > now()
   RETURNING user_id, session_id, created_at`,
);

const forget: Sweep = workspace.statement(
  'socket_tokens.forget',
  deletion('socket_tokens', `expires_at <= now()`),
  { reach: 'cell' },
);

/**
 * Single-use tokens that open sockets: the id of the workspace and 32 random bytes, in base64url. A leaked token is valid for
 * a minute at most. Socket requests contain no access token.
 */
@Injectable()
export class SocketTokens implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: 'socket-tokens.forget',
      everySeconds: 300,
      deletes: forget,
    });
  }

  async issue({ tenantId, userId, sessionId }: RequestContext): Promise<string> {
    const { token, hash } = newToken(tenantId);
    const values = [tenantId, hash, userId, sessionId, TOKEN_SECONDS];
    await this.db.single((tx) => tx.query(insert, values));
    return token;
  }

  /** @returns undefined for a token that is unknown, used or expired */
  async use(token: unknown): Promise<SocketIdentity | undefined> {
    if (typeof token !== 'string' || !FORM.test(token)) return undefined;
    const { tenantId, hash } = readToken(token);
    const [row] = await this.db.single((tx) => tx.query(use, [tenantId, hash]));
    return row && { tenantId, userId: row.user_id, sessionId: row.session_id, issuedAt: row.created_at };
  }
}
