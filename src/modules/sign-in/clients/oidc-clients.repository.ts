import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { directory } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';

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
}

const CLIENT = `id, kind, name, first_party AS "firstParty", secret_hash AS "secretHash", redirect_uris AS "redirectUris",
  logout_uris AS "logoutUris", account_id AS "accountId", tenant_id AS "tenantId"`;

const find = directory.statement<ClientRow>(
  'oidc_clients.find',
  `SELECT ${CLIENT} FROM oidc_clients WHERE id = $1`,
);

const list = directory.statement<ClientRow & { tenant: string | null }>(
  'oidc_clients.list',
  `SELECT ${CLIENT}, (SELECT slug FROM tenant_names tenant WHERE tenant.id = tenant_id) AS tenant FROM oidc_clients ORDER BY id`,
);

const create = directory.statement<{ id: string }>(
  'oidc_clients.create',
  `INSERT INTO oidc_clients (id, kind, name, first_party, secret_hash, redirect_uris, logout_uris, account_id, tenant_id)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING id`,
);

const remove = directory.statement<{ account_id: string | null }>(
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
  async create(tx: Tx, client: ClientRow): Promise<boolean> {
    const { id, kind, name, firstParty, secretHash, redirectUris, logoutUris, accountId, tenantId } = client;
    const values = [id, kind, name, firstParty, secretHash, redirectUris, logoutUris, accountId, tenantId];
    return (await tx.query(create, values)).length > 0;
  }

  /** @returns the account of a service, null for other kinds; undefined for an unknown client */
  async remove(tx: Tx, id: string): Promise<string | null | undefined> {
    return (await tx.query(remove, [id]))[0]?.account_id;
  }
}
