import { Body, Controller, Injectable, type OnModuleInit, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { Errors, fieldError } from '../../platform/http/errors.js';
import { Id } from '../../platform/http/id.pipe.js';
import { Cursors } from '../../platform/paging/cursors.js';
import { defineClientEvent } from '../../platform/realtime/event-declarations.js';
import { SocketEvents } from '../../platform/realtime/socket-events.js';
import { PresenceDevices } from './devices/presence-devices.js';
import type { Choice } from './model/presence-rules.js';
import { PresenceEvents } from './presence-events.js';
import { PresenceOptions, PresenceWrites } from './presence-writes.js';
import {
  ListPresence,
  OwnPresenceEnvelope,
  type OwnPresenceResponse,
  PresenceEnvelope,
  PresenceErrors,
  PresenceListEnvelope,
  type PresenceResponse,
  SetActive,
  SetPresence,
  SubscribePresence,
} from './presence.dto.js';
import { PresenceRepository } from './presence.repository.js';

const SET = defineClientEvent(
  'presence.set',
  'Choose your status for all devices, as with `PUT /presence/me`.',
  SetPresence,
  OwnPresenceEnvelope,
);
const ACTIVE = defineClientEvent(
  'presence.active',
  'Report whether the user works on this device. A device without activity is `away`.',
  SetActive,
);
const SUBSCRIBE = defineClientEvent(
  'presence.subscribe',
  'Receive the presence of these users from now on. Replaces an earlier subscription.',
  SubscribePresence,
  PresenceEnvelope,
);

/** Reads and sets presence, over HTTP and sockets. */
@Injectable()
export class PresenceService implements OnModuleInit {
  constructor(
    private readonly repository: PresenceRepository,
    private readonly writes: PresenceWrites,
    private readonly devices: PresenceDevices,
    private readonly events: PresenceEvents,
    private readonly options: PresenceOptions,
    private readonly sockets: SocketEvents,
    private readonly cursors: Cursors,
  ) {}

  onModuleInit(): void {
    const { sockets, devices, events } = this;
    sockets.register(SET, async ({ ctx }, input) => ({ presence: await this.choose(ctx, input) }));
    sockets.register(ACTIVE, async (connection, { active }) => {
      devices.setActive(connection, active);
      return {};
    });
    sockets.register(SUBSCRIBE, async (connection, { user_ids: userIds }) => {
      // Subscribes before it reads the list: a change in between is in the list and in an event, so none is missed.
      events.subscribe(connection, userIds);
      return this.snapshot(connection.ctx, userIds);
    });
  }

  /** The given users; without them, all users who are not offline. */
  async list(ctx: RequestContext, query: ListPresence): Promise<PresenceListEnvelope> {
    if (query.user_ids) return { ...(await this.snapshot(ctx, query.user_ids)), next: null };
    const { rows, next } = await this.cursors.page(query, {
      scope: `presence ${ctx.tenantId}`,
      key: ({ user_id }: PresenceResponse): [string] => [user_id],
      rows: (after, limit) => this.repository.list(ctx, after?.[0], limit),
    });
    return { presence: rows, next, as_of: new Date().toISOString() };
  }

  /** @throws ApiError 404 */
  async read(ctx: RequestContext, userId: string): Promise<PresenceEnvelope> {
    const found = await this.snapshot(ctx, [userId]);
    if (found.presence.length === 0) throw PresenceErrors.userNotFound.with();
    return found;
  }

  async readOwn(ctx: RequestContext): Promise<OwnPresenceResponse> {
    return ownPresenceOf(await this.repository.choice(ctx));
  }

  /** @throws ApiError 422 for an end in the past */
  async choose(
    ctx: RequestContext,
    { status, text, until = null }: SetPresence,
  ): Promise<OwnPresenceResponse> {
    if (until !== null && until.getTime() <= Date.now())
      throw fieldError('until', 'future', 'until must be in the future');
    const chosen: Choice = { choice: status === 'online' ? null : status, text, choice_until: until };
    this.events.publish(await this.writes.choose(ctx, chosen, this.options.graceSeconds));
    const own = ownPresenceOf(chosen);
    this.events.reportChoice(ctx, own);
    if (status === 'invisible') this.devices.sweepLater();
    return own;
  }

  private async snapshot(ctx: RequestContext, userIds: readonly string[]): Promise<PresenceEnvelope> {
    const rows = await this.repository.readPresence(ctx, userIds);
    return { presence: rows, as_of: new Date().toISOString() };
  }
}

const ownPresenceOf = ({ choice, text, choice_until }: Choice): OwnPresenceResponse => ({
  status: choice ?? 'online',
  text,
  until: choice_until?.toISOString() ?? null,
});

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
  async readOwn(@Ctx() ctx: RequestContext): Promise<OwnPresenceEnvelope> {
    return { presence: await this.presence.readOwn(ctx) };
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
