import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { Config } from '../../../config/config.js';
import { isUuid } from '../../../platform/http/id.pipe.js';
import { Keyring } from '../../../platform/secrets/keyring.js';
import { SignInSessions } from '../../identity/index.js';
import { TokenReuse } from './token-reuse.js';
import { OidcRecordsRepository, type RecordRow } from './oidc-records.repository.js';
import { oidcLibrary } from '../model/oidc-library.js';

/** Signed handle of a record that was found by another key than its id. */
const HANDLE = /^@([\w-]{43})\.([\w-]{22})$/;
/** Models that belong to a grant and end with it; an Interaction only refers to one. */
const FAMILY = new Set(['AccessToken', 'AuthorizationCode', 'DeviceCode', 'RefreshToken']);
/** Polling interval of devices in seconds: the default of RFC 8628, section 3.2. */
export const DEVICE_INTERVAL = 5;
/** Tolerated deviation of clock and network, seconds. */
const TOLERANCE = 1;

/** The part of a stored grant with its scopes. */
interface GrantPayload {
  openid?: { scope?: string };
  resources?: Record<string, string>;
}

/** Storage of the OpenID provider: PostgreSQL, shared by all processes. */
@Injectable()
export class OidcRecords {
  constructor(
    private readonly repository: OidcRecordsRepository,
    private readonly keyring: Keyring,
    private readonly sessions: SignInSessions,
    private readonly reuse: TokenReuse,
    private readonly config: Config,
  ) {}

  adapter(model: string): Adapter {
    return {
      upsert: (id, payload, ttl) => this.upsert(model, id, payload, ttl ?? 0),
      find: async (id) => this.find(model, id),
      findByUid: async (uid) => {
        const row = await this.repository.findByUid(model, this.hash(`${model} uid`, uid));
        return payloadOf(row, row && this.handle(model, row.id_hash));
      },
      findByUserCode: async (code) => {
        const row = await this.repository.findByUserCode(model, this.hash('user code', code));
        const payload = payloadOf(row, row && this.handle(model, row.id_hash));
        return payload && { ...payload, userCode: code };
      },
      consume: (id) => this.consume(model, id),
      destroy: (id) => this.destroy(model, id),
      revokeByGrantId: (grantId) => this.repository.destroyOfGrant(model, grantId),
    };
  }

  /** Whether a device polls before its interval has passed. */
  async isPollTooSoon(deviceCode: string): Promise<boolean> {
    const hash = this.hash('DeviceCode', deviceCode);
    return this.repository.polledTooSoon('DeviceCode', hash, DEVICE_INTERVAL - TOLERANCE);
  }

  /** The scopes that the user allowed in these grants. */
  async scopesOf(grantIds: string[]): Promise<string[]> {
    const payloads = await this.repository.grants(grantIds);
    const scopes = payloads.flatMap((payload) => {
      const { openid, resources = {} } = JSON.parse(payload) as GrantPayload;
      return [openid?.scope ?? '', ...Object.values(resources)].flatMap((text) => text.split(' '));
    });
    return [...new Set(scopes)].filter((scope) => scope !== '').toSorted();
  }

  /** Ends a grant: its session and all its codes and tokens. */
  async endGrant(grantId: string): Promise<void> {
    await this.repository.destroyFamily(grantId);
    if (isUuid(grantId)) await this.sessions.end(grantId);
  }

  private async upsert(model: string, id: string, payload: AdapterPayload, ttl: number): Promise<void> {
    // Only hashes of the ids and the user code are stored.
    const { jti: _, userCode, ...rest } = payload;
    // Do not store the browser cookie: the provider compares the `uid` of the session.
    if (rest.session && 'cookie' in rest.session) rest.session = { ...rest.session, cookie: '' };
    const grantId = model === 'Grant' ? id : FAMILY.has(model) ? payload.grantId : null;
    await this.repository.upsert({
      model,
      idHash: this.hashOf(model, id),
      payload: JSON.stringify(rest),
      grantId: isUuid(grantId) ? grantId : null,
      uidHash: payload.uid === undefined ? null : this.hash(`${model} uid`, payload.uid),
      userCodeHash: userCode === undefined ? null : this.hash('user code', userCode),
      ttl,
    });
  }

  private async find(model: string, id: string): Promise<AdapterPayload | undefined> {
    const row = await this.repository.find(model, this.hashOf(model, id));
    return payloadOf(row && (await this.isRetry(model, row)) ? { ...row, consumed: false } : row, id);
  }

  /**
   * Only one of several concurrent uses of a code or refresh token succeeds. Any other use indicates a leak, so the grant ends
   * (RFC 9700, section 4.14.2), except for a retry within the grace time.
   */
  private async consume(model: string, id: string): Promise<void> {
    const hash = this.hashOf(model, id);
    if (await this.repository.consume(model, hash, await this.currentAddress())) return;
    const row = await this.repository.find(model, hash);
    if (row && (await this.isRetry(model, row))) return;
    if (row && row.grant_id !== null) {
      await this.reuse.record(model, row.grant_id);
      await this.endGrant(row.grant_id);
    }
    const { errors } = await oidcLibrary();
    throw new errors.InvalidGrant('already used');
  }

  /** Whether a refresh token was used within the grace time from the same address: the client may have lost the response. */
  private async isRetry(
    model: string,
    { consumed, consumed_by: by, consumed_seconds: age }: RecordRow,
  ): Promise<boolean> {
    if (model !== 'RefreshToken' || !consumed || age >= this.config.REFRESH_GRACE_SECONDS) return false;
    const address = await this.currentAddress();
    return address !== null && by !== null && timingSafeEqual(address, by);
  }

  /** HMAC of the address of the current request. */
  private async currentAddress(): Promise<Buffer | null> {
    const { Provider } = await oidcLibrary();
    const { ip } = (Provider.ctx?.req ?? {}) as { ip?: string };
    return ip === undefined ? null : this.hash('address', ip);
  }

  private async destroy(model: string, id: string): Promise<void> {
    if (model === 'Grant') await this.endGrant(id);
    else await this.repository.destroy(model, this.hashOf(model, id));
  }

  private hashOf(model: string, id: string): Buffer {
    const [, hash, mac] = HANDLE.exec(id) ?? [];
    if (hash === undefined || mac === undefined) return this.hash(model, id);
    const genuine = this.keyring.verify('oidc handle', `${model} ${hash}`, Buffer.from(mac, 'base64url'));
    return genuine ? Buffer.from(hash, 'base64url') : this.hash(model, id);
  }

  private handle(model: string, hash: Buffer): string {
    const text = hash.toString('base64url');
    return `@${text}.${this.keyring.sign('oidc handle', `${model} ${text}`, 16).toString('base64url')}`;
  }

  private hash(kind: string, value: string): Buffer {
    return this.keyring.sign('oidc id', `${kind} ${value}`);
  }
}

function payloadOf(row: RecordRow | null, jti: string | null): AdapterPayload | undefined {
  if (row === null || jti === null) return undefined;
  return {
    ...(JSON.parse(row.payload) as AdapterPayload),
    jti,
    ...(row.consumed && { consumed: true }),
  };
}
