/** A route of the provider or of the sign-in pages. */
export interface OidcRoute {
  name: 'callback' | 'protocol' | 'script' | 'token' | 'start' | 'device' | 'userinfo' | 'interaction';
  /** Path in the metrics. */
  path: string;
  /** Whether browsers show the response. */
  isPage: boolean;
}

const GET = ['GET', 'HEAD'];
/** Ids of the provider: 256 bits. */
const UID = '[\\w-]{43}';

/** Id of an issuer of a workspace. */
const ISSUER = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/**
 * All routes under /apis/v1/oidc, matched exactly: the provider itself ignores case and trailing slashes. `/auth` and
 * `/session/end` have no POST: from other sites, browsers send it without the cookies (SameSite=Lax).
 */
const ROUTES: [methods: string[], pattern: string, name: OidcRoute['name'], path: string][] = [
  [GET, '/\\.well-known/openid-configuration', 'protocol', '/.well-known/openid-configuration'],
  [GET, '/\\.well-known/oauth-authorization-server', 'protocol', '/.well-known/oauth-authorization-server'],
  [GET, '/jwks', 'protocol', '/jwks'],
  [GET, '/passkey\\.js', 'script', '/passkey.js'],
  [GET, '/auth', 'start', '/auth'],
  [GET, `/auth/${UID}`, 'protocol', '/auth/:uid'],
  [['POST', 'OPTIONS'], '/token', 'token', '/token'],
  [['POST', 'OPTIONS'], '/token/revocation', 'token', '/token/revocation'],
  [['GET', 'HEAD', 'POST', 'OPTIONS'], '/me', 'userinfo', '/me'],
  [['POST', 'OPTIONS'], '/device/auth', 'start', '/device/auth'],
  [GET, '/device', 'protocol', '/device'],
  [['POST'], '/device', 'device', '/device'],
  [GET, `/device/${UID}`, 'protocol', '/device/:uid'],
  [GET, '/session/end', 'protocol', '/session/end'],
  [['POST'], '/session/end/confirm', 'protocol', '/session/end/confirm'],
  [GET, '/session/end/success', 'protocol', '/session/end/success'],
  [GET, `/callback/${ISSUER}`, 'callback', '/callback/:issuer_id'],
  [['GET', 'HEAD', 'POST'], `/interaction/${UID}`, 'interaction', '/interaction/:uid'],
];

/** Paths whose responses are pages. */
const PAGES = new Set([
  '/auth',
  '/device',
  '/session/end',
  '/session/end/confirm',
  '/interaction/:uid',
  '/callback/:issuer_id',
]);

const TABLE = ROUTES.map(([methods, pattern, name, path]) => ({
  methods: new Set(methods),
  pattern: new RegExp(`^${pattern}$`),
  route: { name, path, isPage: PAGES.has(path) },
}));

/** @param path below /apis/v1/oidc @returns null for an unknown route */
export function findOidcRoute(method: string, path: string): OidcRoute | null {
  return TABLE.find((entry) => entry.methods.has(method) && entry.pattern.test(path))?.route ?? null;
}

/** Route paths for the documentation. */
export const OIDC_ROUTES: readonly string[] = ROUTES.map(([, , , path]) => path);
