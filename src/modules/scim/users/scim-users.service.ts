import { Controller, Injectable } from '@nestjs/common';
import { Config } from '../../../config/config.js';
import {
  type Filter,
  type Json,
  listResponse,
  matches,
  parseFilter,
  project,
  scopeOf,
  USERS,
} from '../../../lib/scim/index.js';
import { PAGE_BYTES } from '../../../platform/bounded-pages/page-bytes.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { Provisioning } from '../../access/index.js';
import { EmailChange } from '../../account-security/index.js';
import { USER_EXAMPLES } from '../model/scim-openapi.js';
import type { ScimQuery, ScimTarget } from '../model/scim-query.js';
import { SCIM_PATH, scimError, scimReply } from '../model/scim-reply.js';
import type { ScimActor } from '../scim-authenticator.js';
import { ScimResourcesController } from '../scim-resources.controller.js';
import { ScimResources } from '../scim-resources.js';
import { CHANGED, ScimUserWrites } from './scim-user-writes.js';
import { userResource, valuesOf, withDefaultEmails } from './scim-user.mapper.js';
import { type LookUp, type ScimUserRow, ScimUsersRepository } from './scim-users.repository.js';

/** Users of SCIM: members of the workspace. */
@Injectable()
export class ScimUsersService extends ScimResources<ScimUserRow> {
  constructor(
    private readonly users: ScimUsersRepository,
    private readonly writes: ScimUserWrites,
    private readonly emails: EmailChange,
    provisioning: Provisioning,
    db: Db,
    config: Config,
  ) {
    super(USERS, users, provisioning, db, config);
  }

  async list({ tenantId }: ScimActor, query: ScimQuery): Promise<BodyReply> {
    const { startIndex, count, filter } = query;
    const { resources, total } =
      filter === undefined
        ? { resources: await this.page(tenantId, query), total: await this.users.total(tenantId) }
        : await this.search(tenantId, parseFilter(filter, scopeOf(USERS)), query);
    const shown = resources.slice(0, count).map((resource) => project(USERS, resource, query));
    return scimReply(listResponse(shown, total, startIndex));
  }

  /** @throws ApiError 403 outside the verified domains; 409 `uniqueness` */
  protected async insert(actor: ScimActor, resource: Json): Promise<string> {
    const values = valuesOf(resource);
    const admission = await this.writes.admission(actor, values.email);
    return this.db.tx(async (tx) => {
      await this.provisioning.lock(tx, actor.tenantId);
      return this.writes.create(tx, actor, values, admission);
    });
  }

  /** Deactivates the membership, removes it from its groups, and hides it from the client. @throws ApiError 409 */
  protected async remove(tx: Tx, actor: ScimActor, row: ScimUserRow): Promise<void> {
    await this.writes.delete(tx, actor, row);
  }

  protected async change(
    actor: ScimActor,
    target: ScimTarget,
    changed: (before: Json) => Json,
  ): Promise<void> {
    const { tenantId } = actor;
    const before = await this.existing(tenantId, target.id);
    const wanted = valuesOf(changed(this.present(before)));
    const { email: checked } = wanted;
    if (checked !== before.email) await this.writes.assertRenamable(tenantId, before, checked);
    const activation = await this.writes.activation(actor, before, wanted);
    const isRenamed = await this.db.tx(async (tx) => {
      const row = await this.locked(tx, actor, target);
      const values = valuesOf(changed(this.present(row)));
      // Another request has changed the address since the check.
      const isChecked = row.email === before.email && values.email === checked;
      if (values.email !== row.email && !isChecked) throw scimError(409, CHANGED);
      return this.writes.update(tx, actor, row, values, activation);
    });
    // Updates the copies of the address in the memberships. If this process ends before, an event does it.
    if (isRenamed) await this.emails.copyToMemberships(target.id);
  }

  private async page(tenantId: string, { startIndex, count }: ScimQuery): Promise<Json[]> {
    return (await this.users.page(tenantId, startIndex - 1, count)).map((row) => this.present(row));
  }

  /** Uses an index if the filter requires an equality of an indexed attribute, else scans all members. */
  private async search(tenantId: string, filter: Filter, { startIndex, count }: ScimQuery) {
    const equality = equalityIn(filter);
    const rows = equality
      ? await this.users.lookUp(tenantId, equality.attribute, equality.value)
      : this.users.streamAll(tenantId);
    const resources: Json[] = [];
    let total = 0;
    let bytes = 0;
    for await (const row of rows) {
      const resource = this.present(row);
      if (!matches(filter, resource)) continue;
      total += 1;
      if (total < startIndex || resources.length >= count || bytes > PAGE_BYTES) continue;
      bytes += Buffer.byteLength(JSON.stringify(resource));
      if (resources.length === 0 || bytes <= PAGE_BYTES) resources.push(resource);
    }
    return { resources, total };
  }

  protected present(row: ScimUserRow): Json {
    return userResource(row, this.base);
  }

  protected override withDefaults(before: Json, after: Json): Json {
    return withDefaultEmails(before, after);
  }
}

/** An equality that every match satisfies, on an indexed attribute. */
function equalityIn(filter: Filter): { attribute: LookUp; value: string } | undefined {
  if (filter.op === 'and') return filter.filters.map(equalityIn).find((found) => found !== undefined);
  if (filter.op !== 'eq' || filter.path.extension !== undefined || typeof filter.value !== 'string')
    return undefined;
  const { name } = filter.path.attribute;
  return name === 'id' || name === 'userName' || name === 'externalId'
    ? { attribute: name, value: filter.value }
    : undefined;
}

@Controller(`${SCIM_PATH}/Users`)
export class ScimUsersController extends ScimResourcesController(USERS, ScimUsersService, {
  examples: USER_EXAMPLES,
  descriptions: {
    list: 'All members of the workspace, deactivated ones included, without service accounts. A page ends at about 4 MiB, with fewer users than `count`.',
    create:
      'The user becomes a member. `userName` is an e-mail address in a verified domain of the workspace; without an account, one is created without password, and the user gets a mail. A user who was deleted through SCIM returns under the same id.',
    replace: 'Attributes that the body does not contain are removed; without `active`, the status stays.',
    patch: '`active: false` deactivates the membership and ends its sessions.',
    delete:
      'Deactivates the membership, ends its sessions and removes it from all groups; clients no longer see the user. Content stays and can be transferred. The last owner stays.',
  },
}) {}
