import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { directory } from '../../../platform/database/statement.js';
import type { OidcRecord } from '../sign-in.entities.js';

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

const consume = directory.statement<{ id_hash: Buffer }>(
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

const grants = directory.statement<{ payload: string }>(
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
