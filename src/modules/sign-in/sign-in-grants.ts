import { Injectable } from '@nestjs/common';
import type { ClientCredentials, Grant, Provider } from 'oidc-provider';
import { v7 as uuidv7 } from 'uuid';
import { Config } from '../../config/config.js';
import { Audit } from '../../platform/audit/audit.js';
import { Db } from '../../platform/database/db.js';
import { IssuerSignIn } from '../issuers/index.js';
import { SignInSessions } from '../identity/index.js';
import { TenantPolicies, TenantsApi } from '../tenants/index.js';
import { OidcClientsApi } from './clients/oidc-clients.api.js';
import { API_SCOPE, apiResource, isOidcScope, oidcLibrary } from './model/oidc-scopes.js';
import { issuerOf } from './protocol/issuer-mark.js';

const DAY_SECONDS = 86_400;

/** Origin of a sign-in, for the list of sessions and the audit log. */
export interface Origin {
  ip: string | null;
  userAgent: string | null;
  requestId: string | null;
}

interface GrantRequest {
  accountId: string;
  clientId: string;
  /** Null means a sign-in without a workspace. */
  tenantId: string | null;
  /** Requested scopes with the consent of the user. */
  scopes: string[];
  /** When the user signed in, seconds since 1970. */
  signedInAt: number;
  /** When the second factor was proven, seconds since 1970; null: not proven. */
  secondFactorAt: number | null;
  /** The issuer of the workspace that signed in the user; null: this service. */
  issuer: string | null;
}

/**
 * Grants: consent of a user to one client in one workspace. Each grant has a session of the identity module with the same
 * id, which its access tokens name. Grant and session end together.
 */
@Injectable()
export class SignInGrants {
  constructor(
    private readonly sessions: SignInSessions,
    private readonly clients: OidcClientsApi,
    private readonly tenants: TenantsApi,
    private readonly policies: TenantPolicies,
    private readonly issuers: IssuerSignIn,
    private readonly audit: Audit,
    private readonly db: Db,
    private readonly config: Config,
  ) {}

  /** @returns the id of the new grant */
  async open(provider: Provider, request: GrantRequest, origin: Origin): Promise<string> {
    const { scopes, ...opening } = request;
    const { accountId, clientId, tenantId, secondFactorAt, issuer } = opening;
    const id = uuidv7();
    const { session_days } =
      tenantId === null ? { session_days: null } : await this.policies.readPolicy(tenantId);
    const ttl = Math.min(this.config.SIGN_IN_DAYS, session_days ?? Infinity) * DAY_SECONDS;
    const expiresAt = new Date(Date.now() + ttl * 1000);
    const { ip, userAgent, requestId } = origin;
    const session = { ...opening, id, expiresAt, userAgent, ip, isActivated: false };
    await this.db.tx(async (tx) => {
      await this.sessions.open(tx, session);
      const actor = { tenantId, userId: accountId, sessionId: id, requestId, ip };
      const data = { client: clientId, second_factor: secondFactorAt !== null, issuer };
      await this.audit.record(tx, actor, {
        action: 'identity.session.opened',
        objectKind: 'user',
        objectId: accountId,
        data,
      });
    });
    // The first token extends the session to the end of its grant.
    const lifetime = { jti: id, expiresIn: ttl };
    const grant = Object.assign(new provider.Grant({ accountId, clientId }), lifetime);
    this.allow(grant, scopes);
    return grant.save();
  }

  /** Whether a grant may still obtain tokens for this account. */
  async isAlive(grantId: string, accountId: string): Promise<boolean> {
    return (await this.sessions.findLive(grantId))?.accountId === accountId;
  }

  /**
   * Whether a grant of this account was ended. A grant whose client never fetched a token expires after minutes without being
   * ended: its browser stays signed in.
   */
  async isEnded(grantId: string, accountId: string): Promise<boolean> {
    return !(await this.isAlive(grantId, accountId)) && !(await this.sessions.isUnused(grantId, accountId));
  }

