import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';

/** Members and the attributes that clients have written: the aliases `member` and `written`. */
export const USERS_FROM = `FROM member_profiles member
    LEFT JOIN scim_users written ON written.tenant_id = member.tenant_id AND written.user_id = member.user_id`;

/** Members whom clients see: no services, no erased member, and no deactivated member whom a client has deleted. */
export const IS_VISIBLE = `NOT member.is_service AND member.erased_at IS NULL AND (member.status = 'active' OR written.deleted_at IS NULL)`;

const visibleAmong = workspace.statement<{ user_id: string }>(
  'scim.users_visible',
  `SELECT member.user_id ${USERS_FROM}
    WHERE member.tenant_id = $1 AND member.user_id = ANY ($2::uuid[]) AND ${IS_VISIBLE}`,
);

/** The members whom provisioning clients see. */
@Injectable()
export class VisibleUsers {
  /** Returns the users among `userIds` whom clients see. */
  async findAmong(tx: Tx, tenantId: string, userIds: string[]): Promise<Set<string>> {
    return new Set((await tx.query(visibleAmong, [tenantId, userIds])).map((row) => row.user_id));
  }
}
