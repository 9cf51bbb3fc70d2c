import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { directory } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { boundedPage, PAGE_BYTES } from '../../../platform/bounded-pages/page-bytes.js';
import type { OidcClient } from '../sign-in.schema.js';

export const CLIENT_KINDS = ['public', 'confidential', 'device', 'service'] as const;

/**
 * `public`: an application in a browser or on a phone. `confidential`: an application with a server that stores a secret.
 * `device`: a device without a browser, which shows a code (RFC 8628). `service`: an integration without a user.
 */
export type ClientKind = (typeof CLIENT_KINDS)[number];

export interface ClientRow {
  id: string;
  kind: ClientKind;
  name: string;
  firstParty: boolean;
  /** SHA-256. */
  secretHash: Buffer | null;
  redirectUris: string[];
  logoutUris: string[];
  /** Account and workspace of a service. */
  accountId: string | null;
  tenantId: string | null;
  /** Workspace whose administrators registered the client, and whose members it is for; null: of the operator. */
  ownerTenantId: string | null;
  /** Scopes that the client may request; null: all. */
  scopes: string[] | null;
}

/** A client that administrators of a workspace registered. */
export interface OwnedClientRow extends ClientRow {
  createdBy: string | null;
  createdAt: Date;
}

const CONTENT = `kind, name, first_party AS "firstParty", secret_hash AS "secretHash", redirect_uris AS "redirectUris",
  logout_uris AS "logoutUris", account_id AS "accountId", tenant_id AS "tenantId",
  owner_tenant_id AS "ownerTenantId", scopes`;
const CLIENT = `id, ${CONTENT}`;
const OWNED_CONTENT = `${CONTENT}, created_by AS "createdBy", created_at AS "createdAt"`;
const OWNED = `id, ${OWNED_CONTENT}`;

/** A client of a page; beyond the bytes of the page it has only its id. */
export type ListedClientRow = OwnedClientRow & { fits: boolean };

const owned = directory.statement<ListedClientRow>(
  'oidc_clients.owned',
  boundedPage({
    keys: `SELECT client.id, 1024 + octet_length(client.redirect_uris::text) + octet_length(client.logout_uris::text) AS bytes
             FROM oidc_clients client WHERE client.owner_tenant_id = $1 AND client.id > $2 ORDER BY client.id LIMIT $3`,
    order: 'sized.id',
    limit: '$3',
    bytes: '$4',
    columns: 'sized.id, sized.fits, shown.*',
    shown: {
      columns: OWNED_CONTENT,
      from: 'oidc_clients WHERE owner_tenant_id = $1 AND oidc_clients.id = sized.id',
    },
  }),
);

const findOwned = directory.statement<OwnedClientRow>(
  'oidc_clients.find_owned',
  `SELECT ${OWNED} FROM oidc_clients WHERE owner_tenant_id = $1 AND id = $2`,
);

const countOwned = directory.statement<{ count: number }>(
  'oidc_clients.count_owned',
  `SELECT count(*)::int AS count FROM oidc_clients WHERE owner_tenant_id = $1`,
);

const lockOwned = directory.lock('oidc_clients.lock_owned', 'oidc clients of');

const setSecret = directory.statement<Pick<OidcClient, 'id'>>(
  'oidc_clients.set_secret',
  `UPDATE oidc_clients SET secret_hash = $3 WHERE owner_tenant_id = $1 AND id = $2 RETURNING id`,
);

const find = directory.statement<ClientRow>(
  'oidc_clients.find',
  `SELECT ${CLIENT} FROM oidc_clients WHERE id = $1`,
);

const list = directory.statement<ClientRow & { tenant: string | null }>(
  'oidc_clients.list',
  `SELECT ${CLIENT}, (SELECT slug FROM tenant_names tenant WHERE tenant.id = tenant_id) AS tenant FROM oidc_clients ORDER BY id`,
);

const create = directory.statement<Pick<OidcClient, 'id'>>(
  'oidc_clients.create',
  `INSERT INTO oidc_clients (id, kind, name, first_party, secret_hash, redirect_uris, logout_uris, account_id, tenant_id,
                             owner_tenant_id, created_by, scopes)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING RETURNING id`,
);

const remove = directory.statement<Pick<OidcClient, 'account_id'>>(
  'oidc_clients.remove',
  `DELETE FROM oidc_clients WHERE id = $1 RETURNING account_id`,
);

@Injectable()
export class OidcClientsRepository {
  constructor(private readonly db: Db) {}

  async find(id: string): Promise<ClientRow | null> {
    return (await this.db.query(find, [id]))[0] ?? null;
  }

  async list(): Promise<(ClientRow & { tenant: string | null })[]> {
    return this.db.query(list, []);
  }

  /** @returns false when the id is taken */
  async create(tx: Tx, client: ClientRow, createdBy: string | null): Promise<boolean> {
    const { id, kind, name, firstParty, secretHash, redirectUris, logoutUris, accountId, tenantId } = client;
    const values = [id, kind, name, firstParty, secretHash, redirectUris, logoutUris, accountId, tenantId];
    const owner = [client.ownerTenantId, createdBy, client.scopes];
    return (await tx.query(create, [...values, ...owner])).length > 0;
  }

  /** Clients of a workspace with an id above `after`. */
  async listOwned(tenantId: string, after: string, limit: number): Promise<ListedClientRow[]> {
    return this.db.query(owned, [tenantId, after, limit, PAGE_BYTES]);
  }

  async findOwned(tenantId: string, id: string): Promise<OwnedClientRow | null> {
    return (await this.db.query(findOwned, [tenantId, id]))[0] ?? null;
  }

  /** The number of clients of a workspace. Serialises their creation until the end of the transaction. */
  async countOwned(tx: Tx, tenantId: string): Promise<number> {
    await tx.query(lockOwned, [tenantId]);
    return (await tx.query(countOwned, [tenantId]))[0]?.count ?? 0;
  }

  /** @returns false for a client that was removed meanwhile */
  async setSecret(tx: Tx, tenantId: string, id: string, secretHash: Buffer): Promise<boolean> {
    return (await tx.query(setSecret, [tenantId, id, secretHash])).length > 0;
  }

  /** @returns the account of a service, null for other kinds; undefined for an unknown client */
  async remove(tx: Tx, id: string): Promise<string | null | undefined> {
    return (await tx.query(remove, [id]))[0]?.account_id;
  }
}
