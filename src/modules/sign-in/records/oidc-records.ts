import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { Config } from '../../../config/config.js';
import { Audit } from '../../../platform/audit/audit.js';
import { Db } from '../../../platform/database/db.js';
import { directory } from '../../../platform/database/statement.js';
import { isUuid } from '../../../platform/http/id.pipe.js';
import { Keyring } from '../../../platform/secrets/keyring.js';
import { SignInSessions } from '../../identity/index.js';
import { oidcLibrary } from '../model/oidc-scopes.js';
import type { OidcRecord } from '../sign-in.schema.js';

export interface RecordRow extends Pick<OidcRecord, 'id_hash' | 'payload' | 'grant_id' | 'consumed_by'> {
  consumed: boolean;
  /** Seconds since the first use. */
  consumed_seconds: number;
}

interface RecordInput {
  model: string;
  idHash: Buffer;
  payload: string;
  grantId: string | null;
  uidHash: Buffer | null;
  userCodeHash: Buffer | null;
  /** Seconds from now. */
  ttl: number;
}

const FOUND = `id_hash, payload, grant_id, consumed_at IS NOT NULL AS consumed, consumed_by,
  coalesce(extract(epoch FROM now() - consumed_at), 0)::float8 AS consumed_seconds`;

const upsert = directory.statement<never>(
  'oidc_records.upsert',
  `INSERT INTO oidc_records AS record (model, id_hash, payload, grant_id, uid_hash, user_code_hash, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))
   ON CONFLICT (model, id_hash) DO UPDATE
     SET payload = excluded.payload, grant_id = excluded.grant_id, uid_hash = excluded.uid_hash,
         user_code_hash = coalesce(excluded.user_code_hash, record.user_code_hash), expires_at = excluded.expires_at`,
);

const find = directory.statement<RecordRow>(
  'oidc_records.find',
  `SELECT ${FOUND} FROM oidc_records WHERE model = $1 AND id_hash = $2`,
);

const findByUid = directory.statement<RecordRow>(
  'oidc_records.find_by_uid',
  `SELECT ${FOUND} FROM oidc_records WHERE model = $1 AND uid_hash = $2 ORDER BY expires_at DESC LIMIT 1`,
);

const findByUserCode = directory.statement<RecordRow>(
  'oidc_records.find_by_user_code',
  `SELECT ${FOUND} FROM oidc_records WHERE model = $1 AND user_code_hash = $2`,
);

const consume = directory.statement<Pick<OidcRecord, 'id_hash'>>(
  'oidc_records.consume',
  `UPDATE oidc_records SET consumed_at = now(), consumed_by = $3 WHERE model = $1 AND id_hash = $2 AND consumed_at IS NULL RETURNING id_hash`,
);

const destroy = directory.statement<never>(
  'oidc_records.destroy',
  `DELETE FROM oidc_records WHERE model = $1 AND id_hash = $2`,
);

const destroyOfGrant = directory.statement<never>(
  'oidc_records.destroy_of_grant',
  `DELETE FROM oidc_records WHERE grant_id = $2 AND model = $1`,
);

const destroyFamily = directory.statement<never>(
  'oidc_records.destroy_family',
  `DELETE FROM oidc_records WHERE grant_id = $1`,
);

const grants = directory.statement<Pick<OidcRecord, 'payload'>>(
  'oidc_records.grants',
  `SELECT payload FROM oidc_records WHERE model = 'Grant' AND grant_id = ANY ($1::uuid[])`,
);

const polled = directory.statement<{ too_soon: boolean }>(
  'oidc_records.polled',
  `UPDATE oidc_records record SET polled_at = now()
     FROM (SELECT polled_at FROM oidc_records WHERE model = $1 AND id_hash = $2) AS before
    WHERE record.model = $1 AND record.id_hash = $2
   RETURNING coalesce(before.polled_at > now() - make_interval(secs => $3), false) AS too_soon`,
);

