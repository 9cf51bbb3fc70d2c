import { Body, Controller, Headers, Query, Req } from '@nestjs/common';
import { ApiTags, ApiBody, ApiConsumes } from '@nestjs/swagger';
import type { Request } from 'express';
import { FileLimits } from '../../../platform/blobs/file-limits.js';
import { usageResponse } from '../../../platform/blobs/file-usage.response.js';
import { Requires } from '../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { ApiCachedFile } from '../../../platform/http/api-docs.js';
import { BytesBody } from '../../../platform/http/body/body.guard.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import type { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { ImageErrors } from '../../../platform/images/images.js';
import { versionsNamed } from '../../../platform/http/entity-tags.js';
import { MAX_LOGO_BYTES } from './tenant-logos.js';
import { LOGO_TYPES, TenantProfileService } from './tenant-profile.service.js';
import { ReadLogo, TenantEnvelope, UpdateTenant } from './tenant.dto.js';
import { TenantErrors } from '../tenants.errors.js';

const NOW = 'The updated workspace.';

@ApiTags('tenant')
@Controller('tenant')
export class TenantController {
  constructor(
    private readonly tenants: TenantProfileService,
    private readonly limits: FileLimits,
  ) {}

  @Endpoint('GET', {
    id: 'readTenant',
    summary: 'Read your workspace',
    description: 'Name, domains, branding, use of files, and the features and limits of this deployment.',
    response: [TenantEnvelope, 'The workspace.'],
  })
  async read(@Ctx() { tenantId, userId }: RequestContext): Promise<TenantEnvelope> {
    const { tenant } = await this.tenants.read(tenantId);
    return { tenant: { ...tenant, files: usageResponse(await this.limits.usage(tenantId, userId)) } };
  }

  @Endpoint('PUT', {
    id: 'updateTenant',
    summary: 'Update name and branding of your workspace',
    description: 'Omitted fields stay unchanged.',
    response: [TenantEnvelope, NOW],
  })
  @Requires('tenant.manage')
  update(@Ctx() ctx: RequestContext, @Body() body: UpdateTenant): Promise<TenantEnvelope> {
    return this.tenants.update(ctx, body);
  }

  @Endpoint('GET logo', {
    id: 'readTenantLogo',
    summary: 'Read the logo',
    description: 'PNG, JPEG or WebP. With its ETag as `If-None-Match`: 304 when unchanged.',
    errors: [TenantErrors.noLogo, ImageErrors.unavailable],
  })
  @ApiCachedFile('image/*', 'The image.')
  logo(
    @Ctx() ctx: RequestContext,
    @Query() { size }: ReadLogo,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
  ): Promise<BodyReply> {
    return this.tenants.logo(ctx.tenantId, versionsNamed(ifNoneMatch), { size });
  }

  @Endpoint('PUT logo', {
    id: 'setTenantLogo',
    summary: 'Set the logo',
    description:
      'The body is the image, at most 256 KiB and 2048 pixels per side. The format is detected from the content. The image is encoded again, without metadata.',
    response: [TenantEnvelope, NOW],
    errors: [
      TenantErrors.invalidImage,
      ImageErrors.unavailable,
      Errors.bodyTooLarge,
      Errors.unsupportedMediaType,
    ],
  })
  @ApiConsumes(...LOGO_TYPES)
  @ApiBody({ schema: { type: 'string', format: 'binary' } })
  @BytesBody({ types: LOGO_TYPES, limit: MAX_LOGO_BYTES })
  @Requires('tenant.manage')
  setLogo(@Ctx() ctx: RequestContext, @Req() request: Request): Promise<TenantEnvelope> {
    return this.tenants.setLogo(ctx, request.body as Buffer);
  }

  @Endpoint('DELETE logo', {
    id: 'removeTenantLogo',
    summary: 'Remove the logo',
    description: 'Pages and mails of the workspace show its name instead.',
    response: [TenantEnvelope, NOW],
    errors: [TenantErrors.noLogo],
  })
  @Requires('tenant.manage')
  removeLogo(@Ctx() ctx: RequestContext): Promise<TenantEnvelope> {
    return this.tenants.removeLogo(ctx);
  }
}
