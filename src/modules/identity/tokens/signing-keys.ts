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
import { Db } from '../../../platform/database/db.js';
import { isUuid } from '../../../platform/http/id.pipe.js';
import { SigningKeysRepository } from './signing-keys.repository.js';

export const ALGORITHM = 'ES256';
/** Time that a retired key stays published: longer than the maximum TOKEN_TTL of a year. */
const RETIRED_SECONDS = 366 * 24 * 3600;
/** Minimum interval between two reads of the keys, whatever key ids the tokens name. */
const RELOAD_MS = 1_000;

/** The header of a token names no key of this installation. */
export class UnknownKeyError extends Error {}

interface LoadedKey {
  id: string;
  publicJwk: JWK;
  privateJwk: JWK;
  verify: CryptoKey;
  sign: CryptoKey | null;
}

/** The signing keys of access tokens: created at first start, shared by all processes through the database. */
@Injectable()
export class SigningKeys implements OnModuleInit {
  private keys: LoadedKey[] = [];
  private loadedAt = Number.NEGATIVE_INFINITY;
  private nextLoad: Promise<void> | undefined;

  constructor(
    private readonly repository: SigningKeysRepository,
    private readonly db: Db,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.load();
    if (!this.keys.some((key) => key.sign)) await this.rotate();
  }

  /** Creates a key and retires the others, which then only verify. @returns the id of the new key */
  async rotate(): Promise<string> {
    const pair = await generateKeyPair(ALGORITHM, { extractable: true });
    const id = uuidv7();
    const [publicJwk, privateJwk] = await Promise.all([
      exportJWK(pair.publicKey),
      exportJWK(pair.privateKey),
    ]);
    await this.db.tx(async (tx) => {
      await this.repository.create(tx, { id, algorithm: ALGORITHM, publicJwk, privateJwk });
      await this.repository.retireOthers(tx, id);
    });
    await this.load();
    return id;
  }

  /** The newest signing key. Another process may have created it just now. */
  async current(): Promise<{ id: string; key: CryptoKey }> {
    await this.refresh();
    const signer = this.keys.find((key) => key.sign);
    if (!signer?.sign) throw new Error('no signing key is loaded');
    return { id: signer.id, key: signer.sign };
  }

  /**
   * Every key with its private half, the signing key first. The OpenID provider signs with the first and publishes all.
   */
  async signers(): Promise<JWK[]> {
    const { id } = await this.current();
    return this.keys
      .toSorted((a, b) => Number(b.id === id) - Number(a.id === id))
      .map((key) => ({ ...key.privateJwk, kid: key.id, alg: ALGORITHM, use: 'sig' }));
  }

  /** For jose: the key that a token header names. @throws UnknownKeyError */
  readonly resolve = async (header: JWTHeaderParameters): Promise<CryptoKey> => {
    const known = () => this.keys.find((key) => key.id === header.kid)?.verify;
    if (!known() && isUuid(header.kid)) await this.loadAgain();
    const key = known();
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
      rows.map(async (row) => ({
        id: row.id,
        publicJwk: row.public_jwk,
        privateJwk: row.private_jwk,
        verify: (await importJWK(row.public_jwk, row.algorithm)) as CryptoKey,
        sign: row.retired_at ? null : ((await importJWK(row.private_jwk, row.algorithm)) as CryptoKey),
      })),
    );
  }
}
