import { Body, Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Requires } from '../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { UpdateFileLimits, FileUsageEnvelope, UserFileUsageListEnvelope } from './tenant-files.dto.js';
import { TenantFiles } from './tenant-files.service.js';

@ApiTags('tenant')
@Controller('tenant/files')
export class TenantFilesController {
  constructor(private readonly files: TenantFiles) {}

  @Endpoint('GET', {
    id: 'readFileUsage',
    summary: 'Read use and limits of files',
    description:
      'Attachments, uploads, recordings and exports of the workspace, and those that you uploaded. Uploads above a limit get 507 `file_limit_reached`.',
    response: [FileUsageEnvelope, 'Use and limits.'],
  })
  async read(@Ctx() { tenantId, userId }: RequestContext): Promise<FileUsageEnvelope> {
    return { files: await this.files.usage(tenantId, userId) };
  }

  @Endpoint('PUT', {
    id: 'updateFileLimits',
    summary: 'Change the limit of each user',
    description:
      'A request with the current limit changes nothing. The operator of the deployment sets the limit of the workspace. Files above a new limit stay, further uploads are rejected.',
    response: [FileUsageEnvelope, 'Use and limits.'],
  })
  @Requires('tenant.policy')
  async update(@Ctx() ctx: RequestContext, @Body() body: UpdateFileLimits): Promise<FileUsageEnvelope> {
    return { files: await this.files.update(ctx, body) };
  }

  @Endpoint('GET users', {
    id: 'listFileUsers',
    summary: 'List the users with files',
    description: 'The users who uploaded most bytes come first. Guests and former members are included.',
    response: [UserFileUsageListEnvelope, 'A page of users.'],
  })
  @Requires('tenant.policy')
  users(@Ctx() ctx: RequestContext, @Query() query: PageQuery): Promise<UserFileUsageListEnvelope> {
    return this.files.users(ctx, query);
  }
}
