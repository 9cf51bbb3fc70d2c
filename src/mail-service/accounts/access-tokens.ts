import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
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
    const [row] = await this.db.query(find, [hash]);
    if (row?.ages) await this.db.single((tx) => tx.query(extend, [hash]));
    return row?.user_id;
  }

  async revoke(token: string): Promise<void> {
    await this.db.single((tx) => tx.query(remove, [hashOf(token)]));
  }

  /** Deletes those that have expired. */
  async purge(): Promise<void> {
    await this.db.single((tx) => tx.query(purge, []));
  }
}

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();
