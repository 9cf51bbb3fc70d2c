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
  scopeOf,
} from '../../../lib/scim/index.js';
import { Audit } from '../../../platform/audit/audit.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { isUuid } from '../../../platform/http/id.pipe.js';
import { Checked } from '../../../platform/http/input.pipe.js';
import type { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { CreateGroup, Provisioning } from '../../access/index.js';
import { scimError } from '../model/scim-failure.js';
import { versionOf, type ScimQuery, type ScimTarget } from '../model/scim-query.js';
import { scimReply } from '../model/scim-reply.js';
import { ScimResources } from '../scim-resources.js';
import type { ScimActor } from '../scim-authenticator.js';
import { VisibleUsers } from '../visible-users.js';
import { type ScimGroupRow, ScimGroupsRepository } from './scim-groups.repository.js';

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
    const rows = await this.groups.all(tenantId, filter !== undefined && namesMembers(filter));
    const found = rows.filter((row) => !filter || matches(filter, this.present(row)));
    const asked = found.slice(startIndex - 1, startIndex - 1 + count).map(({ id }) => id);
    // A page may have fewer resources than requested (RFC 7644, section 3.4.2.4).
    const ids = await this.groups.fitting(tenantId, asked, query);
    const shown = ids.length === 0 ? [] : await this.groups.some(tenantId, ids, this.db, query);
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
    const visible = await this.users.among(tx, tenantId, add.filter(isUuid));
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
