import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import * as openid from 'openid-client';
import { Config } from '../../config/config.js';
import { Audit } from '../../platform/audit/audit.js';
import { Db } from '../../platform/database/db.js';
import { RateLimits } from '../../platform/rate-limits/rate-limits.js';
import { UnreadableSecretError } from '../../platform/secrets/secret-box.js';
import { isInDomains, TenantDomains, TenantPolicies, TenantsApi } from '../tenants/index.js';
import { IssuerAccounts, type IssuerOrigin } from './issuer-accounts.js';
import { IssuerClient, IssuerError, type IssuerRegistration } from './issuer-client.js';
import { IssuerSecrets, IssuersRepository } from './issuers.repository.js';
import type { TenantIssuer } from './issuers.schema.js';
import { redirectUriOf } from './issuers.presenter.js';
import { cutText } from '../../lib/text/index.js';

const ATTEMPT_MS = 10 * 60_000;
/** Each attempt is used once while it is valid. */
const ATTEMPT_USES = { scope: 'issuer-attempt', requests: 1, perSeconds: ATTEMPT_MS / 1000 };
/** An authentication method (RFC 8176). */
const METHOD = /^[\w.:-]{1,40}$/;
const MAX_METHODS = 10;
/** Characters of a detail in the audit log. */
const MAX_DETAIL = 300;

/** An issuer that may sign in users of a workspace. */
export type SignInIssuer = Pick<TenantIssuer, 'tenant_id' | 'id' | 'name' | 'issuer'>;

/** A running sign-in by an issuer. It is stored with the sign-in of the browser and used once. */
export interface IssuerAttempt {
  tenantId: string;
  issuerId: string;
  state: string;
  nonce: string;
  verifier: string;
  /** Milliseconds since 1970. */
  at: number;
}

export type IssuerOutcome =
  | { outcome: 'signed_in'; accountId: string; issuer: SignInIssuer; amr: string[] }
  | { outcome: 'rejected' | 'unavailable'; issuer: SignInIssuer | null };

/** Sign-in of users by the issuer of their workspace. */
@Injectable()
export class IssuerSignIn {
  constructor(
    private readonly issuers: IssuersRepository,
    private readonly client: IssuerClient,
    private readonly accounts: IssuerAccounts,
    private readonly domains: TenantDomains,
    private readonly tenants: TenantsApi,
    private readonly policies: TenantPolicies,
    private readonly secrets: IssuerSecrets,
    private readonly limits: RateLimits,
    private readonly audit: Audit,
    private readonly config: Config,
    private readonly db: Db,
  ) {}

  /** Whether any workspace has an issuer, so that the sign-in page offers one. */
  async isOffered(): Promise<boolean> {
    return this.issuers.anyEnabled();
  }

  /** The issuer for the domain of an address. It depends on the domain only, not on accounts. */
  async forEmail(email: string): Promise<SignInIssuer | null> {
    return this.boundTo(email);
  }

  /** The issuer with this id; null when it was removed or disabled, or the policy of the workspace does not accept it. */
  async find(tenantId: string, id: string): Promise<SignInIssuer | null> {
    return this.usable(await this.issuers.find(tenantId, id));
  }

  /** Whether an issuer was removed or disabled, or its workspace has none of its domains any more. */
  async isEnded(tenantId: string, id: string): Promise<boolean> {
    const issuer = await this.usable(await this.issuers.find(tenantId, id));
    for (const domain of issuer?.domains ?? [])
      if (await this.domains.isVerified(tenantId, domain)) return false;
    return true;
  }

  /**
   * The issuer that a member must use for its workspace. Owners may use a password too, so that a broken issuer does
   * not lock out the workspace.
   * @returns null when the workspaces of the account require none
   */
  async requiredFor(accountId: string, email: string): Promise<SignInIssuer | null> {
    const issuer = await this.boundTo(email);
    if (!issuer?.is_required) return null;
    const role = await this.tenants.activeRole(issuer.tenant_id, accountId);
    return role === null || role === 'owner' ? null : issuer;
  }

