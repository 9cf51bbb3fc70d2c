import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { ConcurrentChangeError, errorCode } from '../../platform/database/database-errors.js';
import { directory } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import type { Account } from './identity.schema.js';

export type CredentialsRow = Pick<
  Account,
  'id' | 'email' | 'display_name' | 'status' | 'password_hash' | 'password_changed_at' | 'second_factor_since'
>;

const COLUMNS = 'id, email, display_name, status, password_hash, password_changed_at, second_factor_since';

const byEmail = directory.statement<CredentialsRow>(
  'identity.credentials_by_email',
  `SELECT ${COLUMNS} FROM accounts WHERE email_key = $1`,
);

const byId = directory.statement<CredentialsRow>(
  'identity.credentials_by_id',
  `SELECT ${COLUMNS} FROM accounts WHERE id = $1`,
);

const open = directory.statement<Pick<Account, 'id'>>(
  'identity.open_account',
  `INSERT INTO accounts (id, email, email_key, display_name, password_hash) VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (email_key) DO NOTHING RETURNING id`,
);

const setPassword = directory.statement<Pick<Account, 'id'>>(
  'identity.set_password',
  `UPDATE accounts SET password_hash = $3, password_changed_at = now(), updated_at = now()
    WHERE id = $1 AND password_hash IS NOT DISTINCT FROM $2 RETURNING id`,
);

// Changes nothing when another account has the address.
const setEmail = directory.statement<Pick<Account, 'id'>>(
  'identity.set_email',
  `UPDATE accounts SET email = $2, email_key = $3, updated_at = now()
    WHERE id = $1 AND NOT EXISTS (SELECT FROM accounts other WHERE other.email_key = $3 AND other.id <> $1) RETURNING id`,
);

const rehash = directory.statement<never>(
  'identity.rehash',
  `UPDATE accounts SET password_hash = $3 WHERE id = $1 AND password_hash = $2`,
);

const setSecondFactor = directory.statement<never>(
  'identity.set_second_factor',
  `UPDATE accounts SET second_factor_since = CASE WHEN $2 THEN now() END, updated_at = now() WHERE id = $1`,
);

/** SQL of credentials. */
@Injectable()
export class CredentialsRepository {
  constructor(private readonly db: Db) {}

  async byEmail(emailKey: string): Promise<CredentialsRow | null> {
    return (await this.db.query(byEmail, [emailKey]))[0] ?? null;
  }

  async byId(accountId: string, reader: Reader = this.db): Promise<CredentialsRow | null> {
    return (await reader.query(byId, [accountId]))[0] ?? null;
  }

  /** Opens an account. @returns false when another account has the address */
  async open(
    tx: Tx,
    {
      id,
      email,
      display_name: name,
      password_hash: hash,
    }: Pick<CredentialsRow, 'id' | 'email' | 'display_name' | 'password_hash'>,
    key: string,
  ): Promise<boolean> {
    return (await tx.query(open, [id, email, key, name, hash])).length > 0;
  }

  /** @returns false when the password is no longer `oldHash` */
  async setPassword(tx: Tx, accountId: string, oldHash: string | null, newHash: string): Promise<boolean> {
    return (await tx.query(setPassword, [accountId, oldHash, newHash])).length > 0;
  }

  async rehash(tx: Tx, accountId: string, oldHash: string, newHash: string): Promise<void> {
    await tx.query(rehash, [accountId, oldHash, newHash]);
  }

  /** @returns false when another account has the address */
  async setEmail(tx: Tx, accountId: string, email: string, key: string): Promise<boolean> {
    try {
      return (await tx.query(setEmail, [accountId, email, key])).length > 0;
    } catch (error) {
      // Another account got the address meanwhile. The repeated transaction sees it.
      if (errorCode(error) === '23505') throw new ConcurrentChangeError('the address is taken');
      throw error;
    }
  }

  async setSecondFactor(tx: Tx, accountId: string, on: boolean): Promise<void> {
    await tx.query(setSecondFactor, [accountId, on]);
  }
}
