import { Injectable } from '@nestjs/common';
import type { MemberKey } from '../../../platform/context/request-context.js';
import { PresenceApi } from '../../presence/index.js';

/** Whether a user works with the workspace now, and sees notifications without an e-mail. */
@Injectable()
export class UserActivity {
  constructor(private readonly presence: PresenceApi) {}

  /** Reads the presence: an invisible user counts as absent. */
  async isActive(member: MemberKey): Promise<boolean> {
    const status = (await this.presence.of(member, [member.userId])).get(member.userId)?.status;
    return status === 'online' || status === 'dnd';
  }
}