  /**
   * Starts a sign-in.
   * @param statePrefix identifies the sign-in of the browser in the response
   * @returns the address of the issuer; null when the issuer is unavailable
   */
  async start(
    { tenant_id: tenantId, id }: SignInIssuer,
    { email, statePrefix }: { email: string; statePrefix: string },
    origin: IssuerOrigin,
  ): Promise<{ url: string; attempt: IssuerAttempt } | null> {
    const issuer = await this.issuers.find(tenantId, id);
    // The issuer was deleted after the page was shown.
    if (!issuer) return null;
    const state = `${statePrefix}.${openid.randomState()}`;
    const secrets = { state, nonce: openid.randomNonce(), verifier: openid.randomPKCECodeVerifier() };
    try {
      const request = { scopes: issuer.scopes, email };
      const url = await this.client.authorizationUrl(this.registration(issuer), secrets, request);
      return { url: url.href, attempt: { tenantId, issuerId: id, ...secrets, at: Date.now() } };
    } catch (error) {
      if (!(error instanceof IssuerError)) throw error;
      await this.reject(issuer, error.problem, error.message, origin);
      return null;
    }
  }

  /**
   * Handles the response of an issuer.
   * @param attempt of this browser; the caller has removed it, so that it is used once
   * @param issuerId of the redirect URI @param query of the redirect URI
   */
  async finish(
    attempt: IssuerAttempt,
    issuerId: string,
    query: URLSearchParams,
    origin: IssuerOrigin,
  ): Promise<IssuerOutcome> {
    const row = await this.issuers.find(attempt.tenantId, attempt.issuerId);
    const issuer = await this.usable(row);
    if (!row || !issuer) return { outcome: 'rejected', issuer: null };
    const isExpected =
      issuerId === row.id &&
      equal(query.get('state') ?? '', attempt.state) &&
      Date.now() - attempt.at < ATTEMPT_MS &&
      // Parallel requests with one response may all have read the attempt.
      (await this.limits.take({ limit: ATTEMPT_USES, subject: attempt.state })) === 0;
    if (!isExpected) {
      await this.reject(row, 'unexpected_response', 'the response belongs to another sign-in', origin);
      return { outcome: 'rejected', issuer };
    }
    try {
      const claims = await this.client.claims(this.registration(row), attempt, query);
      const admitted = await this.accounts.admit(row, claims, origin);
      if ('accountId' in admitted) {
        return { outcome: 'signed_in', accountId: admitted.accountId, issuer, amr: methodsOf(claims) };
      }
      await this.reject(row, admitted.rejected, null, origin);
      return { outcome: 'rejected', issuer };
    } catch (error) {
      if (!(error instanceof IssuerError)) throw error;
      await this.reject(row, error.problem, error.message, origin);
      const isInvalid = error.problem === 'invalid_response';
      return { outcome: isInvalid ? 'rejected' : 'unavailable', issuer };
    }
  }

  private async boundTo(email: string): Promise<TenantIssuer | null> {
    const tenantId = await this.domains.ownerOf(email);
    if (tenantId === null) return null;
    const found = (await this.issuers.readAll(tenantId)).find(
      ({ is_enabled, domains }) => is_enabled && isInDomains(email, domains),
    );
    return this.usable(found ?? null);
  }

  /** Null when the issuer is disabled, or the policy of the workspace does not accept it. */
  private async usable(issuer: TenantIssuer | null): Promise<TenantIssuer | null> {
    if (!issuer?.is_enabled) return null;
    return (await this.policies.accepts(issuer.tenant_id, issuer.issuer)) ? issuer : null;
  }

  private registration(issuer: TenantIssuer): IssuerRegistration {
    const { issuer: address, client_id: clientId, client_secret: sealed, id } = issuer;
    const clientSecret = sealed === null ? null : this.secretOf(issuer, sealed);
    return { issuer: address, clientId, clientSecret, redirectUri: redirectUriOf(this.config, id) };
  }

  /** @throws IssuerError when SECRET_KEYS lacks the key of the secret */
  private secretOf(issuer: TenantIssuer, sealed: string): string {
    try {
      return this.secrets.open(issuer, sealed);
    } catch (error) {
      if (error instanceof UnreadableSecretError) throw new IssuerError('unreadable_secret', error.message);
      throw error;
    }
  }

  private async reject(
    { tenant_id: tenantId, id, name }: TenantIssuer,
    reason: string,
    detail: string | null,
    origin: IssuerOrigin,
  ): Promise<void> {
    const data = { name, reason, ...(detail !== null && { detail: cutText(detail, MAX_DETAIL) }) };
    const entry = { action: 'tenant.issuer.sign_in_rejected', objectKind: 'issuer', objectId: id, data };
    await this.db.tx((tx) => this.audit.record(tx, { tenantId, userId: null, ...origin }, entry));
  }
}

/** The authentication methods that the issuer reports. */
function methodsOf({ amr }: openid.IDToken): string[] {
  const methods: unknown[] = Array.isArray(amr) ? amr.slice(0, MAX_METHODS) : [];
  return methods.filter((method) => typeof method === 'string' && METHOD.test(method)) as string[];
}

function equal(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
