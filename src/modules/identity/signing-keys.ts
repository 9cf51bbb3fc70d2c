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
import { Db } from '../../platform/database/db.js';
import { isUuid } from '../../platform/http/id.pipe.js';
import { IdentityRepository } from './identity.repository.js';

export const ALGORITHM = 'ES256';
/** A retired key stays published this long: longer than any token may live (TOKEN_TTL is at most a year). */
const RETIRED_SECONDS = 366 * 24 * 3600;
/** The database is asked for news at most this often, whatever key ids strangers make up. */
const RELOAD_MS = 1_000;

interface LoadedKey {
  id: string;
  publicJwk: JWK;
  privateJwk: JWK;
  verify: CryptoKey;
  sign: CryptoKey | null;
}

/** The keys our access tokens are signed with: made at first start, shared by all processes through the database. */
@Injectable()
export class SigningKeys implements OnModuleInit {
  private keys: LoadedKey[] = [];
  private loadedAt = Number.NEGATIVE_INFINITY;
  private nextLoad: Promise<void> | undefined;

  constructor(
    private readonly repository: IdentityRepository,
    private readonly db: Db,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.load();
    if (!this.keys.some((key) => key.sign)) await this.rotate();
  }

  /** Makes a new key and retires the others: they verify what they signed, and sign nothing more. @returns its id */
  async rotate(): Promise<string> {
    const pair = await generateKeyPair(ALGORITHM, { extractable: true });
    const id = uuidv7();
    const [publicJwk, privateJwk] = await Promise.all([
      exportJWK(pair.publicKey),
      exportJWK(pair.privateKey),
    ]);
    await this.db.tx(async (tx) => {
      await this.repository.createSigningKey(tx, { id, algorithm: ALGORITHM, publicJwk, privateJwk });
      await this.repository.retireSigningKeysExcept(tx, id);
    });
    await this.load();
    return id;
  }

  /** The newest key that signs: another process may have made it a moment ago. */
  async current(): Promise<{ id: string; key: CryptoKey }> {
    await this.refresh();
    const signer = this.keys.find((key) => key.sign);
    if (!signer?.sign) throw new Error('no signing key is loaded');
    return { id: signer.id, key: signer.sign };
  }

  /**
   * Every key with its private half, the one that signs first: for the OpenID provider, which signs with the first and
   * publishes all of them.
   */
  async signers(): Promise<JWK[]> {
    const { id } = await this.current();
    return this.keys
      .toSorted((a, b) => Number(b.id === id) - Number(a.id === id))
      .map((key) => ({ ...key.privateJwk, kid: key.id, alg: ALGORITHM, use: 'sig' }));
  }

  /** For jose: the key a token's header names. @throws Error for an unknown one */
  readonly resolve = async (header: JWTHeaderParameters): Promise<CryptoKey> => {
    const known = () => this.keys.find((key) => key.id === header.kid)?.verify;
    if (!known() && isUuid(header.kid)) await this.loadAgain();
    const key = known();
    if (!key) throw new Error('unknown key');
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

  /** Loads what is in the database from now on, as soon as it may be asked again; all who wait share one look. */
  private loadAgain(): Promise<void> {
    this.nextLoad ??= delay(Math.max(0, this.loadedAt + RELOAD_MS - performance.now())).then(() => {
      this.nextLoad = undefined;
      return this.load();
    });
    return this.nextLoad;
  }

  private async load(): Promise<void> {
    this.loadedAt = performance.now();
    const rows = await this.repository.signingKeys(RETIRED_SECONDS);
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
