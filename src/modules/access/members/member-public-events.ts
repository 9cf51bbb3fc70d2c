import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PermissionSource } from '../../../platform/context/permission.guard.js';
import { PublicEvents } from '../../../platform/events/public-events.js';
import { UUID } from '../../../platform/field-docs/field-docs.js';
import { TenantMembersRepository } from './tenant-members.repository.js';
import { TenantMemberResponse } from './tenant-members.response.js';

/** The events of memberships that programs of others receive: those of members who may list all members. */
@Injectable()
export class MemberPublicEvents implements OnModuleInit {
  constructor(
    private readonly events: PublicEvents,
    private readonly members: TenantMembersRepository,
    private readonly permissions: PermissionSource,
  ) {}

  onModuleInit(): void {
    this.events.register(
      {
        kind: 'member',
        object: TenantMemberResponse,
        facts: { user_id: { type: 'string', ...UUID } },
        read: async (ctx, { user_id: userId }) =>
          (await this.permissions.of(ctx)).has('tenant.read')
            ? await this.members.read(ctx.tenantId, userId as string)
            : undefined,
      },
      {
        'member.joined': 'A user became a member of the workspace.',
        'member.activated': 'A member was activated again.',
        'member.deactivated': 'A member was deactivated, or left the workspace.',
      },
    );
  }
}
