import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { concerns } from '../../platform/context/access-changes.js';
import { type Identity, type TenantRole, TokenResolver } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { errors } from 'jose';
import { TenantPolicies, TenantsApi } from '../tenants/index.js';
import { AccessTokens, InvalidClaimsError } from './tokens/access-tokens.js';
import { type AccessChangeRow, AccessWatch } from './access-watch.js';
import { CredentialsRepository } from './credentials.repository.js';
import { emailKey, sameMailbox } from './email.js';
import { SessionActivity } from './sessions/sessions.repository.js';
import { ExternalTokens, type ExternalClaims } from './tokens/external-tokens.js';
import { type AccountRow, IdentityRepository } from './identity.repository.js';
import { UnknownKeyError } from './tokens/signing-keys.js';
import { growingTo } from '../../platform/memory/cache-size.js';

const MAX_CACHED = 10_000;
/** Shorter than the hour for which changes of access are stored: a process may have read none of them for longer. */
const CACHED_MS = 1_800_000;
const MAX_CLOCK_AHEAD_MS = 60_000;
/** Name of this service among the accepted issuers of a policy. */
const LOCAL = 'local';
/** Addresses of the accounts of services, which have no second factor. */
const SERVICE_DOMAIN = '@clients.invalid';

interface Verified {
  identity: Identity;
  expiresAt: number;
  /** The period of `SessionActivity` in which the last use was recorded. */
  recordedIn: number;
}

/** Verifies access tokens of this installation and of the external issuer, and caches valid ones until a change. */
@Injectable()
export class TokenVerifier extends TokenResolver {
  private readonly cache = new LRUCache<string, Verified>(growingTo(MAX_CACHED));

  constructor(
    private readonly ownTokens: AccessTokens,
    private readonly external: ExternalTokens,
    private readonly repository: IdentityRepository,
    private readonly credentials: CredentialsRepository,
    private readonly tenants: TenantsApi,
    private readonly policies: TenantPolicies,
    private readonly watch: AccessWatch,
    private readonly activity: SessionActivity,
    private readonly db: Db,
  ) {
    super();
    watch.onChange((change) => this.forget(change));
  }

  override cached(token: string): Identity | undefined {
    const verified = this.watch.fresh ? this.cache.get(token) : undefined;
    if (!verified || verified.expiresAt <= Date.now()) return undefined;
    if (verified.recordedIn !== this.activity.period) this.recordUse(verified);
    return verified.identity;
  }

  override async resolve(token: string): Promise<Identity | null> {
    const began = performance.now();
    const verified = await this.verify(token);
    if (!verified) return null;
    this.recordUse(verified);
    const affects = (change: AccessChangeRow) => concerns(change, verified.identity);
    // A session without the factor is never cached, so that a proof takes effect at once in every process.
    const { secondFactorPending, secondFactorMissing } = verified.identity;
    if (!secondFactorPending && !secondFactorMissing && !this.watch.changedSince(began, affects))
      this.cache.set(token, { ...verified, expiresAt: Math.min(verified.expiresAt, Date.now() + CACHED_MS) });
    return verified.identity;
  }

  override async isValid({
    userId,
    tenantId,
    sessionId,
  }: Pick<Identity, 'userId' | 'tenantId' | 'sessionId'>): Promise<boolean> {
    const [account, member] = await Promise.all([
      sessionId === null
        ? this.credentials.byId(userId)
        : this.repository.bySession(sessionId, userId, tenantId),
      tenantId === null ? null : this.tenants.membership(tenantId, userId),
    ]);
    return account?.status === 'active' && (tenantId === null || member !== null);
  }

  private async verify(token: string): Promise<Verified | null> {
    try {
      return this.external.isFromIssuer(token)
        ? await this.verifyExternal(token)
        : await this.verifyOwn(token);
    } catch (error) {
      // jose and the claim checks reject invalid tokens; other errors (database, issuer) are failures.
      if (INVALID_TOKEN.some((type) => error instanceof type)) return null;
      throw error;
    }
  }

