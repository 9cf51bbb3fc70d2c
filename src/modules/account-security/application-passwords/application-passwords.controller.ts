import { Body, Controller, Delete, Get, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { BODY_ERRORS, Operation } from '../../../platform/http/api-docs.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { SecurityErrors } from '../account-security.errors.js';
import {
  ApplicationPasswordEnvelope,
  ApplicationPasswordListEnvelope,
  DeletedApplicationPassword,
  NewApplicationPasswordEnvelope,
} from './application-password.response.js';
import { CreateApplicationPassword } from './application-passwords.dto.js';
import { ApplicationPasswords } from './application-passwords.service.js';

@Controller('settings/application-passwords')
export class ApplicationPasswordsController {
  constructor(private readonly passwords: ApplicationPasswords) {}

  @Operation({
    tag: 'settings',
    id: 'listApplicationPasswords',
    summary: 'List your application passwords',
    description: 'Application passwords of this workspace, newest first, without the secrets.',
    errors: [Errors.validationFailed, Errors.invalidCursor],
  })
  @ApiOkResponse({ type: ApplicationPasswordListEnvelope, description: 'A page of application passwords.' })
  @Get()
  list(@Ctx() ctx: RequestContext, @Query() query: PageQuery): Promise<ApplicationPasswordListEnvelope> {
    return this.passwords.list(ctx, query);
  }

  @Operation({
    tag: 'settings',
    id: 'createApplicationPassword',
    summary: 'Create a password for a mail or calendar program',
    description:
      'The program signs in with your address and this password, for the named protocols only. It is not a bearer token, and stays valid after a change of your password.',
    errors: [
      SecurityErrors.tooManyApplicationPasswords,
      SecurityErrors.mailServiceUnavailable,
      Errors.validationFailed,
      ...BODY_ERRORS,
    ],
  })
  @ApiCreatedResponse({ type: NewApplicationPasswordEnvelope, description: 'The password; shown only now.' })
  @Post()
  create(
    @Ctx() ctx: RequestContext,
    @Body() body: CreateApplicationPassword,
  ): Promise<NewApplicationPasswordEnvelope> {
    return this.passwords.create(ctx, body);
  }

  @Operation({
    tag: 'settings',
    id: 'readApplicationPassword',
    summary: 'Read an application password',
    description: 'Includes time and address of the last use, not the secret.',
    errors: [SecurityErrors.notFound, Errors.invalidId],
  })
  @ApiOkResponse({ type: ApplicationPasswordEnvelope, description: 'The application password.' })
  @Get(':asp_id')
  async read(@Ctx() ctx: RequestContext, @Id('asp_id') id: string): Promise<ApplicationPasswordEnvelope> {
    return { application_password: await this.passwords.read(ctx, id) };
  }

  @Operation({
    tag: 'settings',
    id: 'deleteApplicationPassword',
    summary: 'End an application password',
    errors: [SecurityErrors.notFound, Errors.invalidId],
  })
  @ApiOkResponse({ type: DeletedApplicationPassword, description: 'The application password ended.' })
  @Delete(':asp_id')
  async delete(@Ctx() ctx: RequestContext, @Id('asp_id') id: string): Promise<DeletedApplicationPassword> {
    await this.passwords.delete(ctx, id);
    return { deleted: true };
  }
}
