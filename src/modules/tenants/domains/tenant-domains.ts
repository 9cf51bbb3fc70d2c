import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Audit } from '../../../platform/audit/audit.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { directory } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { TenantPolicies } from '../tenant-policies.js';
import { TenantDomain } from '../tenants.schema.js';
import { TenantErrors } from '../tenants.errors.js';
import { domainName, DomainRecords, storedSpellings } from './domain-name.js';
import type { TenantDomainDetail } from './tenant-domains.dto.js';

const HOST = '_workspace-challenge';
const VALUE = 'workspace-verification=';

const lockDomain = directory.statement<never>(
  'tenants.lock_domain',
  `SELECT pg_advisory_xact_lock(hashtextextended('tenant domain ' || $1, 0))`,
);

const lockDomains = directory.lock('tenants.lock_domains', 'tenant domains of');

const verifiedBy = directory.statement<Pick<TenantDomain, 'tenant_id'>>(
  'tenants.domain_verified_by',
  `SELECT tenant_id FROM tenant_domains WHERE domain = ANY ($1::text[]) AND verified_at IS NOT NULL ORDER BY verified_at LIMIT 1`,
);

/** Domains of a workspace. A domain is verified by a TXT record, and by one workspace at a time. */
@Injectable()
export class TenantDomains {
  constructor(
    private readonly records: DomainRecords,
    private readonly policies: TenantPolicies,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  async list(tenantId: string): Promise<TenantDomainDetail[]> {
    const domains = await rowsOf(this.db, TenantDomain).all({ tenant_id: tenantId });
    return domains.toSorted((a, b) => (a.domain < b.domain ? -1 : 1)).map(present);
  }

  /** Adds a domain with a new challenge; an existing one stays as it is. @throws ApiError 422 `too_many_domains` */
  async add(ctx: RequestContext, domain: string): Promise<TenantDomainDetail> {
    const { tenantId } = ctx;
    const domainRow = await this.db.tx(async (tx) => {
      await tx.query(lockDomains, [tenantId]);
      const rows = rowsOf(tx, TenantDomain);
      const challenge = randomBytes(20).toString('hex');
      const added = await rows.insert({ tenant_id: tenantId, domain, challenge, verified_at: null });
      if (!added) return rows.one({ tenant_id: tenantId, domain });
      if ((await rows.count({ tenant_id: tenantId })) > QUOTAS.workspace.domains)
        throw TenantErrors.tooManyDomains.with();
      await this.log(tx, ctx, 'added', domain);
      return added;
    });
    // Null means that another request has removed it between the two statements.
    return domainRow ? present(domainRow) : this.add(ctx, domain);
  }

  /**
   * Adds domains for the operator, verified without a TXT record; those that wait for theirs are verified.
   * @param domains as DNS spells them @throws ApiError 409 `domain_taken`
   */
  async provision(tx: Tx, tenantId: string, domains: readonly string[]): Promise<void> {
    // In a fixed order, so that parallel calls do not deadlock.
    for (const domain of [...new Set(domains)].toSorted()) {
      const stored = await this.find(tx, tenantId, domain);
      if (stored?.verified_at != null) continue;
      await this.lockUntaken(tx, tenantId, domain);
      const values = { tenant_id: tenantId, domain: stored?.domain ?? domain, verified_at: () => 'now()' };
      await rowsOf(tx, TenantDomain).store(['tenant_id', 'domain'], values);
    }
  }

  /**
   * Reads the TXT record of a domain and verifies the domain.
   * @throws ApiError 404; 409 `domain_not_verified`, `domain_taken`; 503 `dns_unavailable`
   */
  async verify(ctx: RequestContext, name: string): Promise<TenantDomainDetail> {
    const { tenantId } = ctx;
    const stored = await this.existing(this.db, tenantId, name);
    const { domain } = stored;
    if (stored.verified_at !== null) return present(stored);
    const values = await this.records.txt(`${HOST}.${domain}`);
    if (!values.includes(`${VALUE}${stored.challenge}`)) throw TenantErrors.domainNotVerified.with();
    return this.db.tx(async (tx) => {
      await this.lockUntaken(tx, tenantId, domain);
      const values = { verified_at: () => 'now()' };
      const [verified] = await rowsOf(tx, TenantDomain).update({ tenant_id: tenantId, domain }, values);
      if (!verified) throw TenantErrors.domainNotFound.with();
      await this.log(tx, ctx, 'verified', domain);
      return present(verified);
    });
  }

  /** @throws ApiError 404 */
  async remove(ctx: RequestContext, name: string): Promise<TenantDomainDetail> {
    const { tenantId } = ctx;
    return this.db.tx(async (tx) => {
      const { domain } = await this.existing(tx, tenantId, name);
      const [removed] = await rowsOf(tx, TenantDomain).delete({ tenant_id: tenantId, domain });
      if (!removed) throw TenantErrors.domainNotFound.with();
      await this.log(tx, ctx, 'removed', domain);
      return present(removed);
    });
  }

  /** The workspace that has verified the domain of an address; null: none. */
  async ownerOf(email: string, reader: Reader = this.db): Promise<string | null> {
    const spellings = storedSpellings(email.slice(email.lastIndexOf('@') + 1));
    return (await reader.query(verifiedBy, [spellings]))[0]?.tenant_id ?? null;
  }

  /** Locks a domain until the end of the transaction. @throws ApiError 409 `domain_taken` when another workspace has verified it */
  private async lockUntaken(tx: Tx, tenantId: string, domain: string): Promise<void> {
    await tx.query(lockDomain, [domainName(domain)]);
    const [owner] = await tx.query(verifiedBy, [storedSpellings(domain)]);
    if (owner && owner.tenant_id !== tenantId)
      throw TenantErrors.domainTaken.with({
        message: `Another workspace has verified the domain ${domain}.`,
      });
  }

  /** Whether the workspace has verified the domain. */
  async isVerified(tenantId: string, domain: string): Promise<boolean> {
    return (await this.find(this.db, tenantId, domain))?.verified_at != null;
  }

  /** A domain of the workspace in any spelling. Earlier versions stored internationalised domains in Unicode. */
  private async find(reader: Reader, tenantId: string, domain: string): Promise<TenantDomain | null> {
    const name = domainName(domain);
    const domains = await rowsOf(reader, TenantDomain).all({ tenant_id: tenantId });
    return (name !== '' && domains.find((each) => domainName(each.domain) === name)) || null;
  }

  /** @throws ApiError 404 */
  private async existing(reader: Reader, tenantId: string, domain: string): Promise<TenantDomain> {
    const found = await this.find(reader, tenantId, domain);
    if (!found) throw TenantErrors.domainNotFound.with();
    return found;
  }

  /** The workspace that an address may join by its verified domain, if the policy of the workspace allows it. */
  async findJoinable(email: string): Promise<string | null> {
    const tenantId = await this.ownerOf(email);
    if (tenantId === null) return null;
    return (await this.policies.readPolicy(tenantId)).domain_join ? tenantId : null;
  }

  private async log(tx: Tx, ctx: RequestContext, change: string, domain: string): Promise<void> {
    const entry = { action: `tenant.domain.${change}`, objectKind: 'domain', objectId: domain };
    await this.audit.record(tx, ctx, entry);
  }
}

function present({ domain, verified_at, challenge, created_at }: TenantDomain): TenantDomainDetail {
  return {
    domain,
    verified: verified_at !== null,
    verified_at: verified_at?.toISOString() ?? null,
    txt_record: challenge === null ? null : { name: `${HOST}.${domain}`, value: `${VALUE}${challenge}` },
    created_at: created_at.toISOString(),
  };
}
