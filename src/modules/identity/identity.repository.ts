import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { directory } from '../../platform/database/statement.js';
import { ERASED_NAME, erasedAddress } from '../../platform/personal-data/personal-rows.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import type { Account, AccountLink } from './identity.schema.js';

export type AccountRow = Pick<Account, 'id' | 'email' | 'display_name' | 'status' | 'tokens_valid_after'>;

interface AccountInput {
  id: string;
  email: string;
  emailKey: string;
  displayName: string;
  passwordHash: string | null;
}

/** The account of a token's session. */
interface SessionAccountRow extends AccountRow {
  /** The account has a second factor that this session has not proven yet. */
  second_factor_pending: boolean;
  /** The account has a second factor, or the issuer of the workspace confirmed one for this session. */
  has_second_factor: boolean;
  session_expires_at: Date;
  /** The issuer of the workspace by which the user signed in; null: this service. */
  issuer: string | null;
}

interface SessionInput {
  id: string;
  accountId: string;
  tenantId: string | null;
  clientId: string;
  expiresAt: Date;
  /** The second factor was just proven. */
  aal2?: boolean;
  userAgent?: string | null;
  ip?: string | null;
}

const MAX_USER_AGENT = 400;

/** The stored characters of a User-Agent header. */
export const storedUserAgent = (header: string | null | undefined): string | null =>
  header?.slice(0, MAX_USER_AGENT).toWellFormed() ?? null;

const ACCOUNT = 'id, email, display_name, status, tokens_valid_after';

const byEmail = directory.statement<AccountRow>(
  'identity.by_email',
  `SELECT ${ACCOUNT} FROM accounts WHERE email_key = $1`,
);

const bySession = directory.statement<SessionAccountRow>(
  'identity.by_session',
  `SELECT account.id, account.email, account.display_name, account.status, account.tokens_valid_after,
          account.second_factor_since IS NOT NULL AND session.aal2_at IS NULL AS second_factor_pending,
          account.second_factor_since IS NOT NULL OR (session.issuer IS NOT NULL AND session.aal2_at IS NOT NULL) AS has_second_factor,
          session.expires_at AS session_expires_at, session.issuer
     FROM sessions session JOIN accounts account ON account.id = session.account_id
    WHERE session.id = $1 AND session.account_id = $2 AND session.tenant_id IS NOT DISTINCT FROM $3
      AND session.revoked_at IS NULL AND session.expires_at > now()`,
  { pipelined: true },
);

const byLink = directory.statement<AccountRow>(
  'identity.by_link',
  `SELECT account.id, account.email, account.display_name, account.status, account.tokens_valid_after
     FROM account_links link JOIN accounts account ON account.id = link.account_id WHERE link.issuer = $1 AND link.subject = $2`,
);

const link = directory.statement<Pick<AccountLink, 'account_id'>>(
  'identity.link',
  `INSERT INTO account_links (issuer, subject, account_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING account_id`,
);

const passwordHolders = directory.statement<Pick<Account, 'email_key'>>(
  'identity.password_holders',
  `SELECT email_key FROM accounts WHERE email_key = ANY ($1::text[]) AND password_hash IS NOT NULL`,
);

const upsertAccounts = directory.statement<Pick<Account, 'id' | 'email_key'>>(
  'identity.upsert_accounts',
  `INSERT INTO accounts AS account (id, email, email_key, display_name, password_hash)
   SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[]) ORDER BY 3
   ON CONFLICT (email_key) DO UPDATE
     SET display_name = excluded.display_name,
         password_hash = coalesce(account.password_hash, excluded.password_hash),
         updated_at = CASE WHEN account.display_name = excluded.display_name THEN account.updated_at ELSE now() END
   RETURNING id, email_key`,
);

const createSessions = directory.statement<never>(
  'identity.create_sessions',
  `INSERT INTO sessions (id, account_id, tenant_id, client_id, expires_at, aal2_at, user_agent, ip)
   SELECT id, account_id, tenant_id, client_id, expires_at, CASE WHEN aal2 THEN now() END, user_agent, ip
     FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::timestamptz[], $6::bool[], $7::text[], $8::text[])
       AS session (id, account_id, tenant_id, client_id, expires_at, aal2, user_agent, ip)`,
);

const voidTokens = directory.statement<never>(
  'identity.void_tokens',
  `UPDATE accounts SET tokens_valid_after = now(), updated_at = now() WHERE id = $1`,
);

const setStatus = directory.statement<never>(
  'identity.set_status',
  `UPDATE accounts SET status = $2, closed_by_owner = $3, updated_at = now() WHERE id = $1`,
);

const erase = directory.statement<Pick<Account, 'id'>>(
  'identity.erase',
  `UPDATE accounts
      SET email = ${erasedAddress('id')}, email_key = ${erasedAddress('id')},
          display_name = ${ERASED_NAME}, password_hash = NULL, password_changed_at = NULL, second_factor_since = NULL,
          erased_at = now(), updated_at = now()
    WHERE id = $1 AND erased_at IS NULL RETURNING id`,
);

const lockAccount = directory.statement<never>(
  'identity.lock_account',
  `SELECT FROM accounts WHERE id = $1 FOR NO KEY UPDATE`,
);

const reopen = directory.statement<Pick<Account, 'id'>>(
  'identity.reopen',
  `UPDATE accounts SET status = 'active', closed_by_owner = false
    WHERE id = $1 AND (status = 'active' OR closed_by_owner) RETURNING id`,
);

