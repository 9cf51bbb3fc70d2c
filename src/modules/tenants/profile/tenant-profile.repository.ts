import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { directory } from '../../../platform/database/statement.js';
import { ANY_TAG } from '../../../platform/http/entity-tags.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { TenantLogo } from '../tenants.schema.js';

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

export interface LogoRow {
  format: 'png' | 'jpeg' | 'webp';
  version: string;
  /** Pixels of the longer side. */
  side: number;
  /** Null when the client has this version. */
  bytes: Buffer | null;
}

/** A logo that is ready to be stored. */
export interface EncodedLogo {
  format: LogoRow['format'];
  bytes: Buffer;
  /** SHA-256 of the bytes, the first half, hexadecimal. */
  version: string;
  width: number;
  height: number;
}

const readLogo = directory.statement<LogoRow>(
  'tenants.read_logo',
  `SELECT format, version, greatest(width, height) AS side,
          CASE WHEN ARRAY[version, '${ANY_TAG}'] && $2::text[] THEN NULL ELSE bytes END AS bytes
     FROM tenant_logos WHERE tenant_id = $1`,
);

const unencoded = directory.statement<Pick<TenantLogo, 'tenant_id' | 'version' | 'bytes'>>(
  'tenants.unencoded_logos',
  `SELECT tenant_id, version, bytes FROM tenant_logos WHERE NOT is_encoded ORDER BY tenant_id LIMIT $1`,
);

const replace = directory.statement<never>(
  'tenants.replace_logo',
  `UPDATE tenant_logos SET format = $3, bytes = $4, version = $5, width = $6, height = $7, is_encoded = true
    WHERE tenant_id = $1 AND version = $2`,
);

const drop = directory.statement<never>(
  'tenants.drop_logo',
  `DELETE FROM tenant_logos WHERE tenant_id = $1 AND version = $2`,
);

/** SQL of the logos of workspaces. */
@Injectable()
export class TenantLogosRepository {
  constructor(private readonly db: Db) {}

  /** @param knownVersions versions that the client has; `ANY_TAG` names all */
  async read(tenantId: string, knownVersions: string[]): Promise<LogoRow | null> {
    return (await this.db.query(readLogo, [tenantId, knownVersions]))[0] ?? null;
  }

  async write(tx: Tx, tenantId: string, logo: EncodedLogo): Promise<void> {
    const values = { tenant_id: tenantId, ...logo, is_encoded: true, updated_at: () => 'now()' };
    await rowsOf(tx, TenantLogo).store(['tenant_id'], values);
  }

  /** @returns false when the workspace has no logo */
  async delete(tx: Tx, tenantId: string): Promise<boolean> {
    return (await rowsOf(tx, TenantLogo).delete({ tenant_id: tenantId })).length > 0;
  }

  /** Logos of an earlier version. */
  async listUnencoded(limit: number): Promise<{ tenant_id: string; version: string; bytes: Buffer }[]> {
    return this.db.query(unencoded, [limit]);
  }

  /** Replaces a logo unless it has changed. @param logo null: removes it */
  async replace(tx: Tx, tenantId: string, before: string, logo: EncodedLogo | null): Promise<void> {
    if (logo === null) return void (await tx.query(drop, [tenantId, before]));
    const { format, bytes, version, width, height } = logo;
    await tx.query(replace, [tenantId, before, format, bytes, version, width, height]);
  }
}
