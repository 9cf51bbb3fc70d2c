import { Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Requires } from '../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { Operation } from '../../platform/http/api-docs.js';
import { Errors } from '../../platform/http/errors.js';
import { Id } from '../../platform/http/id.pipe.js';
import { AccessErrors } from './access.errors.js';
import { ListPeople } from './people.dto.js';
import { PersonEnvelope, PersonListEnvelope } from './people.response.js';
import { PeopleService } from './people.service.js';

const STATUS_ERRORS = [AccessErrors.personNotFound, AccessErrors.cannotGrantUnheld, Errors.invalidId];

@Controller('tenant/members')
export class PeopleController {
  constructor(private readonly people: PeopleService) {}

  @Operation({
    tag: 'tenant',
    id: 'listTenantMembers',
    summary: 'The people of the workspace, deactivated ones included',
    errors: [Errors.validationFailed, Errors.invalidCursor],
  })
  @ApiOkResponse({ type: PersonListEnvelope, description: 'A page of people.' })
  @Requires('tenant.read')
  @Get()
  list(@Ctx() ctx: RequestContext, @Query() query: ListPeople): Promise<PersonListEnvelope> {
    return this.people.list(ctx, query);
  }

  @Operation({
    tag: 'tenant',
    id: 'deactivateTenantMember',
    summary: "End somebody's membership",
    description:
      'Their sessions of this workspace end, everywhere within 5 seconds. You must hold all that they hold. The last active owner stays, and you leave by way of your own profile.',
    errors: [...STATUS_ERRORS, AccessErrors.lastAdmin],
  })
  @ApiOkResponse({ type: PersonEnvelope, description: 'As they are now.' })
  @Requires('users.deactivate')
  @HttpCode(200)
  @Post(':user_id/deactivate')
  deactivate(@Ctx() ctx: RequestContext, @Id('user_id') userId: string): Promise<PersonEnvelope> {
    return this.people.setStatus(ctx, userId, 'deactivated');
  }

  @Operation({
    tag: 'tenant',
    id: 'activateTenantMember',
    summary: "Renew somebody's membership",
    description: 'With the groups they were in. You must hold all that these allow.',
    errors: STATUS_ERRORS,
  })
  @ApiOkResponse({ type: PersonEnvelope, description: 'As they are now.' })
  @Requires('users.deactivate')
  @HttpCode(200)
  @Post(':user_id/activate')
  activate(@Ctx() ctx: RequestContext, @Id('user_id') userId: string): Promise<PersonEnvelope> {
    return this.people.setStatus(ctx, userId, 'active');
  }
}