const activeAccounts = directory.statement<Pick<Account, 'id'>>(
  'identity.active_accounts',
  `SELECT id FROM accounts WHERE id = ANY ($1::uuid[]) AND status = 'active'`,
);

const recordAccessChange = directory.statement<never>(
  'identity.note_access_change',
  `INSERT INTO access_changes (id, account_id, tenant_id, session_id) VALUES ($1, $2, $3, $4)`,
);

// There is no index by workspace, since changes of policies are rare.
const limitSessions = directory.statement<never>(
  'identity.limit_sessions',
  `WITH live AS (
     SELECT id, account_id FROM sessions WHERE tenant_id = $1 AND revoked_at IS NULL AND expires_at > now()),
   shortened AS (
     UPDATE sessions session SET expires_at = session.created_at + make_interval(days => $2) FROM live
      WHERE session.id = live.id AND session.expires_at > session.created_at + make_interval(days => $2))
   INSERT INTO access_changes (id, account_id, tenant_id)
   SELECT gen_random_uuid(), account_id, $1 FROM live GROUP BY account_id`,
);

const forgetOld = directory.statement<never>(
  'identity.forget_old',
  `WITH changes AS (DELETE FROM access_changes WHERE created_at < now() - interval '1 hour')
   DELETE FROM sessions WHERE expires_at < now() - interval '30 days'`,
);

/** SQL of accounts and their sessions. */
@Injectable()
export class IdentityRepository {
  constructor(private readonly db: Db) {}

  async byEmail(emailKey: string, reader: Reader = this.db): Promise<AccountRow | null> {
    return (await reader.query(byEmail, [emailKey]))[0] ?? null;
  }

  /** The account of a live session that was opened for this account and workspace. */
  async bySession(
    sessionId: string,
    accountId: string,
    tenantId: string | null,
  ): Promise<SessionAccountRow | null> {
    return (await this.db.query(bySession, [sessionId, accountId, tenantId]))[0] ?? null;
  }

  async byLink(issuer: string, subject: string): Promise<AccountRow | null> {
    return (await this.db.query(byLink, [issuer, subject]))[0] ?? null;
  }

  /** @returns false when this account already belongs to another subject of the issuer */
  async link(tx: Tx, issuer: string, subject: string, accountId: string): Promise<boolean> {
    return (await tx.query(link, [issuer, subject, accountId])).length > 0;
  }

  async passwordHolders(reader: Reader, emailKeys: string[]): Promise<Set<string>> {
    return new Set((await reader.query(passwordHolders, [emailKeys])).map((row) => row.email_key));
  }

  /** Creates accounts and renames existing ones; a stored password stays. @returns id by e-mail key */
  async upsertAccounts(tx: Tx, accounts: AccountInput[]): Promise<Map<string, string>> {
    const column = <K extends keyof AccountInput>(key: K) => accounts.map((account) => account[key]);
    const values = [
      column('id'),
      column('email'),
      column('emailKey'),
      column('displayName'),
      column('passwordHash'),
    ];
    return new Map((await tx.query(upsertAccounts, values)).map((row) => [row.email_key, row.id]));
  }

  async createSessions(tx: Tx, sessions: SessionInput[]): Promise<void> {
    const column = <K extends keyof SessionInput>(key: K) => sessions.map((session) => session[key]);
    await tx.query(createSessions, [
      column('id'),
      column('accountId'),
      column('tenantId'),
      column('clientId'),
      column('expiresAt'),
      sessions.map(({ aal2 }) => aal2 ?? false),
      sessions.map(({ userAgent }) => storedUserAgent(userAgent)),
      column('ip'),
    ]);
  }

  /** Invalidates tokens of an external issuer, and the sign-ins of browsers. */
  async voidSignIns(tx: Tx, accountId: string): Promise<void> {
    await tx.query(voidTokens, [accountId]);
  }

  async setStatus(
    tx: Tx,
    accountId: string,
    status: AccountRow['status'],
    closedByOwner = false,
  ): Promise<void> {
    await tx.query(setStatus, [accountId, status, closedByOwner]);
  }

  /** Removes address, name and password. @returns false when that has been done before */
  async erase(tx: Tx, accountId: string): Promise<boolean> {
    return (await tx.query(erase, [accountId])).length > 0;
  }

  async lockAccount(tx: Tx, accountId: string): Promise<void> {
    await tx.query(lockAccount, [accountId]);
  }

  /** Locks the account, and reopens it if its owner closed it. @returns whether it is active now */
  async reopen(tx: Tx, accountId: string): Promise<boolean> {
    return (await tx.query(reopen, [accountId])).length > 0;
  }

  async activeAccounts(tx: Tx, accountIds: string[]): Promise<Set<string>> {
    return new Set((await tx.query(activeAccounts, [accountIds])).map((row) => row.id));
  }

  async recordAccessChange(
    tx: Pick<Tx, 'query'>,
    id: string,
    change: { accountId: string; tenantId?: string | null; sessionId?: string | null },
  ): Promise<void> {
    await tx.query(recordAccessChange, [
      id,
      change.accountId,
      change.tenantId ?? null,
      change.sessionId ?? null,
    ]);
  }

  /**
   * Ends the sessions of a workspace after a number of days, and makes every process verify them again.
   * @param days null: the sessions keep their end
   */
  async limitSessions(tx: Tx, tenantId: string, days: number | null): Promise<void> {
    await tx.query(limitSessions, [tenantId, days]);
  }

  async forgetOld(tx: Tx): Promise<void> {
    await tx.query(forgetOld, []);
  }
}
