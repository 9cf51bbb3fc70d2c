import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { Tx } from '../../../platform/database/tx.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { TenantsApi } from '../../tenants/index.js';
import { ChatErrors } from '../chat.errors.js';
import { RoomMembersRepository } from './room-members.repository.js';

/**
 * Users with fewer than `QUOTAS.user.chat_rooms - LOCK_MARGIN` rooms are not locked, because PostgreSQL holds only a few thousand advisory locks.
 * The margin exceeds the number of concurrent additions of one user.
 */
const LOCK_MARGIN = 200;

/** Checks of users that are about to become members of a room. */
@Injectable()
export class RoomUsers {
  constructor(
    private readonly tenants: TenantsApi,
    private readonly members: RoomMembersRepository,
  ) {}

  /**
   * @param others users to look up: known and active
   * @param callers users that are known to be active
   * @param fieldOf the field of the request that names a user
   * @throws ApiError 404 for an unknown or deactivated user, 422 `too_many_rooms`
   */
  async assertAddable(
    tx: Tx,
    ctx: RequestContext,
    others: readonly string[],
    callers: readonly string[],
    fieldOf: (userId: string) => string,
  ): Promise<void> {
    const known = await this.tenants.findActiveMembers(tx, ctx.tenantId, [...others]);
    const unknown = others.find((id) => !known.has(id));
    if (unknown !== undefined) {
      const message = `${unknown} is not an active member of the workspace`;
      throw ChatErrors.userNotFound.with({
        details: [{ field: fieldOf(unknown), code: 'unknown_user', message }],
      });
    }
    const near = await this.members.inManyRooms(
      tx,
      ctx,
      [...others, ...callers],
      QUOTAS.user.chat_rooms - LOCK_MARGIN,
    );
    if (near.length === 0) return;
    await this.members.lockUsers(tx, ctx, near);
    const full = await this.members.inManyRooms(tx, ctx, near, QUOTAS.user.chat_rooms);
    if (full.length > 0) throw ChatErrors.tooManyRooms.with();
  }
}
