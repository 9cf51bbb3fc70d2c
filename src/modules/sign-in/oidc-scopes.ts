import type { Config } from '../../config/config.js';

/** To use the API as the person who signed in. */
export const API_SCOPE = 'workspace';

/** What a client may ask to know; `offline_access` lets it stay signed in after the browser has signed out. */
export const OIDC_SCOPES = ['openid', 'profile', 'email', 'offline_access'] as const;

export const isOidcScope = (scope: string): boolean => (OIDC_SCOPES as readonly string[]).includes(scope);

/** The name of the API as a resource (RFC 8707): its address. */
export const apiResource = (config: Config): string => `${config.publicUrl}/apis/v1`;
