import { Injectable } from '@nestjs/common';
import type { JWK } from 'jose';
import { Db } from '../../../platform/database/db.js';
import { directory } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';

interface SigningKeyRow {
  id: string;
  algorithm: string;
  public_jwk: JWK;
  private_jwk: JWK;
  retired_at: Date | null;
}

const signingKeys = directory.statement<SigningKeyRow>(
  'identity.signing_keys',
  `SELECT id, algorithm, public_jwk, private_jwk, retired_at FROM signing_keys
    WHERE retired_at IS NULL OR retired_at > now() - make_interval(secs => $1) ORDER BY id DESC`,
);

const createSigningKey = directory.statement<never>(
  'identity.create_signing_key',
  `INSERT INTO signing_keys (id, algorithm, public_jwk, private_jwk) VALUES ($1, $2, $3, $4)`,
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
    key: { id: string; algorithm: string; publicJwk: JWK; privateJwk: JWK },
  ): Promise<void> {
    await tx.query(createSigningKey, [key.id, key.algorithm, key.publicJwk, key.privateJwk]);
  }

  async retireOthers(tx: Tx, id: string): Promise<void> {
    await tx.query(retireSigningKeys, [id]);
  }
}