  /** @returns the first scope that the client may not have */
  async forbiddenScope(clientId: string, scopes: Iterable<string>): Promise<string | undefined> {
    const allowed = await this.clients.allowedScopes(clientId);
    if (allowed === null) return undefined;
    return [...scopes].find((scope) => (isOidcScope(scope) || scope === API_SCOPE) && !allowed.has(scope));
  }

  /**
   * Ends a grant with a scope that its client may not have any more.
   * @throws InvalidScope
   */
  async assertScopes(grant: Grant): Promise<void> {
    const scopes = [grant.getOIDCScope(), grant.getResourceScope(apiResource(this.config))]
      .join(' ')
      .split(' ');
    const forbidden = await this.forbiddenScope(String(grant.clientId), scopes);
    if (forbidden === undefined) return;
    await grant.destroy();
    const { errors } = await oidcLibrary();
    throw new errors.InvalidScope('the client may not have this scope', forbidden);
  }

  /** Whether a browser was signed in by an issuer that may not sign in users any more. @param acr mark of the sign-in */
  async isIssuerEnded(acr: string | undefined): Promise<boolean> {
    const mark = issuerOf(acr);
    return mark !== null && this.issuers.isEnded(mark.tenantId, mark.id);
  }

  /** The identity scopes of a grant; null when no grant has this id, e.g. for tokens of the command line. */
  async identityScopes(provider: Provider, grantId: string): Promise<Set<string> | null> {
    const grant = await provider.Grant.find(grantId);
    return grant ? new Set(grant.getOIDCScope().split(' ')) : null;
  }

  /**
   * The first token activates the session.
   * @param expiresAt end of the grant, seconds since 1970
   * @returns private claims of an access token: session and workspace
   */
  async tokenClaims(grantId: string, expiresAt: number): Promise<{ sid: string; tid?: string }> {
    const session = await this.sessions.findLive(grantId);
    if (!session) {
      const { errors } = await oidcLibrary();
      throw new errors.InvalidGrant('the sign-in has ended');
    }
    if (!session.isActivated) await this.sessions.activate(session.id, new Date(expiresAt * 1000));
    return { sid: session.id, ...(session.tenantId !== null && { tid: session.tenantId }) };
  }

  /** Claims of a service token. A service has no grant: each token has its own session. */
  async serviceClaims(token: ClientCredentials): Promise<{ sub: string; sid: string; tid: string }> {
    const clientId = token.clientId as string;
    const { accountId, tenantId } = (await this.clients.find(clientId)) ?? {};
    const member =
      accountId && tenantId && (await this.sessions.account(accountId)) !== null
        ? await this.tenants.activeRole(tenantId, accountId)
        : null;
    if (!accountId || !tenantId || member === null) {
      const { errors } = await oidcLibrary();
      throw new errors.UnauthorizedClient('the account of this service is closed');
    }
    const unattended = {
      signedInAt: null,
      secondFactorAt: null,
      userAgent: null,
      ip: null,
      isActivated: true,
      issuer: null,
    };
    const expiresAt = new Date(Date.now() + token.expiration * 1000);
    const session = { id: uuidv7(), accountId, tenantId, clientId, expiresAt, ...unattended };
    await this.db.tx(async (tx) => {
      await this.sessions.open(tx, session);
      const actor = { tenantId, userId: accountId, sessionId: session.id };
      await this.audit.record(tx, actor, {
        action: 'identity.service_token.issued',
        objectKind: 'client',
        objectId: clientId,
      });
    });
    return { sub: accountId, sid: session.id, tid: tenantId };
  }

  private allow(grant: Grant, scopes: string[]): void {
    const identity = scopes.filter(isOidcScope);
    if (identity.length > 0) grant.addOIDCScope(identity.join(' '));
    if (scopes.includes(API_SCOPE)) grant.addResourceScope(apiResource(this.config), API_SCOPE);
  }
}
