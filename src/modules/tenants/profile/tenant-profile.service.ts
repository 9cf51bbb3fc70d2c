import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../../config/config.js';
import { Audit, type AuditActor, changes } from '../../../platform/audit/audit.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Deployment } from '../../../platform/deployment/deployment.js';
import type { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { ANY_TAG } from '../../../platform/http/entity-tags.js';
import { imageReply } from '../../../platform/http/replies/file-reply.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { MAX_LOGO_BYTES, TenantLogos } from './tenant-logos.js';
import {
  TenantLogosRepository,
  TenantProfileRepository,
  type TenantProfileRow,
} from './tenant-profile.repository.js';
import type { TenantEnvelope } from './tenant.dto.js';
import { TenantErrors } from '../tenants.errors.js';

export const LOGO_TYPES = ['image/png', 'image/jpeg', 'image/webp'] as const;

interface TenantChanges {
  name?: string;
  branding?: { primary_color?: string | null };
}

/** Actor of a change: a member with `tenant.manage`, or the operator. */
type TenantActor = AuditActor & { readonly tenantId: string };

/** Profile of a workspace: name, colour and logo, and features and limits of the deployment. */
@Injectable()
export class TenantProfileService implements OnModuleInit {
  constructor(
    private readonly profiles: TenantProfileRepository,
    private readonly logos: TenantLogosRepository,
    private readonly encoder: TenantLogos,
    private readonly deployment: Deployment,
    private readonly audit: Audit,
    private readonly db: Db,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.deployment.limit('logo_bytes', MAX_LOGO_BYTES);
  }

  async read(tenantId: string): Promise<TenantEnvelope> {
    return this.present(await this.profiles.read(tenantId));
  }

  /** Omitted fields stay unchanged. */
  async update(actor: TenantActor, input: TenantChanges): Promise<TenantEnvelope> {
    return this.db.tx(async (tx) => {
      const before = await this.profiles.lock(tx, actor.tenantId);
      const name = input.name ?? before.name;
      const color = input.branding?.primary_color;
      const branding = { ...before.branding, ...(color !== undefined && { primary_color: color }) };
      const diff = changes(
        { name: before.name, primary_color: before.branding.primary_color },
        { name, primary_color: branding.primary_color },
      );
      if (Object.keys(diff.after).length === 0) return this.present(before);
      await this.profiles.update(tx, actor.tenantId, name, branding);
      await this.log(tx, actor, 'tenant.updated', diff);
      return this.present({ ...before, name, branding });
    });
  }

  /**
   * @param knownVersions versions that the client has
   * @param options.size maximum of width and height, pixels; undefined: as stored
   * @param options.cacheControl replaces the default Cache-Control of images
   * @throws ApiError 404 without a logo
   */
  async logo(
    tenantId: string,
    knownVersions: string[],
    { size, cacheControl }: { size?: number | undefined; cacheControl?: string } = {},
  ): Promise<BodyReply> {
    const suffix = size === undefined ? '' : `-${size}`;
    const known = knownVersions.flatMap((each) =>
      each === ANY_TAG ? [each] : each.endsWith(suffix) ? [each.slice(0, each.length - suffix.length)] : [],
    );
    const logo = await this.logos.read(tenantId, known);
    if (!logo) throw TenantErrors.noLogo.with();
    const { bytes, format, version, side } = logo;
    const isScaled = size !== undefined && bytes !== null && side > size;
    const shown = isScaled ? await this.encoder.scale({ ...logo, bytes }, size) : bytes;
    return imageReply(shown, format, `"${version}${suffix}"`, cacheControl);
  }

  /**
   * Stores the image encoded again.
   * @param bytes at most MAX_LOGO_BYTES
   * @throws ApiError 422 `invalid_image` unless the content is a PNG, JPEG or WebP of an allowed size
   */
  async setLogo(actor: TenantActor, bytes: Buffer): Promise<TenantEnvelope> {
    if (bytes.length > MAX_LOGO_BYTES) throw TenantErrors.invalidImage.with();
    const logo = await this.encoder.encode(bytes);
    return this.db.tx(async (tx) => {
      const before = await this.profiles.lock(tx, actor.tenantId);
      if (before.logo_version === logo.version) return this.present(before);
      await this.logos.write(tx, actor.tenantId, logo);
      const { format, width, height, version } = logo;
      const data = { format, width, height, bytes: logo.bytes.length, sha256: version };
      await this.log(tx, actor, 'tenant.logo.set', data);
      return this.present({ ...before, logo_version: version });
    });
  }

  /** @throws ApiError 404 without a logo */
  async removeLogo(actor: TenantActor): Promise<TenantEnvelope> {
    return this.db.tx(async (tx) => {
      const before = await this.profiles.lock(tx, actor.tenantId);
      if (!(await this.logos.delete(tx, actor.tenantId))) throw TenantErrors.noLogo.with();
      await this.log(tx, actor, 'tenant.logo.removed');
      return this.present({ ...before, logo_version: null });
    });
  }

  private async log(tx: Tx, actor: TenantActor, action: string, data = {}): Promise<void> {
    await this.audit.record(tx, actor, { action, objectKind: 'tenant', objectId: actor.tenantId, data });
  }

  private present(row: TenantProfileRow): TenantEnvelope {
    const logo = `${this.config.publicUrl}/apis/v1/tenant/logo`;
    return {
      tenant: {
        id: row.id,
        name: row.name,
        slug: row.slug,
        domains: row.domains,
        branding: {
          primary_color: row.branding.primary_color ?? null,
          logo_url: row.logo_version && `${logo}?v=${row.logo_version.slice(0, 16)}`,
        },
        features: this.deployment.features,
        quotas: QUOTAS,
        limits: this.deployment.limits,
      },
    };
  }
}
