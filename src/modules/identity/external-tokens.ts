import { Injectable } from '@nestjs/common';
import {
  createRemoteJWKSet,
  decodeJwt,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { Config } from '../../config/config.js';
import { Errors } from '../../platform/http/errors.js';

/** What signatures we take from others; no symmetric ones, and never `none`. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const CLOCK_TOLERANCE_SECONDS = 30;
const TIMEOUT_MS = 5_000;

export interface ExternalClaims {
  issuer: string;
  subject: string;
  /** Only an address the issuer has verified. */
  email: string | null;
  /** Slug or id of a workspace. */
  tenant: string | null;
  issuedAt: Date;
  expiresAt: Date;
}

/** Verifies access tokens of the configured external OpenID issuer. */
@Injectable()
export class ExternalTokens {
  private keys: Promise<JWTVerifyGetKey> | undefined;

  constructor(private readonly config: Config) {}

  /** True when the token says it is of that issuer; nothing is verified yet. */
  claimsToBe(token: string): boolean {
    if (!this.config.OIDC_ISSUER) return false;
    try {
      return decodeJwt(token).iss === this.config.OIDC_ISSUER;
    } catch {
      return false;
    }
  }

  /** @throws JOSEError when the token is wrong; ApiError 503 when the issuer's keys cannot be had */
  async verify(token: string): Promise<ExternalClaims> {
    const { payload } = await jwtVerify(token, await this.keySet(), {
      algorithms: ALGORITHMS,
      issuer: this.config.OIDC_ISSUER,
      audience: this.config.OIDC_AUDIENCE,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      requiredClaims: ['sub', 'exp', 'iat'],
    }).catch((error: unknown) => {
      throw isOurTrouble(error)
        ? Errors.identityProviderUnavailable.with({ headers: { 'Retry-After': '5' } })
        : error;
    });
    return claims(payload);
  }

  private async keySet(): Promise<JWTVerifyGetKey> {
    this.keys ??= this.jwksUrl().then((url) =>
      createRemoteJWKSet(url, { timeoutDuration: TIMEOUT_MS, cooldownDuration: 5_000, cacheMaxAge: 600_000 }),
    );
    return this.keys.catch(() => {
      this.keys = undefined;
      throw Errors.identityProviderUnavailable.with({ headers: { 'Retry-After': '5' } });
    });
  }

  /** OIDC_JWKS_URL, or what the issuer's discovery document names (OpenID Connect Discovery 1.0, section 4). */
  private async jwksUrl(): Promise<URL> {
    if (this.config.OIDC_JWKS_URL) return new URL(this.config.OIDC_JWKS_URL);
    const address = `${this.config.OIDC_ISSUER?.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const response = await fetch(address, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'error' });
    const { issuer, jwks_uri: uri } = (await response.json()) as { issuer?: string; jwks_uri?: string };
    if (issuer !== this.config.OIDC_ISSUER) throw new Error(`${address} is the document of another issuer`);
    return new URL(String(uri));
  }
}

function isOurTrouble(error: unknown): boolean {
  return (
    error instanceof errors.JWKSTimeout ||
    error instanceof errors.JWKSInvalid ||
    !(error instanceof errors.JOSEError) ||
    // jose's own class: the answer for the keys was not 200, or no JSON.
    error.code === errors.JOSEError.code
  );
}

function claims(payload: JWTPayload): ExternalClaims {
  const tenant = payload['tid'] ?? payload['tenant'];
  return {
    issuer: String(payload.iss),
    subject: String(payload.sub),
    email:
      payload['email_verified'] === true && typeof payload['email'] === 'string' ? payload['email'] : null,
    tenant: typeof tenant === 'string' ? tenant : null,
    issuedAt: new Date((payload.iat ?? 0) * 1000),
    expiresAt: new Date((payload.exp ?? 0) * 1000),
  };
}
