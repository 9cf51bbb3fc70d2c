import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { directory } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { deletion, type Sweep } from '../../../platform/jobs/sweep.js';
import { newToken, readToken } from '../../../platform/secrets/secret-box.js';
import type { AccountToken } from '../account-security.schema.js';

type Purpose = AccountToken['purpose'];

type TokenRow = Omit<AccountToken, 'purpose' | 'token_hash' | 'created_at'>;

const put = directory.statement<never>(
  'account_tokens.put',
  `INSERT INTO account_tokens (account_id, purpose, token_hash, email, session_id, expires_at)
   VALUES ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))
   ON CONFLICT (account_id, purpose) DO UPDATE
     SET token_hash = excluded.token_hash, email = excluded.email, session_id = excluded.session_id,
         expires_at = excluded.expires_at, created_at = now()`,
);

const find = directory.statement<TokenRow>(
  'account_tokens.find',
  `SELECT account_id, email, session_id, expires_at FROM account_tokens
    WHERE account_id = $1 AND purpose = $2 AND token_hash = $3 AND expires_at > now()`,
);

const take = directory.statement<TokenRow>(
  'account_tokens.take',
  `DELETE FROM account_tokens WHERE account_id = $1 AND purpose = $2 AND token_hash = $3 AND expires_at > now()
   RETURNING account_id, email, session_id, expires_at`,
);

const pending = directory.statement<TokenRow>(
  'account_tokens.pending',
  `SELECT account_id, email, session_id, expires_at FROM account_tokens
    WHERE account_id = $1 AND purpose = $2 AND expires_at > now()`,
);

const remove = directory.statement<TokenRow>(
  'account_tokens.remove',
  `DELETE FROM account_tokens WHERE account_id = $1 AND purpose = $2 RETURNING account_id, email, session_id, expires_at`,
);

const forget: Sweep = directory.statement(
  'account_tokens.forget',
  deletion('account_tokens', `expires_at < now()`),
);

/** Tokens of links for the owner of an account, most of them sent by mail. They contain the account id as `tenantId`. */
@Injectable()
export class AccountTokens implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'account-tokens.forget', everySeconds: 3_600, deletes: forget });
  }

  /** Replaces the earlier token of the purpose. @returns the new token */
  async create(
    tx: Tx,
    accountId: string,
    purpose: Purpose,
    {
      seconds,
      email = null,
      sessionId = null,
    }: { seconds: number; email?: string | null; sessionId?: string | null },
  ): Promise<string> {
    const { token, hash } = newToken(accountId);
    await tx.query(put, [accountId, purpose, hash, email, sessionId, seconds]);
    return token;
  }

  async find(purpose: Purpose, token: string): Promise<TokenRow | null> {
    const { tenantId: accountId, hash } = readToken(token);
    return (await this.db.query(find, [accountId, purpose, hash]))[0] ?? null;
  }

  /** Uses a token. @returns null for an unknown, used or expired one */
  async take(tx: Tx, purpose: Purpose, token: string): Promise<TokenRow | null> {
    const { tenantId: accountId, hash } = readToken(token);
    return (await tx.query(take, [accountId, purpose, hash]))[0] ?? null;
  }

  async findPending(accountId: string, purpose: Purpose): Promise<TokenRow | null> {
    return (await this.db.query(pending, [accountId, purpose]))[0] ?? null;
  }

  async remove(tx: Tx, accountId: string, purpose: Purpose): Promise<TokenRow | null> {
    return (await tx.query(remove, [accountId, purpose]))[0] ?? null;
  }

  /**
   * Ends the links that set a password or change the address. After a change of the password or of the address, an intruder who
   * knew the old one must not be able to use such a link.
   */
  async endAccessLinks(tx: Tx, accountId: string): Promise<void> {
    for (const purpose of ['password', 'email'] as const) await this.remove(tx, accountId, purpose);
  }
}
