import { Body, Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { DOWNLOAD_ERRORS } from '../../platform/blobs/blobs.errors.js';
import { ApiDownload } from '../../platform/blobs/download-docs.js';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { Errors } from '../../platform/http/errors.js';
import type { ContentReply } from '../../platform/http/replies/content-reply.js';
import { RateLimited, type RouteLimit } from '../../platform/rate-limits/rate-limit.guard.js';
import { ConfirmOwner, OWNER_CHECK_ERRORS, PASSWORD_LIMIT } from '../account-security/index.js';
import { PersonalDataErrors } from './personal-data.errors.js';
import { PersonalExportEnvelope } from './personal-export.response.js';
import { PersonalExportsService } from './personal-exports.service.js';

/** An export reads all data of the user. */
const EXPORT_LIMIT: RouteLimit = {
  scope: 'personal-export',
  by: 'account',
  requests: 20,
  perSeconds: 86_400,
};

@ApiTags('settings')
@Controller('settings/export')
export class PersonalExportController {
  constructor(private readonly exports: PersonalExportsService) {}

  @Endpoint('POST', {
    id: 'startExport',
    summary: 'Export your data',
    description:
      'Starts an export of your data in this workspace and of your account: one ZIP archive with JSON, iCalendar, vCard and your files. It replaces the previous export. Requires your password if the account has one; an account with neither a password nor a second factor needs a sign-in of the last ten minutes.',
    status: 202,
    response: [PersonalExportEnvelope, 'The export has started.'],
    errors: [PersonalDataErrors.exportRunning, ...OWNER_CHECK_ERRORS],
  })
  @RateLimited(PASSWORD_LIMIT, EXPORT_LIMIT)
  start(@Ctx() ctx: RequestContext, @Body() body: ConfirmOwner): Promise<PersonalExportEnvelope> {
    return this.exports.start(ctx, body);
  }

  @Endpoint('GET', {
    id: 'readExport',
    summary: 'Read the state of your export',
    description:
      'State and progress of the latest export, or null without one. Poll it until `state` is final, then download the file.',
    response: [PersonalExportEnvelope, 'The latest export.'],
  })
  read(@Ctx() ctx: RequestContext): Promise<PersonalExportEnvelope> {
    return this.exports.read(ctx);
  }

  @Endpoint('GET file', {
    id: 'downloadExport',
    summary: 'Download your export',
    description: 'The finished archive, for seven days. `Range` for a part of it.',
    errors: [PersonalDataErrors.exportNotFound, Errors.badRequest, ...DOWNLOAD_ERRORS],
  })
  @ApiDownload('The archive.')
  download(@Ctx() ctx: RequestContext): Promise<ContentReply> {
    return this.exports.download(ctx);
  }
}
