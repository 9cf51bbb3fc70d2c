import type {
  AvailablePermissionResponse,
  GroupMemberResponse,
  GroupResponse,
  PermissionsEnvelope,
} from '../access.response.js';
import { ALL_PERMISSIONS, isPermission, type Permission, PERMISSIONS } from '../permissions.js';
import type { GroupMemberRow } from './group-members.repository.js';
import type { GroupRow } from './groups.repository.js';

/** The permissions of a group; the owners group has all. */
export function permissionsOf(group: GroupRow): Permission[] {
  return group.key === 'owners' && group.system
    ? ([...ALL_PERMISSIONS] as Permission[])
    : group.permissions.filter(isPermission);
}

export function presentGroup(group: GroupRow): GroupResponse {
  return {
    id: group.id,
    key: group.key,
    name: group.name,
    description: group.description,
    system: group.system,
    members_count: group.members_count,
    permissions_count: permissionsOf(group).length,
    rev: group.rev,
    created_at: group.created_at.toISOString(),
    updated_at: group.updated_at.toISOString(),
  };
}

export function presentMember(member: GroupMemberRow): GroupMemberResponse {
  return {
    user_id: member.user_id,
    display_name: member.display_name,
    email: member.email,
    status: member.status,
    added_by: member.added_by,
    added_at: member.added_at.toISOString(),
  };
}

/** @param held permissions of the caller */
export function presentPermissions(group: GroupRow, held: ReadonlySet<string>): PermissionsEnvelope {
  const described = (id: Permission) => ({ id, description: PERMISSIONS[id] });
  return {
    permissions: permissionsOf(group).map(described),
    available: ([...ALL_PERMISSIONS] as Permission[]).map((id): AvailablePermissionResponse => ({
      ...described(id),
      held: held.has(id),
    })),
  };
}