  private async verifyOwn(token: string): Promise<Verified | null> {
    const { accountId, tenantId, sessionId, issuedAt, expiresAt } = await this.ownTokens.verify(token);
    // Both are read in parallel, so that the first request with a token waits for one round trip.
    const [account, member] = await Promise.all([
      this.repository.bySession(sessionId, accountId, tenantId),
      tenantId === null ? null : this.tenants.membership(tenantId, accountId),
    ]);
    // Each session is revoked by itself; tokens_valid_after is for external issuers, which have no sessions here.
    if (!account || account.status !== 'active' || isInFuture(issuedAt)) return null;
    if (tenantId !== null && !(await this.policies.accepts(tenantId, account.issuer ?? LOCAL))) return null;
    const until = account.session_expires_at < expiresAt ? account.session_expires_at : expiresAt;
    if (tenantId !== null && !member) return null;
    const verified = verifiedAs(account, tenantId, member, sessionId, until, account.second_factor_pending);
    const isExempt = account.has_second_factor || account.email.endsWith(SERVICE_DOMAIN);
    return tenantId !== null && member && !isExempt
      ? this.withDeadline(verified, tenantId, member.since)
      : verified;
  }

  /** Applies the deadline by which the member must enable a second factor. */
  private async withDeadline(verified: Verified, tenantId: string, since: Date): Promise<Verified> {
    const deadline = await this.policies.secondFactorDeadline(tenantId, since);
    if (!deadline) return verified;
    if (deadline.getTime() > Date.now())
      return { ...verified, expiresAt: Math.min(verified.expiresAt, deadline.getTime()) };
    return { ...verified, identity: Object.freeze({ ...verified.identity, secondFactorMissing: true }) };
  }

  private async verifyExternal(token: string): Promise<Verified | null> {
    const claims = await this.external.verify(token);
    if (isInFuture(claims.issuedAt)) return null;
    const account = await this.accountOf(claims);
    if (!account || account.status !== 'active') return null;
    if (account.tokens_valid_after && claims.issuedAt <= account.tokens_valid_after) return null;
    const tenantId = claims.tenant === null ? null : await this.tenants.idOfName(claims.tenant);
    if (claims.tenant !== null && tenantId === null) return null;
    if (tenantId !== null && !(await this.policies.accepts(tenantId, claims.issuer))) return null;
    const member = tenantId === null ? null : await this.tenants.membership(tenantId, account.id);
    if (tenantId !== null && !member) return null;
    // The external issuer is responsible for second factors.
    return verifiedAs(account, tenantId, member, null, claims.expiresAt, false);
  }

  private async accountOf(claims: ExternalClaims): Promise<AccountRow | null> {
    const linked = await this.repository.byLink(claims.issuer, claims.subject);
    if (linked || claims.email === null) return linked;
    const account = await this.repository.byEmail(emailKey(claims.email));
    if (!account || !sameMailbox(account.email, claims.email)) return null;
    const fresh = await this.db.single((tx) =>
      this.repository.link(tx, claims.issuer, claims.subject, account.id),
    );
    // There is no new link if a parallel request created it, or if the address belongs to another subject.
    return fresh ? account : this.repository.byLink(claims.issuer, claims.subject);
  }

  private recordUse(verified: Verified): void {
    verified.recordedIn = this.activity.period;
    if (verified.identity.sessionId !== null) this.activity.record(verified.identity.sessionId);
  }

  private forget(change: AccessChangeRow): void {
    // A change of the policy of a workspace is recorded as a change of its members.
    if (change.tenant_id !== null) this.policies.forget(change.tenant_id);
    for (const [token, { identity }] of this.cache.entries())
      if (concerns(change, identity)) this.cache.delete(token);
  }
}

/** @param member null outside a workspace */
function verifiedAs(
  account: AccountRow,
  tenantId: string | null,
  member: { role: TenantRole } | null,
  sessionId: string | null,
  expiresAt: Date,
  secondFactorPending: boolean,
): Verified {
  const role = member?.role ?? null;
  return {
    identity: Object.freeze({ userId: account.id, tenantId, role, sessionId, secondFactorPending }),
    expiresAt: expiresAt.getTime(),
    recordedIn: -1,
  };
}

const INVALID_TOKEN = [errors.JOSEError, UnknownKeyError, InvalidClaimsError];

/** Whether the time is ahead by more than the tolerated clock difference. */
const isInFuture = (issuedAt: Date): boolean => issuedAt.getTime() > Date.now() + MAX_CLOCK_AHEAD_MS;
