import { Body, Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { SecurityErrors } from '../account-security.errors.js';
import {
  ApplicationPasswordEnvelope,
  ApplicationPasswordListEnvelope,
  CreateApplicationPassword,
  DeletedApplicationPassword,
  NewApplicationPasswordEnvelope,
} from './application-passwords.dto.js';
import { ApplicationPasswords } from './application-passwords.service.js';

@ApiTags('settings')
@Controller('settings/application-passwords')
export class ApplicationPasswordsController {
  constructor(private readonly passwords: ApplicationPasswords) {}

  @Endpoint('GET', {
    id: 'listApplicationPasswords',
    summary: 'List your application passwords',
    description: 'Application passwords of this workspace, newest first, without the secrets.',
    response: [ApplicationPasswordListEnvelope, 'A page of application passwords.'],
  })
  list(@Ctx() ctx: RequestContext, @Query() query: PageQuery): Promise<ApplicationPasswordListEnvelope> {
    return this.passwords.list(ctx, query);
  }

  @Endpoint('POST', {
    id: 'createApplicationPassword',
    summary: 'Create a password for a mail or calendar program',
    description:
      'The program signs in with your address and this password, for the named protocols only. It is not a bearer token, and stays valid after a change of your password. At least one of the protocols must have a server that accepts these passwords: `application_password_protocols` of `GET /settings/security`.',
    status: 201,
    response: [NewApplicationPasswordEnvelope, 'The password; shown only now.'],
    errors: [
      SecurityErrors.noMailProtocol,
      SecurityErrors.tooManyApplicationPasswords,
      SecurityErrors.mailServiceUnavailable,
    ],
  })
  create(
    @Ctx() ctx: RequestContext,
    @Body() body: CreateApplicationPassword,
  ): Promise<NewApplicationPasswordEnvelope> {
    return this.passwords.create(ctx, body);
  }

  @Endpoint('GET :asp_id', {
    id: 'readApplicationPassword',
    summary: 'Read an application password',
    description: 'Includes time and address of the last use, not the secret.',
    response: [ApplicationPasswordEnvelope, 'The application password.'],
    errors: [SecurityErrors.notFound],
  })
  async read(@Ctx() ctx: RequestContext, @Id('asp_id') id: string): Promise<ApplicationPasswordEnvelope> {
    return { application_password: await this.passwords.read(ctx, id) };
  }

  @Endpoint('DELETE :asp_id', {
    id: 'deleteApplicationPassword',
    summary: 'End an application password',
    description:
      'Programs can no longer sign in with this password. Your own password and your sessions stay.',
    response: [DeletedApplicationPassword, 'The application password ended.'],
    errors: [SecurityErrors.notFound],
  })
  async delete(@Ctx() ctx: RequestContext, @Id('asp_id') id: string): Promise<DeletedApplicationPassword> {
    await this.passwords.delete(ctx, id);
    return { deleted: true };
  }
}
