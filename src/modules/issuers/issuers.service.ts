import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Config } from '../../config/config.js';
import { Audit } from '../../platform/audit/audit.js';
import type { ExpectedRevision } from '../../platform/concurrency/expected-revision.js';
import { type IdempotencyKey, IdempotentWrites } from '../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { changedFields, rowsOf } from '../../platform/database/rows.js';
import type { Tx } from '../../platform/database/tx.js';
import type { Checked } from '../../platform/http/input.pipe.js';
import { assertAddressField } from '../../platform/outbound/address-field.js';
import { QUOTAS } from '../../platform/quotas/quotas.js';
import type { ReplyOf } from '../../platform/resources/resource.js';
import { MemberAdmission } from '../access/index.js';
import { SignInSessions } from '../identity/index.js';
import { TenantDomains } from '../tenants/index.js';
import { IssuerClient, IssuerHttp } from './issuer-client.js';
import { IssuerSecrets, IssuersRepository } from './issuers.repository.js';
import { TenantIssuer } from './issuers.schema.js';
import {
  type CreateIssuer,
  type IssuerCheckEnvelope,
  IssuerErrors,
  ISSUERS,
  type UpdateIssuer,
} from './issuers.dto.js';
import { presentIssuer } from './issuers.presenter.js';

const DEFAULTS = {
  scopes: ['openid', 'email', 'profile'],
  email_claim: 'email',
  name_claim: 'name',
  groups_claim: null,
  group_mappings: [],
  trusts_email: false,
  creates_members: false,
  default_role: 'member',
  links_accounts: false,
  is_required: false,
  is_enabled: true,
} as const;

type Fields = Omit<Partial<TenantIssuer>, 'client_secret'>;

/** The issuers by which members of a workspace sign in. Client secrets are stored encrypted and are not returned. */
@Injectable()
export class IssuersService {
  constructor(
    private readonly issuers: IssuersRepository,
    private readonly client: IssuerClient,
    private readonly http: IssuerHttp,
    private readonly admission: MemberAdmission,
    private readonly domains: TenantDomains,
    private readonly sessions: SignInSessions,
    private readonly writes: IdempotentWrites,
    private readonly secrets: IssuerSecrets,
    private readonly audit: Audit,
    private readonly config: Config,
    private readonly db: Db,
  ) {}

  async list({ tenantId }: RequestContext): Promise<ReplyOf<typeof ISSUERS, 'list'>> {
    const rows = await this.issuers.readAll(tenantId);
    const sorted = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    return ISSUERS.page(
      sorted.map((row) => presentIssuer(row, this.config)),
      null,
    );
  }

  /** @throws ApiError 404 */
  async read({ tenantId }: RequestContext, id: string): Promise<ReplyOf<typeof ISSUERS, 'item'>> {
    return ISSUERS.response(presentIssuer(await this.existing(tenantId, id), this.config));
  }

  /**
   * @throws ApiError 403 `cannot_grant_unheld`; 409 `already_exists`, `domain_not_verified`, `domain_bound`; 422
   * `validation_failed`, `unknown_group`, `too_many_issuers`
   */
  async create(
    ctx: RequestContext,
    key: IdempotencyKey | null,
    input: CreateIssuer,
  ): Promise<ReplyOf<typeof ISSUERS, 'item'>> {
    assertAddressField(this.http, 'issuer', input.issuer);
    const { tenantId, userId } = ctx;
    const id = input.id?.toLowerCase() ?? uuidv7();
    const secret = input.client_secret ?? null;
    const clientSecret = secret === null ? null : this.secrets.seal({ tenant_id: tenantId, id }, secret);
    const fields = Object.fromEntries(
      Object.entries(fieldsOf(input)).filter(([, value]) => value !== undefined),
    );
    const values = {
      ...DEFAULTS,
      ...fields,
      tenant_id: tenantId,
      id,
      client_secret: clientSecret,
      created_by: userId,
    } as unknown as TenantIssuer;
    await this.assertMayGive(ctx, input);
    return this.writes.runTx(ctx, key, async (tx) => {
      await this.issuers.lock(tx, tenantId);
      await this.assertDomains(tx, values, []);
      const made = await rowsOf(tx, TenantIssuer).insert({ ...values, revision: 1, issuer: input.issuer });
      if (!made) throw IssuerErrors.alreadyExists.with();
      if ((await this.issuers.readAll(tenantId, tx)).length > QUOTAS.workspace.issuers)
        throw IssuerErrors.tooManyIssuers.with();
      await this.log(tx, ctx, 'created', made, { issuer: made.issuer, domains: made.domains });
      return ISSUERS.created(id, presentIssuer(made, this.config));
    });
  }

