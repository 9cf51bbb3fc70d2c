import {
  type Adapter,
  type Configuration,
  errors,
  interactionPolicy,
  type JWK,
  type KoaContextWithOIDC,
} from 'oidc-provider';
import type { Config } from '../../config/config.js';
import { LANGUAGES } from '../../platform/languages/languages.js';
import { AUDIENCE } from '../identity/index.js';
import { API_SCOPE, apiResource, OIDC_SCOPES } from './model/oidc-scopes.js';
import type { ProviderPages } from './pages/index.js';
import type { OidcAccounts } from './protocol/oidc-accounts.js';
import type { SignInGrants } from './sign-in-grants.js';

const { Check, base } = interactionPolicy;

/** States that require a new sign-in. */
export interface SignInStates {
  /** Whether a grant was ended. */
  isEnded(grantId: string, accountId: string): Promise<boolean>;
  /** Whether the issuer that signed in the browser may not sign in users any more. */
  isIssuerEnded(acr: string | undefined): Promise<boolean>;
}

/**
 * Decides when the provider shows a page: for the reasons of the library, and when the sign-in of this browser, or a grant
 * opened from it, was ended elsewhere. Such a browser must not open another session without a new sign-in.
 */
export function signInPolicy(states: SignInStates) {
  const policy = base();
  policy.get('login')?.checks.add(
    new Check('session_ended', 'the sign-in has ended', 'login_required', async ({ oidc }) => {
      const { session, account, result } = oidc;
      if (session?.accountId === undefined) return false;
      if (account === undefined) return true;
      if (result?.login === undefined && (await states.isIssuerEnded(session.acr))) return true;
      const ended = await endedGrants(session, (id, account) => states.isEnded(id, account));
      if (ended.length === 0) return false;
      if (result?.login === undefined) return true;
      // After a new sign-in, ended grants no longer matter.
      session.authorizations = Object.fromEntries(
        Object.entries(session.authorizations ?? {}).filter(([clientId]) => !ended.includes(clientId)),
      );
      return false;
    }),
  );
  return policy;
}

/** Clients whose grants, opened from this browser, have ended. */
async function endedGrants(
  { accountId, authorizations = {} }: NonNullable<KoaContextWithOIDC['oidc']['session']>,
  isEnded: (grantId: string, accountId: string) => Promise<boolean>,
): Promise<string[]> {
  const grants = Object.entries(authorizations).filter(([, { grantId }]) => grantId !== undefined);
  const states = await Promise.all(grants.map(([, { grantId }]) => isEnded(grantId!, accountId!)));
  return grants.filter((_, n) => states[n]).map(([clientId]) => clientId);
}

/** Path of the OpenID provider. */
export const OIDC_PATH = '/apis/v1/oidc';

/** Cookie that identifies the pending sign-in of a browser; limited to the sign-in pages. */
export const SIGN_IN_COOKIE = 'workspace_sign_in';

const ALGORITHM = 'ES256';
const HOUR = 3_600;
const DAY = 86_400;
const REFRESH_DAYS = 14;

/** Parts of the configuration. */
interface ConfigurationParts {
  config: Config;
  /** Private signing keys; the first one signs. */
  keys: JWK[];
  /** Signing keys of cookies. */
  cookieKeys: string[];
  adapter: (model: string) => Adapter;
  accounts: OidcAccounts;
  grants: SignInGrants;
  pages: ProviderPages;
  /** Whether the client is first-party: no consent page, and refresh tokens without `offline_access`. */
  firstParty: (clientId: string) => Promise<boolean>;
}

/** Configuration of the OpenID provider: its strict options (OAuth 2.1, RFC 9700). */
export function oidcConfiguration(parts: ConfigurationParts): Configuration {
  const { config, accounts, pages } = parts;
  return {
    adapter: parts.adapter,
    jwks: { keys: parts.keys },
    cookies: cookies(parts.cookieKeys),
    scopes: [...OIDC_SCOPES],
    claims: {
      openid: ['sub', 'amr', 'auth_time'],
      profile: ['name'],
      email: ['email', 'email_verified'],
      acr: null,
      iss: null,
      sid: null,
    },
    responseTypes: ['code'],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    clientDefaults: { id_token_signed_response_alg: ALGORITHM },
    enabledJWA: { idTokenSigningAlgValues: [ALGORITHM] },
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    conformIdTokenClaims: false,
    discovery: {
      ui_locales_supported: [...LANGUAGES],
      service_documentation: `${config.publicUrl}/apis/v1/docs`,
    },
    findAccount: (ctx, id, token) => accounts.find(ctx, id, token),
    interactions: {
      policy: signInPolicy(parts.grants),
      url: (_ctx, interaction) => `${OIDC_PATH}/interaction/${interaction.uid}`,
    },
    clientBasedCORS: (_ctx, origin, client) =>
      client.clientAuthMethod === 'none' &&
      (client.redirectUris ?? []).some((uri) => URL.parse(uri)?.origin === origin && origin !== 'null'),
    renderError: (ctx, out) => pages.error(ctx, out),
    features: features(parts),
    ...lifetimes(config),
    ...tokens(parts),
  };
}

function cookies(keys: string[]): Configuration['cookies'] {
  return {
    keys,
    names: { session: 'workspace_session', interaction: SIGN_IN_COOKIE, resume: 'workspace_resume' },
    long: { httpOnly: true, sameSite: 'lax', signed: true, path: OIDC_PATH },
    short: { httpOnly: true, sameSite: 'lax', signed: true },
  };
}

