import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { directory } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';

export interface TenantProfileRow {
  id: string;
  name: string;
  slug: string;
  branding: { primary_color?: string | null };
  domains: { domain: string; verified: boolean }[];
  logo_version: string | null;
}

const read = directory.statement<TenantProfileRow>(
  'tenants.read_profile',
  `SELECT tenant.id, tenant.name, tenant.slug, tenant.branding, logo.version AS logo_version, coalesce((
            SELECT json_agg(json_build_object('domain', domain, 'verified', verified_at IS NOT NULL) ORDER BY domain)
              FROM tenant_domains WHERE tenant_id = $1), '[]') AS domains
     FROM tenants tenant LEFT JOIN tenant_logos logo ON logo.tenant_id = tenant.id WHERE tenant.id = $1`,
);

const lock = directory.statement<never>(
  'tenants.lock',
  `SELECT FROM tenants WHERE id = $1 FOR NO KEY UPDATE`,
);

const update = directory.statement<never>(
  'tenants.update_profile',
  `UPDATE tenants SET name = $2, branding = $3 WHERE id = $1`,
);

/** Reads and writes profiles of workspaces. */
@Injectable()
export class TenantProfileRepository {
  constructor(private readonly db: Db) {}

  async read(tenantId: string, reader: Reader = this.db): Promise<TenantProfileRow> {
    const [row] = await reader.query(read, [tenantId]);
    if (!row) throw new Error(`the workspace ${tenantId} does not exist`);
    return row;
  }

  /** Reads and locks the profile until the end of the transaction. */
  async lock(tx: Tx, tenantId: string): Promise<TenantProfileRow> {
    await tx.query(lock, [tenantId]);
    return this.read(tenantId, tx);
  }

  async update(tx: Tx, tenantId: string, name: string, branding: object): Promise<void> {
    await tx.query(update, [tenantId, name, branding]);
  }
}
