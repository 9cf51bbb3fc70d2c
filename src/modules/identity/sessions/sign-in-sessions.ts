import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Db } from '../../../platform/database/db.js';
import { directory } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { TenantsApi } from '../../tenants/index.js';
import { storedUserAgent } from '../identity.repository.js';
import type { Session, AccessChange } from '../identity.schema.js';

/** A session that may still obtain tokens. */
interface LiveSession {
  id: string;
  accountId: string;
  /** Null means a session without a workspace. */
  tenantId: string | null;
  clientId: string;
  expiresAt: Date;
  email: string;
  displayName: string;
  /** False means that the client has not fetched a token yet. */
  isActivated: boolean;
  /** The account has a second factor that this session has not proven. */
  secondFactorPending: boolean;
}

/** Seconds in which a client must fetch the first token of a session: the lifetime of a device code, and a minute. */
const PENDING_SECONDS = 660;

/** Properties of a new session. */
interface SessionOpening {
  id: string;
  accountId: string;
  tenantId: string | null;
  clientId: string;
  expiresAt: Date;
  /** When the user signed in, seconds since 1970. Earlier than the session if the browser was signed in; null: with the session. */
  signedInAt: number | null;
  /** When the second factor was proven, seconds since 1970; null: not proven. */
  secondFactorAt: number | null;
  userAgent: string | null;
  ip: string | null;
  /** False means that the session expires after minutes unless `activate` is called. */
  isActivated: boolean;
  /** The issuer of the workspace by which the user signed in; null: this service. */
  issuer: string | null;
}

const open = directory.statement<never>(
  'sign_in_sessions.open',
  `INSERT INTO sessions (id, account_id, tenant_id, client_id, expires_at, aal2_at, user_agent, ip, activated_at, issuer,
                         signed_in_at)
   VALUES ($1, $2, $3, $4, CASE WHEN $9 THEN $5 ELSE least($5, now() + make_interval(secs => ${PENDING_SECONDS})) END,
           to_timestamp($6), $7, $8, CASE WHEN $9 THEN now() END, $10, to_timestamp($11))`,
);

// Index: sessions_account. Pending sessions count, so that a client cannot open any number of them.
const endLeastUsed = directory.statement<never>(
  'sign_in_sessions.end_least_used',
  `WITH ended AS (
     UPDATE sessions SET revoked_at = now() WHERE id IN (
       SELECT id FROM sessions WHERE account_id = $1 AND revoked_at IS NULL AND expires_at > now()
        ORDER BY id = $2 DESC, coalesce(last_seen_at, created_at) DESC, id DESC OFFSET $3)
     RETURNING id, account_id, tenant_id)
   INSERT INTO access_changes (id, account_id, tenant_id, session_id)
   SELECT gen_random_uuid(), account_id, tenant_id, id FROM ended`,
);

const activate = directory.statement<never>(
  'sign_in_sessions.activate',
  `UPDATE sessions SET activated_at = now(), expires_at = $2
    WHERE id = $1 AND activated_at IS NULL AND revoked_at IS NULL AND expires_at > now()`,
);

const isUnused = directory.statement<Pick<Session, 'id'>>(
  'sign_in_sessions.is_unused',
  `SELECT id FROM sessions WHERE id = $1 AND account_id = $2 AND activated_at IS NULL AND revoked_at IS NULL`,
);

/** An account as the OpenID provider reads it. */
export interface SignInAccount {
  id: string;
  email: string;
  displayName: string;
  /** The account requires a second factor. */
  secondFactor: boolean;
  /** When the password was set; null: at the creation of the account. */
  passwordChangedAt: Date | null;
  /** A browser that signed in earlier must sign in again: after a global sign-out or a change of password or factor. */
  signInsValidAfter: Date | null;
  /** Database time in seconds since 1970, to compare with `signInsValidAfter`. */
  now: number;
}

const live = directory.statement<LiveSession>(
  'sign_in_sessions.live',
  `SELECT session.id, session.account_id AS "accountId", session.tenant_id AS "tenantId", session.client_id AS "clientId",
          session.expires_at AS "expiresAt", session.activated_at IS NOT NULL AS "isActivated", account.email,
          account.display_name AS "displayName",
          account.second_factor_since IS NOT NULL AND session.aal2_at IS NULL AS "secondFactorPending"
     FROM sessions session JOIN accounts account ON account.id = session.account_id
    WHERE session.id = $1 AND session.revoked_at IS NULL AND session.expires_at > now() AND account.status = 'active'`,
);

const owner = directory.statement<{ accountId: string; tenantId: string | null; clientId: string }>(
  'sign_in_sessions.owner',
  `SELECT account_id AS "accountId", tenant_id AS "tenantId", client_id AS "clientId" FROM sessions WHERE id = $1`,
);

