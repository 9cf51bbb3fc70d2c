import type { TenantRole } from '../../platform/context/request-context.js';
import { TxHook } from '../../platform/events/tx-hooks.js';
import type { MemberStatus } from './membership-status.repository.js';

/** A workspace was created or provisioned again. Runs before its members are written. */
export const TENANT_PROVISIONED = new TxHook<{ tenantId: string }>('tenant provisioned');

/** The operator set the roles of these members. */
export const MEMBER_ROLES_SET = new TxHook<{
  tenantId: string;
  members: readonly { userId: string; role: TenantRole }[];
}>('member roles set');

/** Members have been added to a workspace, or renamed. */
export const MEMBERS_PROVISIONED = new TxHook<{ tenantId: string; userIds: readonly string[] }>(
  'members provisioned',
);

/** A member has a new address. */
export const MEMBER_EMAIL_CHANGED = new TxHook<{ tenantId: string; userId: string }>('member email changed');

/**
 * A membership of a user is about to be deactivated or activated (`tenantId` null: all are about to be deactivated). A handler
 * may throw to reject the change. Handlers end objects that depend on the membership, such as application passwords.
 */
export const MEMBERSHIP_CHANGING = new TxHook<{
  userId: string;
  tenantId: string | null;
  status: MemberStatus;
}>('membership changing');

/** A former member whose data were erased joins the workspace again. A handler may throw to reject this. */
export const ERASED_MEMBER_JOINING = new TxHook<{ tenantId: string; userId: string }>(
  'erased member joining',
);

/** The policy of a workspace was changed. @param sessionDays lifetime of sessions; null: the lifetime of the deployment */
export const TENANT_POLICY_CHANGED = new TxHook<{ tenantId: string; sessionDays: number | null }>(
  'tenant policy changed',
);
