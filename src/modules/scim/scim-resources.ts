import { API_PREFIX, Config } from '../../config/config.js';
import {
  applyPatch,
  type Json,
  type Projection,
  readResource,
  type ResourceType,
} from '../../lib/scim/index.js';
import type { Db } from '../../platform/database/db.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import type { BodyReply } from '../../platform/http/replies/body-reply.js';
import type { Provisioning } from '../access/index.js';
import type { ScimActor } from './scim-authenticator.js';
import { emptyReply, SCIM_PATH, scimError } from './model/scim-reply.js';
import {
  checkVersion,
  readReply,
  resourceReply,
  type ScimQuery,
  type ScimTarget,
} from './model/scim-query.js';

/** The operations on one type of resource (RFC 7644, section 3). `Row` is the row that a repository reads. */
export abstract class ScimResources<Row> {
  /** URL of the endpoint, without a trailing slash. */
  protected readonly base: string;

  constructor(
    private readonly type: ResourceType,
    private readonly rows: {
      byId(tenantId: string, id: string, reader?: Reader, projection?: Projection): Promise<Row | null>;
    },
    protected readonly provisioning: Provisioning,
    protected readonly db: Db,
    config: Config,
  ) {
    this.base = `${config.publicUrl}/${API_PREFIX}/${SCIM_PATH}`;
  }

  /** @throws ApiError 400 for an invalid filter */
  abstract list(actor: ScimActor, query: ScimQuery): Promise<BodyReply>;

  /** Creates a resource. @returns its id */
  protected abstract insert(actor: ScimActor, resource: Json): Promise<string>;

  /** Writes a changed resource. @param changed computes it from the current one, and may run several times */
  protected abstract change(
    actor: ScimActor,
    target: ScimTarget,
    changed: (before: Json) => Json,
  ): Promise<void>;

  protected abstract remove(tx: Tx, actor: ScimActor, row: Row): Promise<void>;

  protected abstract present(row: Row): Json;

  /** Removes default values that depend on attributes which a PATCH has changed. @param after the resource after the PATCH */
  protected withDefaults(_before: Json, after: Json): Json {
    return after;
  }

  /** @throws ApiError 404 */
  async read({ tenantId }: ScimActor, target: ScimTarget): Promise<BodyReply> {
    return readReply(
      this.type,
      this.present(await this.existing(tenantId, target.id, this.db, target)),
      target,
    );
  }

  /** @throws ApiError 400; 403 outside the verified domains; 409 `uniqueness` */
  async create(actor: ScimActor, body: unknown, projection: Projection): Promise<BodyReply> {
    const id = await this.insert(actor, readResource(this.type, body));
    const row = await this.existing(actor.tenantId, id);
    return resourceReply(this.type, this.present(row), projection, 201);
  }

  /** @throws ApiError 400; 403; 404; 409; 412 */
  async replace(actor: ScimActor, target: ScimTarget, body: unknown): Promise<BodyReply> {
    return this.changed(actor, target, () => readResource(this.type, body));
  }

  /** @throws ApiError 400; 403; 404; 409; 412 */
  async patch(actor: ScimActor, target: ScimTarget, body: unknown): Promise<BodyReply> {
    return this.changed(actor, target, (before) =>
      readResource(this.type, this.withDefaults(before, applyPatch(this.type, before, body))),
    );
  }

  /** @throws ApiError 403 for a group of the system; 404; 409 for the last owner; 412 */
  async delete(actor: ScimActor, target: ScimTarget): Promise<BodyReply> {
    await this.db.tx(async (tx) => this.remove(tx, actor, await this.locked(tx, actor, target)));
    return emptyReply(204);
  }

  /** Locks the groups of the workspace, then reads the row. @throws ApiError 404; 412 for a stale version */
  protected async locked(tx: Tx, { tenantId }: ScimActor, target: ScimTarget): Promise<Row> {
    await this.provisioning.lock(tx, tenantId);
    const row = await this.existing(tenantId, target.id, tx);
    checkVersion(target, this.present(row));
    return row;
  }

  /** @throws ApiError 404 */
  protected async existing(
    tenantId: string,
    id: string,
    reader?: Reader,
    projection?: Projection,
  ): Promise<Row> {
    const row = await this.rows.byId(tenantId, id, reader, projection);
    if (!row) throw scimError(404, `The workspace has no such ${this.type.name.toLowerCase()}.`);
    return row;
  }

  private async changed(
    actor: ScimActor,
    target: ScimTarget,
    change: (before: Json) => Json,
  ): Promise<BodyReply> {
    await this.change(actor, target, change);
    const row = await this.existing(actor.tenantId, target.id, this.db, target);
    return resourceReply(this.type, this.present(row), target);
  }
}