const forgetExpired = directory.statement<never>(
  'oidc_records.forget_expired',
  `DELETE FROM oidc_records WHERE (model, id_hash) IN
     (SELECT model, id_hash FROM oidc_records WHERE expires_at < now() - interval '5 minutes' LIMIT 10000)`,
);

/** SQL of the records of the OpenID provider. */
@Injectable()
export class OidcRecordsRepository {
  constructor(private readonly db: Db) {}

  async upsert(record: RecordInput): Promise<void> {
    const { model, idHash, payload, grantId, uidHash, userCodeHash, ttl } = record;
    await this.db.single((tx) =>
      tx.query(upsert, [model, idHash, payload, grantId, uidHash, userCodeHash, ttl]),
    );
  }

  async find(model: string, idHash: Buffer): Promise<RecordRow | null> {
    return (await this.db.query(find, [model, idHash]))[0] ?? null;
  }

  async findByUid(model: string, uidHash: Buffer): Promise<RecordRow | null> {
    return (await this.db.query(findByUid, [model, uidHash]))[0] ?? null;
  }

  async findByUserCode(model: string, userCodeHash: Buffer): Promise<RecordRow | null> {
    return (await this.db.query(findByUserCode, [model, userCodeHash]))[0] ?? null;
  }

  /** @returns whether it was unused; true for exactly one of concurrent calls */
  async consume(model: string, idHash: Buffer, by: Buffer | null): Promise<boolean> {
    return (await this.db.single((tx) => tx.query(consume, [model, idHash, by]))).length > 0;
  }

  async destroy(model: string, idHash: Buffer): Promise<void> {
    await this.db.single((tx) => tx.query(destroy, [model, idHash]));
  }

  /** Deletes the records of one model that belong to a grant. */
  async destroyOfGrant(model: string, grantId: string): Promise<void> {
    await this.db.single((tx) => tx.query(destroyOfGrant, [model, grantId]));
  }

  /** Deletes a grant and all its records. */
  async destroyFamily(grantId: string): Promise<void> {
    await this.db.single((tx) => tx.query(destroyFamily, [grantId]));
  }

  /** The stored grants with these ids, as JSON. */
  async grants(ids: string[]): Promise<string[]> {
    return (await this.db.query(grants, [ids])).map(({ payload }) => payload);
  }

  /** Records a poll of a device. @returns whether the previous poll is less than `seconds` ago */
  async polledTooSoon(model: string, idHash: Buffer, seconds: number): Promise<boolean> {
    return (await this.db.single((tx) => tx.query(polled, [model, idHash, seconds])))[0]?.too_soon ?? false;
  }

  async forgetExpired(): Promise<void> {
    await this.db.single((tx) => tx.query(forgetExpired, []));
  }
}

/** Names of the kinds of codes and tokens in the audit log. */
const KINDS: Record<string, string> = {
  AuthorizationCode: 'authorization_code',
  DeviceCode: 'device_code',
  RefreshToken: 'refresh_token',
};

/** Writes the second use of a code or refresh token, which indicates a leak, to the audit log. */
@Injectable()
export class TokenReuse {
  constructor(
    private readonly sessions: SignInSessions,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  /** @param model of the provider */
  async record(model: string, grantId: string): Promise<void> {
    const owner = await this.sessions.ownerOf(grantId);
    if (!owner) return;
    const { accountId, tenantId, clientId } = owner;
    const { Provider } = await oidcLibrary();
    const request = (Provider.ctx?.req ?? {}) as { ip?: string; id?: string };
    const actor = {
      tenantId,
      userId: null,
      sessionId: grantId,
      ip: request.ip ?? null,
      requestId: request.id ?? null,
    };
    await this.db.tx((tx) =>
      this.audit.record(tx, actor, {
        action: 'identity.credential.reused',
        objectKind: 'user',
        objectId: accountId,
        data: { kind: KINDS[model] ?? model, client: clientId },
      }),
    );
  }
}

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