  /**
   * Missing fields stay unchanged. Sessions of a disabled issuer end.
   * @throws ApiError as `create`; 404; 409 `conflict`; 422 `no_changes`
   */
  async update(
    ctx: RequestContext,
    id: string,
    body: Checked<UpdateIssuer>,
    expected: ExpectedRevision,
  ): Promise<ReplyOf<typeof ISSUERS, 'item'>> {
    const { tenantId } = ctx;
    const current = await this.existing(tenantId, id);
    if (!body.error) await this.assertMayGive(ctx, body.value, current);
    return this.db.tx(async (tx) => {
      await this.issuers.lock(tx, tenantId);
      const before = await this.existing(tenantId, id, tx);
      await ISSUERS.checkWrite(before, expected, body, () => presentIssuer(before, this.config));
      const changes = {
        ...changedFields<Fields>(before, fieldsOf(body.value)),
        ...this.newSecret(before, body.value),
      };
      if (Object.keys(changes).length === 0) throw IssuerErrors.noChanges.with();
      await this.assertDomains(tx, { ...before, ...changes }, before.domains);
      const values = { ...changes, revision: before.revision + 1, updated_at: () => 'now()' };
      const [after] = await rowsOf(tx, TenantIssuer).update({ tenant_id: tenantId, id }, values);
      if (changes.is_enabled === false) await this.endSessions(tx, before);
      await this.log(tx, ctx, 'updated', before, { changed: Object.keys(changes) });
      return ISSUERS.response(presentIssuer(after as TenantIssuer, this.config));
    });
  }

  /** Its links and sessions end; accounts and memberships stay. @throws ApiError 404; 409 `conflict` */
  async delete(
    ctx: RequestContext,
    id: string,
    expected: ExpectedRevision,
  ): Promise<ReplyOf<typeof ISSUERS, 'deleted'>> {
    const { tenantId } = ctx;
    return this.db.tx(async (tx) => {
      await this.issuers.lock(tx, tenantId);
      const issuer = await this.existing(tenantId, id, tx);
      await ISSUERS.checkWrite(issuer, expected, null, () => presentIssuer(issuer, this.config));
      // The sessions end before the deletion of the issuer, which deletes its links.
      const sessions = await this.endSessions(tx, issuer);
      await rowsOf(tx, TenantIssuer).delete({ tenant_id: tenantId, id });
      await this.log(tx, ctx, 'deleted', issuer, { issuer: issuer.issuer, sessions_ended: sessions });
      return ISSUERS.deleted(presentIssuer(issuer, this.config));
    });
  }

  /** Reads the discovery document and keys of an issuer now. @throws ApiError 404 */
  async check({ tenantId }: RequestContext, id: string): Promise<IssuerCheckEnvelope> {
    const { issuer } = await this.existing(tenantId, id);
    const { ok, problem, message, authorizationEndpoint, tokenEndpoint, keys } =
      await this.client.check(issuer);
    return {
      check: {
        ok,
        problem,
        message,
        authorization_endpoint: authorizationEndpoint,
        token_endpoint: tokenEndpoint,
        keys,
      },
    };
  }

