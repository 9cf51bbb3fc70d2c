import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { MailAccount } from '../mail.schema.js';

/** The owner of a mail account: a user within one workspace. */
export interface MailOwner {
  readonly tenantId: string;
  readonly userId: string;
}

export interface MailAccountRow extends Pick<
  MailAccount,
  'origin' | 'username' | 'address' | 'mail_user_id' | 'password' | 'token' | 'token_version'
> {
  /** The last rejection of the mail service while the pause after it lasts, else null. */
  rejection: string | null;
}

const COLUMNS =
  'origin, username, address, mail_user_id, password, token, token_version, CASE WHEN retry_at > now() THEN refusal END AS rejection';

const read = workspace.statement<MailAccountRow>(
  'mail.account',
  `SELECT ${COLUMNS} FROM mail_accounts WHERE tenant_id = $1 AND user_id = $2`,
);

const begin = workspace.statement<never>(
  'mail.account_begin',
  `INSERT INTO mail_accounts (tenant_id, user_id, origin, username, address, password)
   VALUES ($1, $2, 'created', $3, $4, $5) ON CONFLICT (tenant_id, user_id) DO NOTHING`,
);

const claim = workspace.statement<MailAccountRow>(
  'mail.account_claim',
  `UPDATE mail_accounts SET lease_id = $3, lease_until = now() + make_interval(secs => $5)
    WHERE tenant_id = $1 AND user_id = $2 AND token_version = $4
      AND (lease_until IS NULL OR lease_until < now()) AND (retry_at IS NULL OR retry_at <= now())
   RETURNING ${COLUMNS}`,
);

const settle = workspace.statement<MailAccountRow>(
  'mail.account_settle',
  `UPDATE mail_accounts
      SET mail_user_id = $4, token = $5, token_version = token_version + 1,
          lease_id = NULL, lease_until = NULL, retry_at = NULL, refusal = NULL, updated_at = now()
    WHERE tenant_id = $1 AND user_id = $2 AND lease_id = $3
   RETURNING ${COLUMNS}`,
);

const release = workspace.statement<never>(
  'mail.account_release',
  `UPDATE mail_accounts
      SET lease_id = NULL, lease_until = NULL, refusal = $5,
          retry_at = CASE WHEN $5::text IS NOT NULL THEN now() + make_interval(secs => $4) END
    WHERE tenant_id = $1 AND user_id = $2 AND lease_id = $3`,
);

const setAddress = workspace.statement<never>(
  'mail.account_set_address',
  `UPDATE mail_accounts SET address = $3, updated_at = now()
    WHERE tenant_id = $1 AND user_id = $2 AND origin = 'created'`,
);

const link = workspace.statement<never>(
  'mail.account_link',
  `INSERT INTO mail_accounts AS account (tenant_id, user_id, origin, username, mail_user_id, password, token, token_version)
   VALUES ($1, $2, 'linked', $3, $4, $5, $6, 1)
   ON CONFLICT (tenant_id, user_id) DO UPDATE SET
     origin = 'linked', username = $3, address = NULL, mail_user_id = $4, password = $5, token = $6,
     token_version = account.token_version + 1, lease_id = NULL, lease_until = NULL, retry_at = NULL,
     refusal = NULL, updated_at = now()`,
);

/** SQL of mail accounts. */
@Injectable()
export class MailAccountsRepository {
  constructor(private readonly db: Db) {}

  async read({ tenantId, userId }: MailOwner): Promise<MailAccountRow | null> {
    return (await this.db.query(read, [tenantId, userId]))[0] ?? null;
  }

  /** Records an account before its creation at the mail service, so that its password survives a crash. */
  async begin(
    owner: MailOwner,
    account: { username: string; address: string; password: string },
  ): Promise<void> {
    const { username, address, password } = account;
    await this.db.single((tx) =>
      tx.query(begin, [owner.tenantId, owner.userId, username, address, password]),
    );
  }

  /**
   * Leases the account for a login of at most `seconds`.
   * @param version of the unusable token
   * @returns null when another process holds the lease or has renewed the token
   */
  async claim(
    owner: MailOwner,
    lease: string,
    version: number,
    seconds: number,
  ): Promise<MailAccountRow | null> {
    const values = [owner.tenantId, owner.userId, lease, version, seconds];
    return (await this.db.single((tx) => tx.query(claim, values)))[0] ?? null;
  }

  /** Stores the new token and ends the lease. @returns null when the account was linked again meanwhile */
  async settle(
    owner: MailOwner,
    lease: string,
    mailUserId: string,
    token: string | null,
  ): Promise<MailAccountRow | null> {
    const values = [owner.tenantId, owner.userId, lease, mailUserId, token];
    return (await this.db.single((tx) => tx.query(settle, values)))[0] ?? null;
  }

  /** Ends the lease without a token. @param rejection code of the mail service; starts a pause of `pauseSeconds` */
  async release(
    owner: MailOwner,
    lease: string,
    pauseSeconds: number,
    rejection: string | null,
  ): Promise<void> {
    const values = [owner.tenantId, owner.userId, lease, pauseSeconds, rejection];
    await this.db.single((tx) => tx.query(release, values));
  }

  /** Records the address that the mail service has given to a created account. */
  async setAddress({ tenantId, userId }: MailOwner, address: string): Promise<void> {
    await this.db.single((tx) => tx.query(setAddress, [tenantId, userId, address]));
  }

  async link(
    owner: MailOwner,
    account: { username: string; mailUserId: string; password: string | null; token: string | null },
  ): Promise<void> {
    const { username, mailUserId, password, token } = account;
    await this.db.single((tx) =>
      tx.query(link, [owner.tenantId, owner.userId, username, mailUserId, password, token]),
    );
  }
}
