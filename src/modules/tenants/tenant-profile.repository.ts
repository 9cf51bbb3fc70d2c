import { Injectable } from '@nestjs/common';
import type { ImageSize } from '../../lib/image-size/index.js';
import { Db } from '../../platform/database/db.js';
import { directory } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';

export interface TenantProfileRow {
  id: string;
  name: string;
  slug: string;
  branding: { primary_color?: string | null };
  domains: { domain: string; verified: boolean }[];
  logo_version: string | null;
}

export interface LogoRow {
  format: 'png' | 'jpeg' | 'webp';
  version: string;
  /** Null: the version is the one the client has. */
  bytes: Buffer | null;
}

const read = directory.statement<TenantProfileRow>(
  'tenants.read_profile',
  `SELECT t.id, t.name, t.slug, t.branding, l.version AS logo_version, coalesce((
            SELECT json_agg(json_build_object('domain', d.domain, 'verified', d.verified_at IS NOT NULL) ORDER BY d.domain)
              FROM tenant_domains d WHERE d.tenant_id = t.id), '[]') AS domains
     FROM tenants t LEFT JOIN tenant_logos l ON l.tenant_id = t.id WHERE t.id = $1`,
);

const lock = directory.statement<never>(
  'tenants.lock',
  `SELECT FROM tenants WHERE id = $1 FOR NO KEY UPDATE`,
);

const update = directory.statement<never>(
  'tenants.update_profile',
  `UPDATE tenants SET name = $2, branding = $3 WHERE id = $1`,
);

const readLogo = directory.statement<LogoRow>(
  'tenants.read_logo',
  `SELECT format, version, CASE WHEN version = ANY ($2::text[]) THEN NULL ELSE bytes END AS bytes
     FROM tenant_logos WHERE tenant_id = $1`,
);

const writeLogo = directory.statement<never>(
  'tenants.write_logo',
  `INSERT INTO tenant_logos AS l (tenant_id, format, bytes, version, width, height) VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (tenant_id) DO UPDATE
     SET format = excluded.format, bytes = excluded.bytes, version = excluded.version, width = excluded.width,
         height = excluded.height, updated_at = now()`,
);

const deleteLogo = directory.statement<{ version: string }>(
  'tenants.delete_logo',
  `DELETE FROM tenant_logos WHERE tenant_id = $1 RETURNING version`,
);

/** SQL on how a workspace presents itself. */
@Injectable()
export class TenantProfileRepository {
  constructor(private readonly db: Db) {}

  async read(tenantId: string, reader: Reader = this.db): Promise<TenantProfileRow> {
    const [row] = await reader.query(read, [tenantId]);
    if (!row) throw new Error(`the workspace ${tenantId} is gone`);
    return row;
  }

  /** The same; other changes wait for the end of the transaction. */
  async lock(tx: Tx, tenantId: string): Promise<TenantProfileRow> {
    await tx.query(lock, [tenantId]);
    return this.read(tenantId, tx);
  }

  async update(tx: Tx, tenantId: string, name: string, branding: object): Promise<void> {
    await tx.query(update, [tenantId, name, branding]);
  }

  /** @param known versions that need not be sent again */
  async logo(tenantId: string, known: string[]): Promise<LogoRow | null> {
    return (await this.db.query(readLogo, [tenantId, known]))[0] ?? null;
  }

  async writeLogo(tx: Tx, tenantId: string, bytes: Buffer, version: string, size: ImageSize): Promise<void> {
    await tx.query(writeLogo, [tenantId, size.format, bytes, version, size.width, size.height]);
  }

  /** @returns false when there was none */
  async deleteLogo(tx: Tx, tenantId: string): Promise<boolean> {
    return (await tx.query(deleteLogo, [tenantId])).length > 0;
  }
}
