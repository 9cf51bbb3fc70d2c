import type { Config } from '../../../config/config.js';

const TIMEOUT_MS = 5_000;

/**
 * The address of the keys of the external OpenID issuer: OIDC_JWKS_URL, or `jwks_uri` of the issuer's discovery document (OpenID
 * Connect Discovery 1.0, section 4).
 * @param read reads the document
 * @throws Error when the document cannot be read, or belongs to another issuer
 */
export async function issuerKeysUrl(
  { OIDC_ISSUER: issuer, OIDC_JWKS_URL: keysUrl }: Config,
  read: (address: string, init: RequestInit) => Promise<Response> = fetch,
): Promise<URL> {
  if (keysUrl) return new URL(keysUrl);
  const address = `${issuer?.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const response = await read(address, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'error' });
  const document = (await response.json()) as { issuer?: string; jwks_uri?: string };
  if (document.issuer !== issuer) throw new Error(`${address} belongs to another issuer`);
  return new URL(String(document.jwks_uri));
}
