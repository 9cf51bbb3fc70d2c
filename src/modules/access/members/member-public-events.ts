import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PermissionSource } from '../../../platform/context/permission.guard.js';
import { FACTS, PublicEvents, publicEvents } from '../../../platform/events/public-events.js';
import { TenantMembersRepository } from './tenant-members.repository.js';
import { TenantMemberResponse } from './tenant-members.dto.js';

const MEMBER_EVENTS = publicEvents(
  { kind: 'member', object: TenantMemberResponse, facts: { user_id: FACTS.id } },
  {
    'member.joined': 'A user became a member of the workspace.',
    'member.activated': 'A member was activated again.',
    'member.deactivated': 'A member was deactivated, or left the workspace.',
  },
);

/** The events of memberships that programs of others receive: those of members who may list all members. */
@Injectable()
export class MemberPublicEvents implements OnModuleInit {
  constructor(
    private readonly events: PublicEvents,
    private readonly members: TenantMembersRepository,
    private readonly permissions: PermissionSource,
  ) {}

  onModuleInit(): void {
    this.events.register(MEMBER_EVENTS, {
      one: async (ctx, { user_id: userId }) =>
        (await this.permissions.permissionsOf(ctx)).has('tenant.read')
          ? this.members.read(ctx.tenantId, userId as string)
          : undefined,
    });
  }
}
