import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTHeaderParameters,
} from 'jose';
import { v7 as uuidv7 } from 'uuid';
import { Audit, operator } from '../../../platform/audit/audit.js';
import { Db } from '../../../platform/database/db.js';
import { directory } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { isUuid } from '../../../platform/http/id.pipe.js';
import { SecretBox, UnreadableSecretError } from '../../../platform/secrets/secret-box.js';
import type { SigningKey } from '../identity.schema.js';

export interface SigningKeyRow extends Omit<SigningKey, 'public_jwk' | 'private_jwk' | 'created_at'> {
  public_jwk: JWK;
  /** An earlier version stored it in clear. */
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

export const ALGORITHM = 'ES256';
/** Time that a retired key stays published: longer than the maximum TOKEN_TTL of a year. */
const RETIRED_SECONDS = 366 * 24 * 3600;
/** Minimum interval between two reads of the keys, also when tokens contain unknown key ids. */
const RELOAD_MS = 1_000;

/** The header of a token names no key of this installation. */
export class UnknownKeyError extends Error {}

interface LoadedKey {
  id: string;
  publicJwk: JWK;
  /** Null means that SECRET_KEYS lacks its key. */
  privateJwk: JWK | null;
  verify: CryptoKey;
  sign: CryptoKey | null;
}

/** Purpose of the encryption of private keys. */
const SEALED_KEY = 'signing key';

/**
 * The signing keys of access tokens: created at first start, shared by all processes through the database. Private keys are
 * encrypted with the first of SECRET_KEYS; a start with another first key encrypts them again.
 */
@Injectable()
export class SigningKeys implements OnModuleInit {
  private keys: LoadedKey[] = [];
  private loadedAt = Number.NEGATIVE_INFINITY;
  private nextLoad: Promise<void> | undefined;

  constructor(
    private readonly repository: SigningKeysRepository,
    private readonly box: SecretBox,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  /** @throws UnreadableSecretError when SECRET_KEYS lacks the key of the current signing key */
  async onModuleInit(): Promise<void> {
    await this.load();
    await this.reseal();
    if (!this.keys.some((key) => key.sign)) await this.rotate('job');
  }

  /**
   * Creates a key and retires the others, which then only verify.
   * @param origin of the audit entry: the operator, or the first start of the service
   * @returns the id of the new key
   */
  async rotate(origin: 'cli' | 'job' = 'cli'): Promise<string> {
    const pair = await generateKeyPair(ALGORITHM, { extractable: true });
    const id = uuidv7();
    const [publicJwk, privateJwk] = await Promise.all([
      exportJWK(pair.publicKey),
      exportJWK(pair.privateKey),
    ]);
    await this.db.tx(async (tx) => {
      const sealedPrivateKey = this.seal(id, privateJwk);
      await this.repository.create(tx, { id, algorithm: ALGORITHM, publicJwk, sealedPrivateKey });
      await this.repository.retireOthers(tx, id);
      const actor = { ...operator(null), origin } as const;
      const action = 'identity.signing_key.rotated';
      await this.audit.record(tx, actor, { action, objectKind: 'signing_key', objectId: id });
    });
    await this.load();
    return id;
  }

  /** The newest signing key. Another process may have created it just now. */
  async readCurrent(): Promise<{ id: string; key: CryptoKey }> {
    await this.refresh();
    const signer = this.keys.find((key) => key.sign);
    if (!signer?.sign) throw new Error('no signing key is loaded');
    return { id: signer.id, key: signer.sign };
  }

  /**
   * Every key with its private half, the signing key first. The OpenID provider signs with the first and publishes all.
   */
  async signers(): Promise<JWK[]> {
    const { id } = await this.readCurrent();
    return this.keys
      .filter(({ privateJwk }) => privateJwk !== null)
      .toSorted((a, b) => Number(b.id === id) - Number(a.id === id))
      .map((key) => ({ ...key.privateJwk, kid: key.id, alg: ALGORITHM, use: 'sig' }));
  }

  /** Gives jose the key that a token header names. @throws UnknownKeyError */
  readonly resolve = async (header: JWTHeaderParameters): Promise<CryptoKey> => {
    const find = () => this.keys.find((key) => key.id === header.kid)?.verify;
    if (!find() && isUuid(header.kid)) await this.loadAgain();
    const key = find();
    if (!key) throw new UnknownKeyError();
    return key;
  };

  /** JSON Web Key Set (RFC 7517) of the public halves. */
  async jwks(): Promise<{ keys: JWK[] }> {
    await this.refresh();
    return {
      keys: this.keys.map(({ id, publicJwk }) => ({ ...publicJwk, kid: id, alg: ALGORITHM, use: 'sig' })),
    };
  }

  private async refresh(): Promise<void> {
    if (performance.now() - this.loadedAt > RELOAD_MS) await this.loadAgain();
  }

  /** Reloads the keys after the minimum interval; concurrent callers share one read. */
  private loadAgain(): Promise<void> {
    this.nextLoad ??= delay(Math.max(0, this.loadedAt + RELOAD_MS - performance.now())).then(() => {
      this.nextLoad = undefined;
      return this.load();
    });
    return this.nextLoad;
  }

  private async load(): Promise<void> {
    this.loadedAt = performance.now();
    const rows = await this.repository.list(RETIRED_SECONDS);
    this.keys = await Promise.all(
      rows.map(async (row) => {
        const previous = this.keys.find(({ id }) => id === row.id);
        return previous ? { ...previous, sign: row.retired_at ? null : previous.sign } : this.loaded(row);
      }),
    );
  }

  private async loaded(row: SigningKeyRow): Promise<LoadedKey> {
    const privateJwk = this.privateJwkOf(row);
    const sign = row.retired_at === null ? privateJwk : null;
    return {
      id: row.id,
      publicJwk: row.public_jwk,
      privateJwk,
      verify: (await importJWK(row.public_jwk, row.algorithm)) as CryptoKey,
      sign: sign && ((await importJWK(sign, row.algorithm)) as CryptoKey),
    };
  }

  /** @returns null when SECRET_KEYS lacks the key: then the signing key only verifies, which needs its public half */
  private privateJwkOf({ id, private_jwk, sealed_private_key }: SigningKeyRow): JWK | null {
    if (sealed_private_key === null) return private_jwk;
    try {
      return JSON.parse(this.box.open(SEALED_KEY, id, sealed_private_key).toString()) as JWK;
    } catch (error) {
      if (error instanceof UnreadableSecretError) return null;
      throw error;
    }
  }

  private seal(id: string, privateJwk: JWK): string {
    return this.box.seal(SEALED_KEY, id, Buffer.from(JSON.stringify(privateJwk)));
  }

  /** Encrypts keys that are stored in clear, or encrypted with another key than the current one. */
  private async reseal(): Promise<void> {
    for (const row of await this.repository.list(RETIRED_SECONDS)) {
      const { id, sealed_private_key: before, retired_at } = row;
      if (before !== null && this.box.isCurrent(before)) continue;
      const privateJwk = this.privateJwkOf(row);
      if (privateJwk !== null) await this.repository.reseal(id, before, this.seal(id, privateJwk));
      else if (retired_at === null)
        throw new UnreadableSecretError(`SECRET_KEYS lacks the key of the signing key ${id}`);
    }
  }
}
