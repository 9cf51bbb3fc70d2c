import { Injectable } from '@nestjs/common';
import { jwtVerify, SignJWT } from 'jose';
import { v7 as uuidv7 } from 'uuid';
import { Config } from '../../../config/config.js';
import { isUuid } from '../../../platform/http/id.pipe.js';
import { Keyring } from '../../../platform/secrets/keyring.js';
import { ALGORITHM, SigningKeys } from './signing-keys.js';

export const AUDIENCE = 'workspace';
const TYPE = 'at+jwt';
const CLOCK_TOLERANCE_SECONDS = 5;

/** A claim of a correctly signed token has an invalid form. */
export class InvalidClaimsError extends Error {}

interface AccessTokenClaims {
  accountId: string;
  tenantId: string | null;
  sessionId: string;
  issuedAt: Date;
  expiresAt: Date;
}

/** Signs and verifies the access tokens of this installation: JWTs (RFC 9068). */
@Injectable()
export class AccessTokens {
  constructor(
    private readonly keys: SigningKeys,
    private readonly keyring: Keyring,
    private readonly config: Config,
  ) {}

  /** Identifies the installation by URN, not by address: tokens stay valid when the host name changes. */
  get issuer(): string {
    return `urn:workspace:${this.keyring.installationId}`;
  }

  /** Accepted issuers: the installation, and its OpenID provider, whose issuer is an address (RFC 9068). */
  private get issuers(): string[] {
    return this.config.signInIssuer ? [this.issuer, this.config.signInIssuer] : [this.issuer];
  }

  async sign(claims: AccessTokenClaims, clientId: string): Promise<string> {
    const { id, key } = await this.keys.readCurrent();
    return new SignJWT({
      sid: claims.sessionId,
      client_id: clientId,
      ...(claims.tenantId && { tid: claims.tenantId }),
    })
      .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid: id })
      .setIssuer(this.issuer)
      .setAudience(AUDIENCE)
      .setSubject(claims.accountId)
      .setJti(uuidv7())
      .setIssuedAt(claims.issuedAt)
      .setExpirationTime(claims.expiresAt)
      .sign(key);
  }

  /** @throws JOSEError, UnknownKeyError or InvalidClaimsError when the token is invalid */
  async verify(token: string): Promise<AccessTokenClaims> {
    const { payload } = await jwtVerify(token, this.keys.resolve, {
      algorithms: [ALGORITHM],
      issuer: this.issuers,
      audience: AUDIENCE,
      typ: TYPE,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      requiredClaims: ['sub', 'sid', 'exp', 'iat', 'jti'],
    });
    const { sub, sid, tid = null, exp = 0, iat = 0 } = payload;
    if (!isUuid(sub) || !isUuid(sid) || !(tid === null || isUuid(tid))) throw new InvalidClaimsError();
    return {
      accountId: sub,
      sessionId: sid,
      tenantId: tid,
      issuedAt: new Date(iat * 1000),
      expiresAt: new Date(exp * 1000),
    };
  }
}
