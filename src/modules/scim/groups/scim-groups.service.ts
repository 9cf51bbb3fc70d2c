import { Injectable } from '@nestjs/common';
import { Config } from '../../../config/config.js';
import {
  CORE,
  type Filter,
  GROUPS,
  type Json,
  listResponse,
  matches,
  parseFilter,
  project,
  type Projection,
  scopeOf,
} from '../../../lib/scim/index.js';
import { Audit } from '../../../platform/audit/audit.js';
import { PAGE_BYTES } from '../../../platform/bounded-pages/page-bytes.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { isUuid } from '../../../platform/http/id.pipe.js';
import { Checked } from '../../../platform/http/input.pipe.js';
import type { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { CreateGroup, Provisioning } from '../../access/index.js';
import { type ScimQuery, type ScimTarget, versionOf } from '../model/scim-query.js';
import { scimError, scimReply } from '../model/scim-reply.js';
import type { ScimActor } from '../scim-authenticator.js';
import { ScimResources } from '../scim-resources.js';
import { ScimGroup } from '../scim.schema.js';
import { VisibleUsers } from '../visible-users.js';

/** A group as provisioning clients see it. */
export interface ScimGroupRow {
  id: string;
  name: string;
  created_at: Date;
  updated_at: Date;
  external_id: string | null;
  /** MD5 of the ids of the members. Part of the version of the group, also when the members are not read. */
  members_hash: string;
  /** Null means that they are not requested. */
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
const GROUP_BYTES = 2_048;
const MEMBER_BYTES = 512;

/** SQL of groups as provisioning clients see them. */
@Injectable()
export class ScimGroupsRepository {
  constructor(private readonly db: Db) {}

  /** All groups of the workspace: at most 500, plus the system groups. */
  async readAll(tenantId: string, withMembers: boolean): Promise<ScimGroupRow[]> {
    return this.db.query(all, [tenantId, withMembers]);
  }

  /** The first of these groups that fit a page with the members that `projection` selects, at least one. */
  async selectFitting(tenantId: string, ids: readonly string[], projection: Projection): Promise<string[]> {
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
  async readSome(
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
    return (await this.readSome(tenantId, [id], reader, projection))[0] ?? null;
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

/** The values of a group in a resource. */
interface GroupValues {
  name: string;
  externalId: string | null;
  members: string[];
}

/** Groups of SCIM: the groups of the workspace, except the group of all members. The members of `owners` are read-only. */
@Injectable()
export class ScimGroupsService extends ScimResources<ScimGroupRow> {
  constructor(
    private readonly groups: ScimGroupsRepository,
    private readonly users: VisibleUsers,
    private readonly audit: Audit,
    provisioning: Provisioning,
    db: Db,
    config: Config,
  ) {
    super(GROUPS, groups, provisioning, db, config);
  }

  async list({ tenantId }: ScimActor, query: ScimQuery): Promise<BodyReply> {
    const { startIndex, count, filter: text } = query;
    const filter = text === undefined ? undefined : parseFilter(text, scopeOf(GROUPS));
    const rows = await this.groups.readAll(tenantId, filter !== undefined && namesMembers(filter));
    const found = rows.filter((row) => !filter || matches(filter, this.present(row)));
    const asked = found.slice(startIndex - 1, startIndex - 1 + count).map(({ id }) => id);
    // A page may have fewer resources than requested (RFC 7644, section 3.4.2.4).
    const ids = await this.groups.selectFitting(tenantId, asked, query);
    const shown = ids.length === 0 ? [] : await this.groups.readSome(tenantId, ids, this.db, query);
    const resources = shown.map((row) => project(GROUPS, this.present(row), query));
    return scimReply(listResponse(resources, found.length, startIndex));
  }

  /** @throws ApiError 400; 409 `uniqueness` */
  protected async insert(actor: ScimActor, resource: Json): Promise<string> {
    const values = valuesOf(resource);
    return this.db.tx(async (tx) => {
      await this.provisioning.lock(tx, actor.tenantId);
      const created = await this.provisioning.createGroup(tx, actor, values.name);
      await this.write(tx, actor, created, values, { external_id: null, members: [] });
      return created;
    });
  }

  /** @throws ApiError 403 for a group of the system */
  protected async remove(tx: Tx, actor: ScimActor, { id }: ScimGroupRow): Promise<void> {
    await this.provisioning.deleteGroup(tx, actor, id);
  }

  protected async change(
    actor: ScimActor,
    target: ScimTarget,
    changed: (before: Json) => Json,
  ): Promise<void> {
    await this.db.tx(async (tx) => {
      const row = await this.locked(tx, actor, target);
      const values = valuesOf(changed(this.present(row)));
      await this.provisioning.renameGroup(tx, actor, row.id, values.name);
      await this.write(tx, actor, row.id, values, row);
    });
  }

  private async write(
    tx: Tx,
    actor: ScimActor,
    id: string,
    { externalId, members }: GroupValues,
    before: Pick<ScimGroupRow, 'external_id' | 'members'>,
  ): Promise<void> {
    const { tenantId } = actor;
    if (!(await this.groups.writeExternalId(tx, tenantId, id, externalId)))
      throw scimError(409, 'The workspace has a group with this externalId.', 'uniqueness');
    if (externalId !== before.external_id) {
      const data = { external_id: externalId };
      const entry = { action: 'scim.group.updated', objectKind: 'group', objectId: id, data };
      await this.audit.record(tx, actor, entry);
    }
    const current = new Set(before.members?.map(({ value }) => value));
    const wanted = new Set(members);
    const add = [...wanted].filter((userId) => !current.has(userId));
    const remove = [...current].filter((userId) => !wanted.has(userId));
    const visible = await this.users.findAmong(tx, tenantId, add.filter(isUuid));
    const unknown = add.find((userId) => !visible.has(userId));
    if (unknown !== undefined)
      throw scimError(400, `members has an unknown user: ${unknown.slice(0, 100)}.`, 'invalidValue');
    await this.provisioning.changeMembers(tx, actor, id, { add, remove });
  }

  protected present(row: ScimGroupRow): Json {
    const { id, name: displayName, external_id: externalId, members_hash: hash } = row;
    const fixed = { id, displayName, ...(externalId !== null && { externalId }) };
    const members = row.members?.map((member) => ({
      ...member,
      $ref: `${this.base}/Users/${member.value}`,
      type: 'User',
    }));
    return {
      schemas: [`${CORE}:Group`],
      ...fixed,
      ...(members && { members }),
      meta: {
        resourceType: 'Group',
        created: row.created_at.toISOString(),
        lastModified: row.updated_at.toISOString(),
        location: `${this.base}/Groups/${id}`,
        version: versionOf({ ...fixed, hash }),
      },
    };
  }
}

/** @param resource from `readResource` @throws ApiError 422 for an invalid name */
function valuesOf(resource: Json): GroupValues {
  const { name } = Checked.of(CreateGroup, { name: resource['displayName'] }).value;
  const members = (resource['members'] ?? []) as { value: string }[];
  return {
    name,
    externalId: (resource['externalId'] as string | undefined) ?? null,
    members: members.map(({ value }) => value.toLowerCase()),
  };
}

/** Whether a filter compares members. Only then are they read for all groups. */
function namesMembers(filter: Filter): boolean {
  if ('filters' in filter) return filter.filters.some(namesMembers);
  return 'path' in filter ? filter.path.attribute.name === 'members' : namesMembers(filter.filter);
}