const end = directory.statement<never>(
  'sign_in_sessions.end',
  `WITH ended AS (
     UPDATE sessions SET revoked_at = now() WHERE id = $1 AND revoked_at IS NULL RETURNING account_id, tenant_id)
   INSERT INTO access_changes (id, account_id, tenant_id, session_id) SELECT $2, account_id, tenant_id, $1 FROM ended`,
);

const endOfClient = directory.statement<Pick<AccessChange, 'id'>>(
  'sign_in_sessions.end_of_client',
  `WITH ended AS (
     UPDATE sessions SET revoked_at = now() WHERE client_id = $1 AND revoked_at IS NULL AND expires_at > now()
     RETURNING id, account_id, tenant_id)
   INSERT INTO access_changes (id, account_id, tenant_id, session_id)
   SELECT gen_random_uuid(), account_id, tenant_id, id FROM ended RETURNING id`,
);

// There is no index by workspace, since issuers are rarely removed.
const endOfIssuer = directory.statement<Pick<AccessChange, 'id'>>(
  'sign_in_sessions.end_of_issuer',
  `WITH ended AS (
     UPDATE sessions SET revoked_at = now()
      WHERE tenant_id = $1 AND issuer = $2 AND account_id = ANY ($3::uuid[]) AND revoked_at IS NULL AND expires_at > now()
     RETURNING id, account_id, tenant_id)
   INSERT INTO access_changes (id, account_id, tenant_id, session_id)
   SELECT gen_random_uuid(), account_id, tenant_id, id FROM ended RETURNING id`,
);

const account = directory.statement<SignInAccount>(
  'sign_in_sessions.account',
  `SELECT id, email, display_name AS "displayName", second_factor_since IS NOT NULL AS "secondFactor",
          password_changed_at AS "passwordChangedAt",
          greatest(tokens_valid_after, password_changed_at, second_factor_since) AS "signInsValidAfter",
          extract(epoch FROM clock_timestamp())::float8 AS now
     FROM accounts WHERE id = $1 AND status = 'active'`,
);

/** Sessions of the OpenID provider: one for each sign-in with a client. */
@Injectable()
export class SignInSessions {
  constructor(
    private readonly db: Db,
    private readonly tenants: TenantsApi,
  ) {}

  /** Ends the sessions of the account beyond its quota, those first that were not used for the longest time. */
  async open(tx: Tx, session: SessionOpening): Promise<void> {
    const { id, accountId, tenantId, clientId, expiresAt, secondFactorAt, ip, isActivated, issuer } = session;
    await tx.query(open, [
      id,
      accountId,
      tenantId,
      clientId,
      expiresAt,
      secondFactorAt,
      storedUserAgent(session.userAgent),
      ip,
      isActivated,
      issuer,
      session.signedInAt,
    ]);
    await tx.query(endLeastUsed, [accountId, id, QUOTAS.account.sessions]);
  }

  /** The client fetches the first token: the session lasts until `expiresAt`. */
  async activate(id: string, expiresAt: Date): Promise<void> {
    await this.db.single((tx) => tx.query(activate, [id, expiresAt]));
  }

  /** Whether the client fetched no token of a session. The session was not ended, but may have expired. */
  async isUnused(id: string, accountId: string): Promise<boolean> {
    return (await this.db.query(isUnused, [id, accountId])).length > 0;
  }

  /** Ends one session, everywhere within 5 seconds. */
  async end(id: string): Promise<void> {
    await this.db.single((tx) => tx.query(end, [id, uuidv7()]));
  }

  /** Ends all sessions of a client. @returns their number */
  async endOfClient(tx: Tx, clientId: string): Promise<number> {
    return (await tx.query(endOfClient, [clientId])).length;
  }

  /**
   * Ends the sessions of a workspace whose users signed in by its issuer.
   * @param accountIds accounts of the issuer: another issuer of the workspace may have the same address
   * @returns their number
   */
  async endOfIssuer(tx: Tx, tenantId: string, issuer: string, accountIds: string[]): Promise<number> {
    return (await tx.query(endOfIssuer, [tenantId, issuer, accountIds])).length;
  }

  /** Account, workspace and client of a session, ended ones included. */
  async ownerOf(
    id: string,
  ): Promise<{ accountId: string; tenantId: string | null; clientId: string } | null> {
    return (await this.db.query(owner, [id]))[0] ?? null;
  }

  /** Null when the session ended, the account is closed, or the membership ended. */
  async findLive(id: string): Promise<LiveSession | null> {
    const [session] = await this.db.query(live, [id]);
    if (!session) return null;
    const { tenantId, accountId } = session;
    return tenantId === null || (await this.tenants.activeRole(tenantId, accountId)) !== null
      ? session
      : null;
  }

  /** An account that may sign in; null for an unknown or closed one. */
  async account(id: string, reader: Reader = this.db): Promise<SignInAccount | null> {
    return (await reader.query(account, [id]))[0] ?? null;
  }
}
