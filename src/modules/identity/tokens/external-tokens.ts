import { Injectable } from '@nestjs/common';
import {
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  errors,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyGetKey,
} from 'jose';
import { Config } from '../../../config/config.js';
import { Errors } from '../../../platform/http/errors.js';
import { isStorable } from '../../../platform/http/storable-text.js';
import { InvalidClaimsError } from './access-tokens.js';

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

/** Accepted signature algorithms: asymmetric only, never `none`. */
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
/** Minimum interval between two reads of the keys for unknown key ids. */
const COOLDOWN_MS = 5_000;
const MAX_PAUSE_MS = 30_000;
/** OpenID Connect Core 1.0, section 2: at most 255 ASCII characters. */
const MAX_SUBJECT = 255;
const MAX_EMAIL = 320;
const MAX_TENANT = 200;

export interface ExternalClaims {
  issuer: string;
  subject: string;
  /** Null unless the issuer verified the address. */
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
  /** Failed reads in a row. */
  private failures = 0;
  private pausedUntil = Number.NEGATIVE_INFINITY;

  constructor(private readonly config: Config) {}

  /** Whether the `iss` claim names the configured issuer. Nothing is verified yet. */
  isFromIssuer(token: string): boolean {
    if (!this.config.OIDC_ISSUER) return false;
    try {
      return decodeJwt(token).iss === this.config.OIDC_ISSUER;
    } catch {
      return false;
    }
  }

  /** @throws JOSEError or InvalidClaimsError when the token is invalid; ApiError 503 when the issuer's keys are unavailable */
  async verify(token: string): Promise<ExternalClaims> {
    try {
      const { payload } = await jwtVerify(token, await this.keySet(), {
        algorithms: ALGORITHMS,
        issuer: this.config.OIDC_ISSUER,
        audience: this.config.OIDC_AUDIENCE,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        requiredClaims: ['sub', 'exp', 'iat'],
      });
      return claims(payload);
    } catch (error) {
      if (!isProviderFailure(error)) throw error;
      this.pauseReads();
      throw Errors.identityProviderUnavailable.with({ headers: { 'Retry-After': '5' } });
    }
  }

  /** jose shares one request among concurrent tokens, and reads again for unknown keys after COOLDOWN_MS. */
  private async keySet(): Promise<JWTVerifyGetKey> {
    this.keys ??= issuerKeysUrl(this.config, (address, init) => this.read(address, init)).then((url) =>
      createRemoteJWKSet(url, {
        timeoutDuration: TIMEOUT_MS,
        cooldownDuration: COOLDOWN_MS,
        cacheMaxAge: 600_000,
        [customFetch]: (address, init) => this.read(address, init),
      }),
    );
    return this.keys.catch((error: unknown) => {
      this.keys = undefined;
      throw error;
    });
  }

  /** Reads from the issuer, unless a pause after a failure is running. */
  private async read(address: string, init: RequestInit): Promise<Response> {
    if (performance.now() < this.pausedUntil) throw new Error('the issuer failed a moment ago');
    const response = await fetch(address, init);
    if (response.ok) this.failures = 0;
    return response;
  }

  /** Starts a pause of 1 to 30 seconds, longer with each failure in a row. */
  private pauseReads(): void {
    const now = performance.now();
    if (now < this.pausedUntil) return;
    this.pausedUntil = now + Math.min(MAX_PAUSE_MS, 1_000 * 2 ** this.failures);
    this.failures += 1;
  }
}

function isProviderFailure(error: unknown): boolean {
  if (error instanceof InvalidClaimsError) return false;
  return (
    error instanceof errors.JWKSTimeout ||
    error instanceof errors.JWKSInvalid ||
    !(error instanceof errors.JOSEError) ||
    // jose's base class: the response was not 200, or not JSON.
    error.code === errors.JOSEError.code
  );
}

/** @throws InvalidClaimsError for claims that cannot be stored or compared */
function claims(payload: JWTPayload): ExternalClaims {
  const tenant = payload['tid'] ?? payload['tenant'];
  const email = payload['email_verified'] === true ? payload['email'] : null;
  return {
    issuer: String(payload.iss),
    subject: text(payload.sub, MAX_SUBJECT),
    email: typeof email === 'string' ? text(email, MAX_EMAIL) : null,
    tenant: typeof tenant === 'string' ? text(tenant, MAX_TENANT) : null,
    issuedAt: time(payload.iat),
    expiresAt: time(payload.exp),
  };
}

function text(value: unknown, maxLength: number): string {
  if (typeof value !== 'string' || value === '' || value.length > maxLength || !isStorable(value))
    throw new InvalidClaimsError();
  return value;
}

function time(seconds: number | undefined): Date {
  const date = new Date((seconds ?? Number.NaN) * 1000);
  if (Number.isNaN(date.getTime())) throw new InvalidClaimsError();
  return date;
}
