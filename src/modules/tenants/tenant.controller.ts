import { Body, Controller, Delete, Get, Headers, Put, Req } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOkResponse } from '@nestjs/swagger';
import type { Request } from 'express';
import { Requires } from '../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { ApiFile, BODY_ERRORS, Operation } from '../../platform/http/api-docs.js';
import { BytesBody } from '../../platform/http/body/body.guard.js';
import { Errors } from '../../platform/http/errors.js';
import type { BodyReply } from '../../platform/http/replies/body-reply.js';
import { versionsNamed } from '../../platform/http/replies/image-reply.js';
import { LOGO_TYPES, MAX_LOGO_BYTES, TenantProfileService } from './tenant-profile.service.js';
import { UpdateTenant } from './tenant.dto.js';
import { TenantEnvelope } from './tenant.response.js';
import { TenantErrors } from './tenants.errors.js';

const NOW = 'The updated workspace.';

@Controller('tenant')
export class TenantController {
  constructor(private readonly tenants: TenantProfileService) {}

  @Operation({
    tag: 'tenant',
    id: 'readTenant',
    summary: 'Read your workspace',
    description: 'Name, domains, branding, and the features and limits of this deployment.',
  })
  @ApiOkResponse({ type: TenantEnvelope, description: 'The workspace.' })
  @Get()
  read(@Ctx() ctx: RequestContext): Promise<TenantEnvelope> {
    return this.tenants.read(ctx.tenantId);
  }

  @Operation({
    tag: 'tenant',
    id: 'updateTenant',
    summary: 'Update name and branding of your workspace',
    description: 'Omitted fields stay unchanged.',
    errors: [Errors.validationFailed, ...BODY_ERRORS],
  })
  @ApiOkResponse({ type: TenantEnvelope, description: NOW })
  @Requires('tenant.manage')
  @Put()
  update(@Ctx() ctx: RequestContext, @Body() body: UpdateTenant): Promise<TenantEnvelope> {
    return this.tenants.update(ctx, body);
  }

  @Operation({
    tag: 'tenant',
    id: 'readTenantLogo',
    summary: 'Read the logo',
    description: 'PNG, JPEG or WebP. With its ETag as `If-None-Match`: 304 when unchanged.',
    errors: [TenantErrors.noLogo],
  })
  @ApiFile('image/*', 'The image.')
  @Get('logo')
  logo(
    @Ctx() ctx: RequestContext,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
  ): Promise<BodyReply> {
    return this.tenants.logo(ctx.tenantId, versionsNamed(ifNoneMatch));
  }

  @Operation({
    tag: 'tenant',
    id: 'setTenantLogo',
    summary: 'Set the logo',
    description:
      'The body is the image, at most 256 KiB and 2048 pixels per side. The format is detected from the content.',
    errors: [TenantErrors.invalidImage, Errors.bodyTooLarge, Errors.unsupportedMediaType],
  })
  @ApiConsumes(...LOGO_TYPES)
  @ApiBody({ schema: { type: 'string', format: 'binary' } })
  @ApiOkResponse({ type: TenantEnvelope, description: NOW })
  @BytesBody({ types: LOGO_TYPES, limit: MAX_LOGO_BYTES })
  @Requires('tenant.manage')
  @Put('logo')
  setLogo(@Ctx() ctx: RequestContext, @Req() request: Request): Promise<TenantEnvelope> {
    return this.tenants.setLogo(ctx, request.body as Buffer);
  }

  @Operation({
    tag: 'tenant',
    id: 'removeTenantLogo',
    summary: 'Remove the logo',
    errors: [TenantErrors.noLogo],
  })
  @ApiOkResponse({ type: TenantEnvelope, description: NOW })
  @Requires('tenant.manage')
  @Delete('logo')
  removeLogo(@Ctx() ctx: RequestContext): Promise<TenantEnvelope> {
    return this.tenants.removeLogo(ctx);
  }
}
