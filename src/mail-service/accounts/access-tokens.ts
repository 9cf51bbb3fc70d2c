import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Db } from '../../platform/database/db.js';
import { statement } from '../../platform/database/statement.js';

const TOKEN = /^[0-9a-f]{40}$/;

const insert = statement<never>(
  'tokens.insert',
  `INSERT INTO access_tokens (hash, user_id, expires_at) VALUES ($1, $2, now() + interval '14 days')`,
);
const find = statement<{ user_id: string; ages: boolean }>(
  'tokens.find',
  `SELECT user_id, expires_at < now() + interval '13 days' AS ages FROM access_tokens WHERE hash = $1 AND expires_at > now()`,
);
/** At most once a day for a token in use. */
const extend = statement<never>(
  'tokens.extend',
  `UPDATE access_tokens SET expires_at = least(now() + interval '14 days', created_at + interval '180 days') WHERE hash = $1`,
);
const remove = statement<never>('tokens.remove', `DELETE FROM access_tokens WHERE hash = $1`);
const purge = statement<never>('tokens.purge', `DELETE FROM access_tokens WHERE expires_at <= now()`);

/** Tokens of people: 14 days from their last use, 180 at most. Only their hashes are kept. */
@Injectable()
export class AccessTokens {
  /** Those verified a moment ago. What ends here is forgotten at once; what another machine ends, after this time. */
  private readonly known = new LRUCache<string, string>({ max: 10_000, ttl: 5_000 });

  /** Counts what ended: an answer that was under way meanwhile is not remembered. */
  private endings = 0;

  constructor(private readonly db: Db) {}

  /** @returns 40 hex digits */
  async issue(userId: string): Promise<string> {
    const token = randomBytes(20).toString('hex');
    await this.db.single((tx) => tx.query(insert, [hashOf(token), userId]));
    return token;
  }

  /** Whose token it is; undefined when it is none, or no longer. */
  async owner(token: string): Promise<string | undefined> {
    if (!TOKEN.test(token)) return undefined;
    const hash = hashOf(token);
    const key = hash.toString('latin1');
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const { endings } = this;
    const [row] = await this.db.query(find, [hash]);
    if (row?.ages) await this.db.single((tx) => tx.query(extend, [hash]));
    if (row && endings === this.endings) this.known.set(key, row.user_id);
    return row?.user_id;
  }

  /** Tokens have ended in the database. */
  forget(): void {
    this.endings += 1;
    this.known.clear();
  }

  async revoke(token: string): Promise<void> {
    await this.db.single((tx) => tx.query(remove, [hashOf(token)]));
    this.forget();
  }

  /** Deletes those that have expired. */
  async purge(): Promise<void> {
    await this.db.single((tx) => tx.query(purge, []));
  }
}

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();
