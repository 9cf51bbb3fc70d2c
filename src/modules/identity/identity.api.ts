import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Config } from '../../config/config.js';
import { Audit, operator } from '../../platform/audit/audit.js';
import { Db } from '../../platform/database/db.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { TxHooks, TxHook } from '../../platform/events/tx-hooks.js';
import { inParallel } from '../../platform/jobs/claim-loop.js';
import { hashPassword } from '../../platform/secrets/password-hash.js';
import { AccessTokens } from './tokens/access-tokens.js';
import { CredentialsRepository } from './credentials.repository.js';
import { emailKey } from './email.js';
import { type AccountRow, IdentityRepository } from './identity.repository.js';
import { SessionsApi } from './sessions/sessions.api.js';
import { SessionsRepository } from './sessions/sessions.repository.js';
import { SigningKeys } from './tokens/signing-keys.js';

/** An account is closed. A handler removes credentials that a reopened account must not have. */
export const ACCOUNT_CLOSED = new TxHook<{ accountId: string }>('account closed');

export interface AccountSpec {
  email: string;
  name: string;
  password?: string;
}

interface TokenRequest {
  accountId: string;
  tenantId: string | null;
  /** The second factor was just proven: the session starts at AAL2. */
  aal2?: boolean;
  /** User-Agent of the browser, for the owner's list of sessions. */
  userAgent?: string | null;
  ip?: string | null;
}

/** Concurrent password hashes; each uses 7 MiB. */
const HASHERS = 4;

/** Operations on accounts, sessions and tokens for other modules. */
@Injectable()
export class IdentityApi {
  constructor(
    private readonly repository: IdentityRepository,
    private readonly credentials: CredentialsRepository,
    private readonly sessions: SessionsApi,
    private readonly sessionRows: SessionsRepository,
    private readonly tokens: AccessTokens,
    private readonly keys: SigningKeys,
    private readonly audit: Audit,
    private readonly hooks: TxHooks,
    private readonly db: Db,
    private readonly config: Config,
  ) {}

  async findByEmail(email: string, reader?: Reader): Promise<AccountRow | null> {
    return this.repository.byEmail(emailKey(email), reader);
  }

  /**
   * Hashes passwords of accounts that have none yet. Slow, so call it before the transaction.
   * @returns hash by e-mail key
   */
  async hashNewPasswords(accounts: AccountSpec[]): Promise<Map<string, string>> {
    const holders = await this.repository.passwordHolders(
      this.db,
      accounts.map((account) => emailKey(account.email)),
    );
    // The first of several passwords for one account is used, as in sequential calls.
    const queue = accounts
      .map(({ email, password }) => ({ key: emailKey(email), password }))
      .filter(({ key, password }) => password && !holders.has(key) && holders.add(key));
    const hashes = new Map<string, string>();
    await inParallel(queue, HASHERS, async ({ key, password }) => {
      hashes.set(key, await hashPassword(password as string));
    });
    return hashes;
  }

  /** Creates the accounts that do not exist; renames the others. @returns account id by e-mail key */
  async provision(
    tx: Tx,
    accounts: AccountSpec[],
    hashes: Map<string, string>,
  ): Promise<Map<string, string>> {
    const unique = new Map(accounts.map((account) => [emailKey(account.email), account]));
    return this.repository.upsertAccounts(
      tx,
      [...unique].map(([key, account]) => ({
        id: uuidv7(),
        email: account.email.trim(),
        emailKey: key,
        displayName: account.name,
        passwordHash: hashes.get(key) ?? null,
      })),
    );
  }

  /** Opens an account. @returns its id; null when the address has one */
  async open(
    tx: Tx,
    { email, name }: AccountSpec,
    passwordHash: string | null = null,
  ): Promise<string | null> {
    const account = { id: uuidv7(), email: email.trim(), display_name: name, password_hash: passwordHash };
    return (await this.credentials.open(tx, account, emailKey(email))) ? account.id : null;
  }

  /** Opens a session for each request of the operator and signs its access token. The caller checks membership. */
  async issueTokens(
    requests: TokenRequest[],
    clientId: string,
    ttlSeconds = this.config.TOKEN_TTL,
  ): Promise<string[]> {
    const issuedAt = new Date();
    const expiresAt = new Date(issuedAt.getTime() + ttlSeconds * 1000);
    const sessions = requests.map((request) => ({ id: uuidv7(), ...request, clientId, expiresAt }));
    await this.db.tx(async (tx) => {
      await this.repository.createSessions(tx, sessions);
      for (const { id, accountId, tenantId, aal2 = false } of sessions)
        await this.audit.record(tx, operator(tenantId), {
          action: 'identity.token.issued',
          objectKind: 'user',
          objectId: accountId,
          data: { session_id: id, client: clientId, ttl_seconds: ttlSeconds, second_factor: aal2 },
        });
    });
    return Promise.all(
      sessions.map(({ id, accountId, tenantId }) =>
        this.tokens.sign({ accountId, tenantId, sessionId: id, issuedAt, expiresAt }, clientId),
      ),
    );
  }

  /** Ends all sessions of an account, everywhere within 5 seconds. @returns number of ended sessions */
  async revokeSessions(accountId: string): Promise<number> {
    return this.db.tx((tx) => this.sessions.endOthers(tx, accountId, null));
  }

  /** Ends the sessions of an account in one workspace, and invalidates its cached access there. */
  async endSessionsIn(tx: Tx, accountId: string, tenantId: string): Promise<void> {
    await this.sessionRows.revokeIn(tx, accountId, tenantId, null);
    await this.recordAccessChange(tx, accountId, tenantId);
  }

  /** Closes the account. @param byOwner whether the activation of a membership reopens it */
  async deactivate(tx: Tx, accountId: string, { byOwner = false } = {}): Promise<void> {
    await this.repository.setStatus(tx, accountId, 'deactivated', byOwner);
    await this.hooks.run(tx, ACCOUNT_CLOSED, { accountId });
    await this.sessions.endOthers(tx, accountId, null);
  }

  /** Closes the account and removes its address, name and password. @returns false when that has been done before */
  async eraseAccount(tx: Tx, accountId: string): Promise<boolean> {
    await this.deactivate(tx, accountId);
    return this.repository.erase(tx, accountId);
  }

  /** Reopens a closed account; its sessions stay ended. */
  async activate(tx: Tx, accountId: string): Promise<void> {
    await this.repository.setStatus(tx, accountId, 'active');
    await this.recordAccessChange(tx, accountId);
  }

  /** Serialises the end of the last membership with the activation of another one. */
  async lockAccount(tx: Tx, accountId: string): Promise<void> {
    await this.repository.lockAccount(tx, accountId);
  }

  /** Reopens an account that its owner closed, and locks it. @returns false when the operator closed it */
  async reopen(tx: Tx, accountId: string): Promise<boolean> {
    return this.repository.reopen(tx, accountId);
  }

  /** Returns the ids of the accounts that are not closed. */
  async activeAccounts(tx: Tx, accountIds: string[]): Promise<Set<string>> {
    return this.repository.activeAccounts(tx, accountIds);
  }

  /** Invalidates the cached access of an account in every process within 5 seconds. */
  async recordAccessChange(
    tx: Pick<Tx, 'query'>,
    accountId: string,
    tenantId: string | null = null,
  ): Promise<void> {
    await this.repository.recordAccessChange(tx, uuidv7(), { accountId, tenantId });
  }

  /** @returns the new key's id */
  async rotateSigningKey(): Promise<string> {
    return this.keys.rotate();
  }
}
