import { Injectable } from '@nestjs/common';
import { GROUPS, project, type Projection } from '../../../lib/scim/index.js';
import { PAGE_BYTES } from '../../../platform/bounded-pages/page-bytes.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { ScimGroup } from '../scim.entity.js';

/** A group as provisioning clients see it. */
export interface ScimGroupRow {
  id: string;
  name: string;
  created_at: Date;
  updated_at: Date;
  external_id: string | null;
  /** MD5 of the ids of the members. Part of the version of the group, also when the members are not read. */
  members_hash: string;
  /** Null: not requested. */
  members: { value: string; display: string }[] | null;
}

// OFFSET 0 keeps any plan from reading all members of the workspace for each group: also without statistics, members are read by key.
const MEMBERS = `FROM group_memberships membership
            CROSS JOIN LATERAL (
              SELECT profile.user_id, profile.display_name FROM member_profiles profile
               WHERE profile.tenant_id = membership.tenant_id AND profile.user_id = membership.user_id
                 AND NOT profile.is_service OFFSET 0) member
            WHERE membership.tenant_id = $1 AND membership.group_id = grp.id`;

// The group of all members is no SCIM group: its members follow from the memberships.
const GROUP = `SELECT grp.id, grp.name, grp.created_at, written.external_id,
         greatest(grp.updated_at, written.updated_at) AS updated_at,
         (SELECT md5(coalesce(string_agg(member.user_id::text, ',' ORDER BY member.user_id), '')) ${MEMBERS}) AS members_hash,
         CASE WHEN $2 THEN (
           SELECT coalesce(json_agg(json_build_object('value', member.user_id, 'display', member.display_name)
                                    ORDER BY member.user_id), '[]') ${MEMBERS}) END AS members
    FROM group_names grp
    LEFT JOIN scim_groups written ON written.tenant_id = grp.tenant_id AND written.group_id = grp.id
   WHERE grp.tenant_id = $1 AND NOT (grp.system AND grp.key = 'members')`;

const all = workspace.statement<ScimGroupRow>('scim.groups', `${GROUP} ORDER BY grp.id`);
const some = workspace.statement<ScimGroupRow>(
  'scim.groups_some',
  `${GROUP} AND grp.id = ANY ($3::uuid[]) ORDER BY grp.id`,
);

const memberCounts = workspace.statement<{ id: string; members: number }>(
  'scim.group_member_counts',
  `SELECT membership.group_id AS id, count(*)::int AS members FROM group_memberships membership
    WHERE membership.tenant_id = $1 AND membership.group_id = ANY ($2::uuid[]) GROUP BY membership.group_id`,
);

/** Approximate bytes of a group without members, and of a member: its id, its address and its name. */
const GROUP_BYTES = 1024;
const MEMBER_BYTES = 512;

/** SQL of groups as provisioning clients see them. */
@Injectable()
export class ScimGroupsRepository {
  constructor(private readonly db: Db) {}

  /** All groups of the workspace: at most 500, plus the system groups. */
  async all(tenantId: string, withMembers: boolean): Promise<ScimGroupRow[]> {
    return this.db.query(all, [tenantId, withMembers]);
  }

  /** The first of these groups that fit a page with the members that `projection` selects, at least one. */
  async fitting(tenantId: string, ids: readonly string[], projection: Projection): Promise<string[]> {
    if (ids.length < 2 || !selectsMembers(projection)) return [...ids];
    const rows = await this.db.query(memberCounts, [tenantId, ids]);
    const counts = new Map(rows.map(({ id, members }) => [id, members]));
    let bytes = 0;
    const end = ids.findIndex((id, n) => {
      bytes += GROUP_BYTES + MEMBER_BYTES * (counts.get(id) ?? 0);
      return n > 0 && bytes > PAGE_BYTES;
    });
    return end === -1 ? [...ids] : ids.slice(0, end);
  }

  /** These groups in the order of their ids. @param projection the members are read only if it selects them */
  async some(
    tenantId: string,
    ids: string[],
    reader: Reader = this.db,
    projection: Projection = {},
  ): Promise<ScimGroupRow[]> {
    return reader.query(some, [tenantId, selectsMembers(projection), ids]);
  }

  async byId(
    tenantId: string,
    id: string,
    reader?: Reader,
    projection?: Projection,
  ): Promise<ScimGroupRow | null> {
    return (await this.some(tenantId, [id], reader, projection))[0] ?? null;
  }

  /** @returns false when another group has the external id */
  async writeExternalId(
    tx: Tx,
    tenantId: string,
    groupId: string,
    externalId: string | null,
  ): Promise<boolean> {
    const rows = rowsOf(tx, ScimGroup);
    if (externalId === null) {
      await rows.delete({ tenant_id: tenantId, group_id: groupId });
      return true;
    }
    const holder = await rows.one({ tenant_id: tenantId, external_id: externalId });
    if (holder) return holder.group_id === groupId;
    await rows.store(['tenant_id', 'group_id'], {
      tenant_id: tenantId,
      group_id: groupId,
      external_id: externalId,
      updated_at: () => 'now()',
    });
    return true;
  }
}

const selectsMembers = (projection: Projection): boolean =>
  'members' in project(GROUPS, { members: [] }, projection);
