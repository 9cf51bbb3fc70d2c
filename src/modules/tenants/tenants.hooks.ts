import type { TenantRole } from '../../platform/context/request-context.js';
import { TxHook } from '../../platform/events/tx-hooks.js';
import type { MemberStatus } from './tenants.repository.js';

/** A workspace has been created, or named again by the operator. Comes before its people. */
export const TENANT_PROVISIONED = new TxHook<{ tenantId: string }>('tenant provisioned');

/** The operator has said what role these members have. */
export const MEMBER_ROLES_SET = new TxHook<{
  tenantId: string;
  members: readonly { userId: string; role: TenantRole }[];
}>('member roles set');

/** Members have been added to a workspace, or renamed. */
export const MEMBERS_PROVISIONED = new TxHook<{ tenantId: string; userIds: readonly string[] }>(
  'members provisioned',
);

/**
 * A person's membership (with `tenantId` null: all of theirs) is about to end or to be renewed. An effect that throws
 * keeps it as it is; what belongs to the membership, such as credentials for mail programs, ends here too.
 */
export const MEMBERSHIP_CHANGING = new TxHook<{
  userId: string;
  tenantId: string | null;
  status: MemberStatus;
}>('membership changing');
