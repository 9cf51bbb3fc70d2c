import { Injectable } from '@nestjs/common';
import { API_PREFIX, Config } from '../../../config/config.js';
import {
  applyPatch,
  CORE,
  type Filter,
  GROUPS,
  type Json,
  listResponse,
  matches,
  parseFilter,
  type Projection,
  project,
  readResource,
  scopeOf,
} from '../../../lib/scim/index.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { isUuid } from '../../../platform/http/id.pipe.js';
import { Checked } from '../../../platform/http/input.pipe.js';
import type { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { CreateGroup, Provisioning } from '../../access/index.js';
import { scimError } from '../scim-failure.js';
import { versionOf, type ScimQuery, type ScimTarget } from '../scim-query.js';
import { checkVersion, readReply, resourceReply } from '../scim-resource.js';
import { emptyReply, scimReply } from '../scim-reply.js';
import { SCIM_PATH } from '../scim-path.js';
import type { ScimActor } from '../scim-authenticator.js';
import { VisibleUsers } from '../visible-users.js';
import { type ScimGroupRow, ScimGroupsRepository } from './scim-groups.repository.js';

const NOT_FOUND = 'The workspace has no such group.';

/** The values of a group in a resource. */
interface GroupValues {
  name: string;
  externalId: string | null;
  members: string[];
}

/** Groups of SCIM: those of the workspace, except the group of all members. The members of `owners` are read-only. */
@Injectable()
export class ScimGroupsService {
  private readonly base: string;

  constructor(
    private readonly groups: ScimGroupsRepository,
    private readonly users: VisibleUsers,
    private readonly provisioning: Provisioning,
    private readonly db: Db,
    config: Config,
  ) {
    this.base = `${config.publicUrl}/${API_PREFIX}/${SCIM_PATH}`;
  }

  async list({ tenantId }: ScimActor, query: ScimQuery): Promise<BodyReply> {
    const { startIndex, count, filter: text } = query;
    const filter = text === undefined ? undefined : parseFilter(text, scopeOf(GROUPS));
    const rows = await this.groups.all(tenantId, filter !== undefined && namesMembers(filter));
    const found = rows.filter((row) => !filter || matches(filter, this.present(row)));
    const ids = found.slice(startIndex - 1, startIndex - 1 + count).map(({ id }) => id);
    const shown = ids.length === 0 ? [] : await this.groups.some(tenantId, ids);
    const resources = shown.map((row) => project(GROUPS, this.present(row), query));
    return scimReply(listResponse(resources, found.length, startIndex));
  }

  async read({ tenantId }: ScimActor, target: ScimTarget): Promise<BodyReply> {
    return readReply(GROUPS, this.present(await this.existing(tenantId, target.id)), target);
  }

  /** @throws ApiError 400; 409 `uniqueness` */
  async create(actor: ScimActor, body: unknown, projection: Projection): Promise<BodyReply> {
    const { tenantId } = actor;
    const values = valuesOf(readResource(GROUPS, body));
    const id = await this.db.tx(async (tx) => {
      await this.provisioning.lock(tx, tenantId);
      const created = await this.provisioning.createGroup(tx, actor, values.name);
      await this.write(tx, actor, created, values, []);
      return created;
    });
    return resourceReply(GROUPS, this.present(await this.existing(tenantId, id)), projection, 201);
  }

  async replace(actor: ScimActor, target: ScimTarget, body: unknown): Promise<BodyReply> {
    return this.change(actor, target, () => readResource(GROUPS, body));
  }

  async patch(actor: ScimActor, target: ScimTarget, body: unknown): Promise<BodyReply> {
    return this.change(actor, target, (before) => readResource(GROUPS, applyPatch(GROUPS, before, body)));
  }

  /** @throws ApiError 403 for a group of the system */
  async delete(actor: ScimActor, target: ScimTarget): Promise<BodyReply> {
    await this.db.tx(async (tx) => {
      const { id } = await this.locked(tx, actor, target);
      await this.provisioning.deleteGroup(tx, actor, id);
    });
    return emptyReply(204);
  }

  private async change(
    actor: ScimActor,
    target: ScimTarget,
    changed: (before: Json) => Json,
  ): Promise<BodyReply> {
    const { tenantId } = actor;
    await this.db.tx(async (tx) => {
      const row = await this.locked(tx, actor, target);
      const values = valuesOf(changed(this.present(row)));
      await this.provisioning.renameGroup(tx, actor, row.id, values.name);
      await this.write(
        tx,
        actor,
        row.id,
        values,
        (row.members ?? []).map(({ value }) => value),
      );
    });
    return resourceReply(GROUPS, this.present(await this.existing(tenantId, target.id)), target);
  }

  /** @param before ids of the members */
  private async write(
    tx: Tx,
    actor: ScimActor,
    id: string,
    { externalId, members }: GroupValues,
    before: string[],
  ): Promise<void> {
    const { tenantId } = actor;
    if (!(await this.groups.writeExternalId(tx, tenantId, id, externalId)))
      throw scimError(409, 'The workspace has a group with this externalId.', 'uniqueness');
    const [current, wanted] = [new Set(before), new Set(members)];
    const add = [...wanted].filter((userId) => !current.has(userId));
    const remove = before.filter((userId) => !wanted.has(userId));
    const known = await this.users.among(tx, tenantId, add.filter(isUuid));
    const unknown = add.find((userId) => !known.has(userId));
    if (unknown !== undefined)
      throw scimError(400, `members has an unknown user: ${unknown.slice(0, 100)}.`, 'invalidValue');
    await this.provisioning.changeMembers(tx, actor, id, { add, remove });
  }

  private async locked(tx: Tx, { tenantId }: ScimActor, target: ScimTarget): Promise<ScimGroupRow> {
    await this.provisioning.lock(tx, tenantId);
    const row = await this.groups.byId(tenantId, target.id, tx);
    if (!row) throw scimError(404, NOT_FOUND);
    checkVersion(target, this.present(row));
    return row;
  }

  private async existing(tenantId: string, id: string): Promise<ScimGroupRow> {
    const row = await this.groups.byId(tenantId, id);
    if (!row) throw scimError(404, NOT_FOUND);
    return row;
  }

  private present(row: ScimGroupRow): Json {
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

/** Whether a filter compares members, which are read for this only. */
function namesMembers(filter: Filter): boolean {
  if ('filters' in filter) return filter.filters.some(namesMembers);
  return 'path' in filter ? filter.path.attribute.name === 'members' : namesMembers(filter.filter);
}