  /** @returns the number of ended sessions */
  private async endSessions(tx: Tx, issuer: TenantIssuer): Promise<number> {
    const accountIds = await this.issuers.linkedAccounts(issuer, tx);
    return this.sessions.endOfIssuer(tx, issuer.tenant_id, issuer.issuer, accountIds);
  }

  private newSecret({ tenant_id, id }: TenantIssuer, input: UpdateIssuer): Partial<TenantIssuer> {
    const { client_secret: secret } = input;
    if (secret === undefined) return {};
    return { client_secret: secret === null ? null : this.secrets.seal({ tenant_id, id }, secret) };
  }

  /**
   * Checks that the caller may give the role and the groups to new members. Uses a transaction of its own: groups belong to the
   * workspace, issuers to the directory.
   * @param current the issuer before the change, whose role and groups are not checked again
   */
  private async assertMayGive(
    ctx: RequestContext,
    input: CreateIssuer | UpdateIssuer,
    current?: TenantIssuer,
  ): Promise<void> {
    const { default_role = 'member', group_mappings = [] } = fieldsOf(input);
    const role = default_role === current?.default_role ? 'member' : default_role;
    const added = group_mappings.filter(
      (each) => !current?.group_mappings.some((one) => isDeepStrictEqual(one, each)),
    );
    const groupIds = [...new Set(added.map(({ group_id: id }) => id))];
    if (role === 'member' && groupIds.length === 0) return;
    await this.db.tx((tx) => this.admission.assertMayGive(tx, ctx, 'issuers.manage', { role, groupIds }));
  }

  /**
   * Checks that the workspace may bind the domains to the issuer. The caller holds the lock.
   * @param bound domains of the issuer, which stay when the workspace has lost them (docs/adr/0058)
   */
  private async assertDomains(tx: Tx, issuer: TenantIssuer, bound: string[]): Promise<void> {
    const { tenant_id, id } = issuer;
    const domains = issuer.domains.filter((domain) => !bound.includes(domain));
    for (const domain of domains)
      if ((await this.domains.ownerOf(`@${domain}`, tx)) !== tenant_id)
        throw IssuerErrors.domainNotVerified.with({ body: { domain } });
    const others = (await this.issuers.readAll(tenant_id, tx)).filter((other) => other.id !== id);
    const taken = domains.find((domain) => others.some((other) => other.domains.includes(domain)));
    if (taken !== undefined) throw IssuerErrors.domainBound.with({ body: { domain: taken } });
  }

  private async existing(tenantId: string, id: string, tx?: Tx): Promise<TenantIssuer> {
    const issuer = await this.issuers.find(tenantId, id, tx);
    if (!issuer) throw ISSUERS.notFound.with();
    return issuer;
  }

  private async log(
    tx: Tx,
    ctx: RequestContext,
    change: string,
    { id, name }: TenantIssuer,
    data: Record<string, unknown>,
  ): Promise<void> {
    const action = `tenant.issuer.${change}`;
    await this.audit.record(tx, ctx, { action, objectKind: 'issuer', objectId: id, data: { name, ...data } });
  }
}

/** The columns of a request without the secret; undefined for missing fields. */
function fieldsOf(input: CreateIssuer | UpdateIssuer): Fields {
  return {
    name: input.name,
    client_id: input.client_id,
    domains: input.domains?.toSorted(),
    scopes: input.scopes,
    email_claim: input.email_claim,
    name_claim: input.name_claim,
    groups_claim: input.groups_claim,
    group_mappings: input.group_mappings?.map(({ value, group_id: id }) => ({
      value,
      group_id: id.toLowerCase(),
    })),
    trusts_email: input.trusts_email,
    creates_members: input.creates_members,
    default_role: input.default_role,
    links_accounts: input.links_accounts,
    is_required: input.required,
    is_enabled: input.enabled,
  };
}
