import { Body, Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { Errors } from '../../platform/http/errors.js';
import { Id } from '../../platform/http/id.pipe.js';
import { ListPresence, SetPresence } from './presence.dto.js';
import { PresenceErrors } from './presence.errors.js';
import { OwnPresenceEnvelope, PresenceEnvelope, PresenceListEnvelope } from './presence.response.js';
import { PresenceService } from './presence.service.js';

@ApiTags('presence')
@Controller('presence')
export class PresenceController {
  constructor(private readonly presence: PresenceService) {}

  @Endpoint('GET', {
    id: 'listPresence',
    summary: 'List the presence of users',
    description:
      'All users of the workspace who are not offline, or the users in `user_ids`. Sockets receive changes after `presence.subscribe`.',
    response: [PresenceListEnvelope, 'A page of users.'],
  })
  list(@Ctx() ctx: RequestContext, @Query() query: ListPresence): Promise<PresenceListEnvelope> {
    return this.presence.list(ctx, query);
  }

  @Endpoint('GET me', {
    id: 'readOwnPresence',
    summary: 'Read the status that you have chosen',
    description:
      'The status that you have chosen. Other users see it while one of your devices is connected. Without a choice, `status` is `online`.',
    response: [OwnPresenceEnvelope, 'Your status on all devices.'],
  })
  async own(@Ctx() ctx: RequestContext): Promise<OwnPresenceEnvelope> {
    return { presence: await this.presence.own(ctx) };
  }

  @Endpoint('PUT me', {
    id: 'setOwnPresence',
    summary: 'Choose your status',
    description:
      'For all devices, until `until` or another choice. Other users see an invisible user as offline.',
    example: { status: 'dnd', text: 'In a meeting' },
    response: [OwnPresenceEnvelope, 'Your status on all devices.'],
    errors: [Errors.validationFailed],
  })
  async choose(@Ctx() ctx: RequestContext, @Body() input: SetPresence): Promise<OwnPresenceEnvelope> {
    return { presence: await this.presence.choose(ctx, input) };
  }

  @Endpoint('GET :user_id', {
    id: 'readPresence',
    summary: 'Read the presence of a user',
    description: 'The same data as in the list. An invisible user is `offline`.',
    response: [PresenceEnvelope, 'The presence of the user.'],
    errors: [PresenceErrors.userNotFound],
  })
  read(@Ctx() ctx: RequestContext, @Id('user_id') userId: string): Promise<PresenceEnvelope> {
    return this.presence.read(ctx, userId);
  }
}
