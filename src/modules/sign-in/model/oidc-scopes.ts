import type { Config } from '../../../config/config.js';

/** The library of the OpenID provider. Its 217 modules are loaded by the first request of the protocol, not at the start. */
export const oidcLibrary = () => import('oidc-provider');

/** Access to the API as the user who signed in. */
export const API_SCOPE = 'workspace';

/** Identity scopes; with `offline_access` the client stays signed in after the browser sign-out. */
export const OIDC_SCOPES = ['openid', 'profile', 'email', 'offline_access'] as const;

export const isOidcScope = (scope: string): boolean => (OIDC_SCOPES as readonly string[]).includes(scope);

/** Resource identifier of the API (RFC 8707): its address. */
export const apiResource = (config: Config): string => `${config.publicUrl}/apis/v1`;
