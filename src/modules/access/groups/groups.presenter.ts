import type { AvailablePermissionResponse, GroupResponse, PermissionsEnvelope } from '../access.dto.js';
import { ALL_PERMISSIONS, isPermission, type Permission, PERMISSIONS } from '../permissions.js';
import type { GroupRow } from './groups.repository.js';

/** The permissions of a group; the owners group has all. */
export function permissionsOf(group: GroupRow): Permission[] {
  return group.key === 'owners' && group.system
    ? ([...ALL_PERMISSIONS] as Permission[])
    : group.permissions.filter(isPermission);
}

export function presentGroup(group: GroupRow): GroupResponse {
  const { folded: _, rank: __, permissions: ___, ...shown } = group;
  return { ...shown, permissions_count: permissionsOf(group).length };
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
