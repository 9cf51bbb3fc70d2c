import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { ConcurrentChangeError, errorCode } from '../../platform/database/database-errors.js';
import { Db } from '../../platform/database/db.js';
import { rowsOf } from '../../platform/database/rows.js';
import { directory } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { SecretBox, UnreadableSecretError } from '../../platform/secrets/secret-box.js';
import { TenantIssuer, TenantIssuerLink } from './issuers.schema.js';

const lock = directory.lock('issuers.lock', 'tenant issuers');

const anyEnabled = directory.statement<{ found: boolean }>(
  'issuers.any_enabled',
  `SELECT EXISTS (SELECT FROM tenant_issuers WHERE is_enabled) AS found`,
);

/** An issuer with its encrypted client secret. */
export type SealedIssuer = Pick<TenantIssuer, 'tenant_id' | 'id'> & { client_secret: string };

const withSecret = directory.statement<SealedIssuer>(
  'issuers.with_secret',
  `SELECT tenant_id, id, client_secret FROM tenant_issuers WHERE client_secret IS NOT NULL`,
);

/** Issuers of workspaces and the accounts that they have signed in. */
@Injectable()
export class IssuersRepository {
  constructor(private readonly db: Db) {}

  /** Serialises the changes of the issuers of a workspace, until the end of the transaction. */
  async lock(tx: Tx, tenantId: string): Promise<void> {
    await tx.query(lock, [tenantId]);
  }

  async find(tenantId: string, id: string, reader: Reader = this.db): Promise<TenantIssuer | null> {
    return rowsOf(reader, TenantIssuer).one({ tenant_id: tenantId, id });
  }

  /** A workspace has at most 10. */
  async readAll(tenantId: string, reader: Reader = this.db): Promise<TenantIssuer[]> {
    return rowsOf(reader, TenantIssuer).all({ tenant_id: tenantId });
  }

  /** Whether any workspace has an enabled issuer. */
  async anyEnabled(): Promise<boolean> {
    return (await this.db.query(anyEnabled, []))[0]?.found ?? false;
  }

  /** The account that a subject of the issuer has signed in to before. */
  async linkedAccount(
    { tenant_id, id: issuerId }: TenantIssuer,
    subject: string,
    reader: Reader = this.db,
  ): Promise<string | null> {
    return (
      (await rowsOf(reader, TenantIssuerLink).one({ tenant_id, issuer_id: issuerId, subject }))?.account_id ??
      null
    );
  }

  /** All accounts that the issuer has signed in. */
  async linkedAccounts({ tenant_id, id: issuerId }: TenantIssuer, reader: Reader): Promise<string[]> {
    const links = await rowsOf(reader, TenantIssuerLink).all({ tenant_id, issuer_id: issuerId });
    return links.map(({ account_id }) => account_id);
  }

  /** The issuers of all workspaces that have a client secret. */
  async withSecret(): Promise<SealedIssuer[]> {
    return this.db.query(withSecret, []);
  }

  /** Replaces an encrypted secret, unless it was changed since. */
  async replaceSecret({ tenant_id, id, client_secret }: SealedIssuer, sealed: string): Promise<void> {
    await this.db.tx((tx) =>
      rowsOf(tx, TenantIssuer).update({ tenant_id, id, client_secret }, { client_secret: sealed }),
    );
  }

  /** @returns false when the subject or the account already has a link of this issuer */
  async link(tx: Tx, { tenant_id, id: issuerId }: TenantIssuer, subject: string, accountId: string) {
    const rows = rowsOf(tx, TenantIssuerLink);
    try {
      return (await rows.insert({ tenant_id, issuer_id: issuerId, subject, account_id: accountId })) !== null;
    } catch (error) {
      // The issuer was deleted meanwhile. The repeated transaction does not find it.
      if (errorCode(error) === '23503') throw new ConcurrentChangeError('the issuer was deleted');
      throw error;
    }
  }
}

const USE = 'issuer client secret';

type Owner = Pick<TenantIssuer, 'tenant_id' | 'id'>;

const ownerOf = ({ tenant_id, id }: Owner): string => `${tenant_id} ${id}`;

/**
 * The client secrets of issuers: encrypted with the first of SECRET_KEYS. A start with another first key encrypts them again,
 * so that the earlier key can be removed afterwards.
 */
@Injectable()
export class IssuerSecrets implements OnModuleInit {
  private readonly logger = new Logger(IssuerSecrets.name);

  constructor(
    private readonly issuers: IssuersRepository,
    private readonly box: SecretBox,
  ) {}

  /** An unreadable secret does not prevent the start: it affects the sign-in by one issuer, which reports it. */
  async onModuleInit(): Promise<void> {
    for (const issuer of await this.issuers.withSecret()) {
      const { id, client_secret: sealed } = issuer;
      if (this.box.isCurrent(sealed)) continue;
      try {
        await this.issuers.replaceSecret(issuer, this.seal(issuer, this.open(issuer, sealed)));
      } catch (error) {
        if (!(error instanceof UnreadableSecretError)) throw error;
        this.logger.warn(`client secret of issuer ${id}: ${error.message}`);
      }
    }
  }

  /** Encrypts the client secret of an issuer for storage. */
  seal(issuer: Owner, secret: string): string {
    return this.box.seal(USE, ownerOf(issuer), Buffer.from(secret));
  }

  /** @throws UnreadableSecretError when SECRET_KEYS lacks its key */
  open(issuer: Owner, sealed: string): string {
    return this.box.open(USE, ownerOf(issuer), sealed).toString();
  }
}