function features({ config, pages, grants }: ConfigurationParts): Configuration['features'] {
  const resource = apiResource(config);
  return {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    revocation: {
      enabled: true,
      allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
    },
    deviceFlow: {
      enabled: true,
      deviceInfo: () => ({}),
      userCodeInputSource: (ctx, _form, out, error) => pages.deviceCode(ctx, out, error),
      userCodeConfirmSource: (ctx, _form, client, _info, code) => pages.deviceConfirm(ctx, client, code),
      successSource: (ctx) => pages.deviceDone(ctx),
    },
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: (ctx) => pages.signOut(ctx),
      postLogoutSuccessSource: (ctx) => pages.signedOut(ctx),
    },
    // Disabled: the bearer guard does not verify sender-constrained tokens.
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: (_ctx, source) => source.scopes.has(API_SCOPE),
      async getResourceServerInfo(ctx, requested, client) {
        if (requested !== resource) throw new errors.InvalidTarget();
        // The provider itself compares identity scopes only, because the scope of the API belongs to its resource server.
        const scope = await grants.forbiddenScope(client.clientId, ctx.oidc.requestParamScopes);
        if (scope !== undefined) throw new errors.InvalidScope('requested scope is not allowed', scope);
        // Otherwise the exchange of the code would fail, which uses it up.
        const { params } = ctx.oidc;
        if (params && mustHaveScope(params)) assertUse(ctx.oidc.requestParamScopes);
        return {
          scope: API_SCOPE,
          audience: AUDIENCE,
          accessTokenFormat: 'jwt',
          accessTokenTTL: Math.min(HOUR, config.TOKEN_TTL),
          jwt: { sign: { alg: ALGORITHM } },
        };
      },
    },
  };
}

/** The exchange of a code, and a refresh, have the scopes of the request before. No scope is granted by default (RFC 6749, 3.3). */
const mustHaveScope = ({ scope, grant_type: grant }: Record<string, unknown>): boolean =>
  scope !== undefined || grant === undefined || grant === 'client_credentials';

/** Rejects scopes without any use: tokens are for the API, or, with `openid`, for userinfo. */
function assertUse(scopes: ReadonlySet<string>): void {
  if (!scopes.has(API_SCOPE) && !scopes.has('openid')) throw missingScope();
}

const missingScope = (): Error => new errors.InvalidScope(`the scope ${API_SCOPE} is required`, API_SCOPE);

/**
 * Rejects a refresh that the provider would reject only after the rotation, which uses up the refresh token.
 * @throws InvalidScope; InvalidTarget
 */
function assertRefresh({ oidc }: KoaContextWithOIDC, api: string): void {
  const { entities, params = {}, requestParamScopes } = oidc;
  const { resource } = params;
  // Of several resources the provider takes the default one.
  if (typeof resource === 'string' && resource !== '' && resource !== api) throw new errors.InvalidTarget();
  const granted = entities.RefreshToken?.scopes ?? new Set();
  const scopes = params['scope'] ? requestParamScopes : granted;
  const isForApi = Boolean(resource) || granted.has(API_SCOPE) || !scopes.has('openid');
  if (isForApi && !scopes.has(API_SCOPE)) throw missingScope();
}

function lifetimes(config: Config): Pick<Configuration, 'ttl'> {
  const signIn = config.SIGN_IN_DAYS * DAY;
  const api = Math.min(HOUR, config.TOKEN_TTL);
  return {
    ttl: {
      AccessToken: api,
      AuthorizationCode: 60,
      ClientCredentials: api,
      DeviceCode: 600,
      Grant: signIn,
      IdToken: HOUR,
      Interaction: HOUR,
      // Expires after REFRESH_DAYS without use, at the latest with its grant.
      RefreshToken: (ctx) => {
        const grant = ctx.oidc.entities.Grant;
        return Math.max(1, Math.min(REFRESH_DAYS * DAY, grant?.remainingTTL ?? signIn));
      },
      // Absolute lifetime. OidcAccounts also limits the time since the sign-in.
      Session: signIn,
    },
  };
}

function tokens({ config, grants, firstParty }: ConfigurationParts): Partial<Configuration> {
  return {
    rotateRefreshToken: (ctx) => {
      assertRefresh(ctx, apiResource(config));
      return true;
    },
    issueRefreshToken: async (_ctx, client, source) =>
      client.grantTypeAllowed('refresh_token') &&
      (source.scopes.has('offline_access') || (await firstParty(client.clientId))),
    // The browser sign-out ends its grants, except those with offline_access and those of devices.
    expiresWithSession: (_ctx, source) =>
      !source.scopes.has('offline_access') && source.kind !== 'DeviceCode',
    loadExistingGrant: async (ctx) => {
      const { client, session, account, result } = ctx.oidc;
      const id = result?.consent?.grantId ?? session?.grantIdFor(client!.clientId);
      if (!id || !account || !(await grants.isAlive(id, account.accountId))) return undefined;
      const grant = await ctx.oidc.provider.Grant.find(id);
      if (grant) await grants.assertScopes(grant);
      return grant;
    },
    extraTokenClaims: async (ctx, token) => {
      const { Grant: grant } = ctx.oidc.entities;
      if (grant) await grants.assertScopes(grant);
      const session =
        token.kind === 'AccessToken' ? await grants.tokenClaims(token.grantId, grant?.exp ?? 0) : undefined;
      if (token.resourceServer === undefined) return undefined;
      // The API accepts any token of this issuer, so tokens without this scope, and thus without consent, must not exist.
      if (!token.scope?.split(' ').includes(API_SCOPE)) throw missingScope();
      return token.kind === 'ClientCredentials' ? grants.serviceClaims(token) : session;
    },
    formats: {
      customizers: {
        // The API identifies a service by its account.
        jwt(_ctx, token, parts) {
          const sub = token.kind === 'ClientCredentials' ? token.extra?.['sub'] : undefined;
          if (sub !== undefined) parts.payload['sub'] = sub;
        },
      },
    },
  };
}
