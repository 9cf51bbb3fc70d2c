import { Injectable } from '@nestjs/common';
import type { JWK } from 'jose';
import { Db } from '../../../platform/database/db.js';
import { directory } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { SigningKey } from '../account.entity.js';

export interface SigningKeyRow extends Omit<SigningKey, 'public_jwk' | 'private_jwk' | 'created_at'> {
  public_jwk: JWK;
  /** In clear, stored by an earlier version. */
  private_jwk: JWK | null;
}

const signingKeys = directory.statement<SigningKeyRow>(
  'identity.signing_keys',
  `SELECT id, algorithm, public_jwk, private_jwk, sealed_private_key, retired_at FROM signing_keys
    WHERE retired_at IS NULL OR retired_at > now() - make_interval(secs => $1) ORDER BY id DESC`,
);

const createSigningKey = directory.statement<never>(
  'identity.create_signing_key',
  `INSERT INTO signing_keys (id, algorithm, public_jwk, sealed_private_key) VALUES ($1, $2, $3, $4)`,
);

const resealSigningKey = directory.statement<never>(
  'identity.reseal_signing_key',
  `UPDATE signing_keys SET private_jwk = NULL, sealed_private_key = $2
    WHERE id = $1 AND sealed_private_key IS NOT DISTINCT FROM $3`,
);

const retireSigningKeys = directory.statement<never>(
  'identity.retire_signing_keys',
  `UPDATE signing_keys SET retired_at = now() WHERE retired_at IS NULL AND id <> $1`,
);

/** SQL of signing keys. */
@Injectable()
export class SigningKeysRepository {
  constructor(private readonly db: Db) {}

  /** Newest first. @param retiredSeconds maximum age of a retirement */
  async list(retiredSeconds: number): Promise<SigningKeyRow[]> {
    return this.db.query(signingKeys, [retiredSeconds]);
  }

  async create(
    tx: Tx,
    key: { id: string; algorithm: string; publicJwk: JWK; sealedPrivateKey: string },
  ): Promise<void> {
    await tx.query(createSigningKey, [key.id, key.algorithm, key.publicJwk, key.sealedPrivateKey]);
  }

  /** Replaces the stored private key, unless another process has done so. @param before null: it is in clear */
  async reseal(id: string, before: string | null, sealed: string): Promise<void> {
    await this.db.single((tx) => tx.query(resealSigningKey, [id, sealed, before]));
  }

  async retireOthers(tx: Tx, id: string): Promise<void> {
    await tx.query(retireSigningKeys, [id]);
  }
}
