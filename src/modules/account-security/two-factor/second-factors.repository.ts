import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { directory } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';

export interface FactorRow {
  state: 'pending' | 'active';
  /** Sealed. */
  secret: string;
}

// Expired pending factors are not returned.
const read = directory.statement<FactorRow>(
  'second_factors.read',
  `SELECT state, secret FROM second_factors
    WHERE account_id = $1 AND (state = 'active' OR expires_at > now())`,
);

/** Factors of an account that can be proven. */
export interface FactorMethods {
  /** An authenticator application. */
  totp: boolean;
  passkey: boolean;
  /** With any of the others: recovery codes exist, used or not. */
  recovery: boolean;
}

const methods = directory.statement<FactorMethods>(
  'second_factors.methods',
  `SELECT EXISTS (SELECT FROM second_factors WHERE account_id = $1 AND state = 'active') AS totp,
          EXISTS (SELECT FROM passkeys WHERE account_id = $1) AS passkey,
          EXISTS (SELECT FROM recovery_codes WHERE account_id = $1) AS recovery`,
);

const begin = directory.statement<{ account_id: string }>(
  'second_factors.begin',
  `INSERT INTO second_factors AS factor (account_id, state, secret, expires_at)
   VALUES ($1, 'pending', $2, now() + make_interval(secs => $3))
   ON CONFLICT (account_id) DO UPDATE
     SET secret = excluded.secret, expires_at = excluded.expires_at, last_step = 0, created_at = now()
   WHERE factor.state = 'pending'
   RETURNING account_id`,
);

const activate = directory.statement<{ account_id: string }>(
  'second_factors.activate',
  `UPDATE second_factors SET state = 'active', last_step = $3, expires_at = NULL
    WHERE account_id = $1 AND state = 'pending' AND secret = $2 AND expires_at > now() RETURNING account_id`,
);

const takeStep = directory.statement<{ account_id: string }>(
  'second_factors.take_step',
  `UPDATE second_factors SET last_step = $3
    WHERE account_id = $1 AND state = 'active' AND secret = $2 AND last_step < $3 RETURNING account_id`,
);

const remove = directory.statement<{ account_id: string }>(
  'second_factors.remove',
  `WITH codes AS (DELETE FROM recovery_codes WHERE account_id = $1),
        authenticator AS (DELETE FROM second_factors WHERE account_id = $1 RETURNING account_id),
        keys AS (DELETE FROM passkeys WHERE account_id = $1 RETURNING account_id)
   SELECT account_id FROM authenticator UNION SELECT account_id FROM keys`,
);

const putCodes = directory.statement<never>(
  'second_factors.put_codes',
  `INSERT INTO recovery_codes (account_id, n, hash)
   SELECT $1, n, hash FROM unnest($2::text[]) WITH ORDINALITY AS code (hash, n)
   ON CONFLICT (account_id, n) DO UPDATE SET hash = excluded.hash, used_at = NULL`,
);

const useCode = directory.statement<{ n: number }>(
  'second_factors.use_code',
  `UPDATE recovery_codes SET used_at = now() WHERE account_id = $1 AND hash = ANY ($2::text[]) AND used_at IS NULL
   RETURNING n`,
);

const codes = directory.statement<{ unused: number; used: boolean }>(
  'second_factors.codes',
  `SELECT (count(*) FILTER (WHERE used_at IS NULL))::int AS unused,
          coalesce(bool_or(used_at IS NOT NULL AND hash = ANY ($2::text[])), false) AS used
     FROM recovery_codes WHERE account_id = $1`,
);

/** SQL of second factors. */
@Injectable()
export class SecondFactorsRepository {
  constructor(private readonly db: Db) {}

  async read(accountId: string): Promise<FactorRow | null> {
    return (await this.db.query(read, [accountId]))[0] ?? null;
  }

  async methods(reader: Pick<Db, 'query'> | Tx, accountId: string): Promise<FactorMethods> {
    return (await reader.query(methods, [accountId]))[0] as FactorMethods;
  }

  /** @returns false when a factor is active, which stays unchanged */
  async begin(tx: Tx, accountId: string, secret: string, seconds: number): Promise<boolean> {
    return (await tx.query(begin, [accountId, secret, seconds])).length > 0;
  }

  /** @returns false when the pending factor has another secret */
  async activate(tx: Tx, accountId: string, secret: string, step: number): Promise<boolean> {
    return (await tx.query(activate, [accountId, secret, step])).length > 0;
  }

  /** Uses the code of a time step. @returns false when this or a later code was used before */
  async takeStep(tx: Tx, accountId: string, secret: string, step: number): Promise<boolean> {
    return (await tx.query(takeStep, [accountId, secret, step])).length > 0;
  }

  /** Removes authenticator, passkeys and recovery codes. @returns whether the account had a factor */
  async remove(tx: Tx, accountId: string): Promise<boolean> {
    return (await tx.query(remove, [accountId])).length > 0;
  }

  async putCodes(tx: Tx, accountId: string, hashes: string[]): Promise<void> {
    await tx.query(putCodes, [accountId, hashes]);
  }

  /** Uses a recovery code. @param hashes of the code, one per key @returns false unless it is an unused code */
  async useCode(tx: Tx, accountId: string, hashes: string[]): Promise<boolean> {
    return (await tx.query(useCode, [accountId, hashes])).length > 0;
  }

  /** Number of unused codes, and whether the code with these hashes was used. */
  async codes(
    reader: Pick<Db, 'query'> | Tx,
    accountId: string,
    hashes: string[] = [],
  ): Promise<{ unused: number; used: boolean }> {
    return (await reader.query(codes, [accountId, hashes]))[0] as { unused: number; used: boolean };
  }

  async codesLeft(accountId: string): Promise<number> {
    return (await this.codes(this.db, accountId)).unused;
  }
}
