import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { LRUCache } from 'lru-cache';
import { Db } from '../../platform/database/db.js';
import { deletion, type Sweep } from '../../platform/jobs/sweep.js';
import { growingTo } from '../../platform/memory/cache-size.js';
import { hashOf } from '../../platform/secrets/secret-box.js';
import { ByteBudget, ByteReservation } from '../limits.js';
import { mailErrors } from '../mail-error.js';
import { mailService } from '../mail-service.schema.js';
import { MailSettings } from '../mail-settings.js';
import { Spool } from '../storage/spool.js';
import { type Body, readBody } from './body.js';

const TOKEN = /^[0-9a-f]{40}$/;

const insert = mailService.statement<never>(
  'tokens.insert',
  `INSERT INTO access_tokens (hash, user_id, expires_at) VALUES ($1, $2, now() + interval '14 days')`,
);
const find = mailService.statement<{ user_id: string; extendable: boolean }>(
  'tokens.find',
  `SELECT user_id, expires_at < now() + interval '13 days' AS extendable FROM access_tokens WHERE hash = $1 AND expires_at > now()`,
);
/** Runs at most once a day per token. */
const extend = mailService.statement<never>(
  'tokens.extend',
  `UPDATE access_tokens SET expires_at = least(now() + interval '14 days', created_at + interval '180 days') WHERE hash = $1`,
);
const remove = mailService.statement<never>('tokens.remove', `DELETE FROM access_tokens WHERE hash = $1`);
export const purgeTokens: Sweep = mailService.statement(
  'tokens.purge',
  deletion('access_tokens', 'expires_at <= now()'),
);

/** User tokens. They expire 14 days after the last use, 180 days after creation. Only hashes are stored. */
@Injectable()
export class AccessTokens {
  /** Verified tokens by hash. A revocation by another process takes effect when the entry expires. */
  private readonly verified = new LRUCache<string, string>({ ...growingTo(10_000), ttl: 5_000 });

  /** Counts revocations: a lookup that was in flight during one is not cached. */
  private revocations = 0;

  constructor(private readonly db: Db) {}

  /** @returns 40 hex digits */
  async issue(userId: string): Promise<string> {
    const token = randomBytes(20).toString('hex');
    await this.db.single((tx) => tx.query(insert, [hashOf(token), userId]));
    return token;
  }

  /** The user id of a valid token, else undefined. */
  async owner(token: string): Promise<string | undefined> {
    if (!TOKEN.test(token)) return undefined;
    const hash = hashOf(token);
    const key = hash.toString('latin1');
    const cached = this.verified.get(key);
    if (cached !== undefined) return cached;
    const { revocations } = this;
    const [row] = await this.db.query(find, [hash]);
    if (row?.extendable) await this.db.single((tx) => tx.query(extend, [hash]));
    if (row && revocations === this.revocations) this.verified.set(key, row.user_id);
    return row?.user_id;
  }

  /** Clears the cache after tokens were deleted. */
  clearCache(): void {
    this.revocations += 1;
    this.verified.clear();
  }

  async revoke(token: string): Promise<void> {
    await this.db.single((tx) => tx.query(remove, [hashOf(token)]));
    this.clearCache();
  }
}

/** The owner of a token. */
export interface Caller {
  /** Null for the service token. */
  userId: string | null;
  token: string;
}

export type MailRequest = Request & { caller: Caller; content: Body };

/** Verifies the token before it reads the body. */
@Injectable()
export class CallerGuard implements CanActivate {
  constructor(
    private readonly tokens: AccessTokens,
    private readonly settings: MailSettings,
    private readonly budget: ByteBudget,
    private readonly spool: Spool,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<MailRequest>();
    const token = tokenOf(request);
    if (token === undefined) throw mailErrors.invalidToken();
    if (isSame(token, this.settings.token)) request.caller = { userId: null, token };
    else {
      const userId = await this.tokens.owner(token);
      if (userId === undefined) throw mailErrors.invalidToken();
      request.caller = { userId, token };
    }
    const share = new ByteReservation(this.budget);
    const scratch = this.spool.scratch();
    request.res?.once('close', () => {
      share.release();
      void scratch.clear();
    });
    try {
      request.content = await readBody(request, this.settings.bodyBytes, share, scratch);
    } finally {
      // The client disconnected before all files were written.
      if (request.res?.closed) await scratch.clear();
    }
    return true;
  }
}

/** WildDuck's precedence: query, `X-Access-Token`, `Authorization`. */
function tokenOf(request: Request): string | undefined {
  const query = request.query['accessToken'];
  if (query !== undefined) return typeof query === 'string' ? query : undefined;
  const header = request.headers['x-access-token'];
  if (header !== undefined) return String(header);
  const authorization = request.headers.authorization;
  return authorization?.replace(/^Bearer\s+/i, '').trim();
}

function isSame(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
