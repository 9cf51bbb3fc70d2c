import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK, type JWTHeaderParameters } from 'jose';
import { v7 as uuidv7 } from 'uuid';
import { Db } from '../../platform/database/db.js';
import { IdentityRepository } from './identity.repository.js';

export const ALGORITHM = 'ES256';
/** A retired key stays published this long: longer than any token may live (TOKEN_TTL is at most a year). */
const RETIRED_SECONDS = 366 * 24 * 3600;
/** An unknown key id makes us look into the database at most this often. */
const RELOAD_MS = 1_000;

interface LoadedKey {
  id: string;
  publicJwk: JWK;
  verify: CryptoKey;
  sign: CryptoKey | null;
}

/** The keys our access tokens are signed with: made at first start, shared by all processes through the database. */
@Injectable()
export class SigningKeys implements OnModuleInit {
  private keys: LoadedKey[] = [];
  private loadedAt = 0;

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
    const [publicJwk, privateJwk] = await Promise.all([exportJWK(pair.publicKey), exportJWK(pair.privateKey)]);
    await this.db.tx(async (tx) => {
      await this.repository.createSigningKey(tx, { id, algorithm: ALGORITHM, publicJwk, privateJwk });
      await this.repository.retireSigningKeysExcept(tx, id);
    });
    await this.load();
    return id;
  }

  /** The newest key that signs. */
  current(): { id: string; key: CryptoKey } {
    const signer = this.keys.find((key) => key.sign);
    if (!signer?.sign) throw new Error('no signing key is loaded');
    return { id: signer.id, key: signer.sign };
  }

  /** For jose: the key a token's header names. @throws Error for an unknown one */
  readonly resolve = async (header: JWTHeaderParameters): Promise<CryptoKey> => {
    const known = () => this.keys.find((key) => key.id === header.kid)?.verify;
    if (!known() && Date.now() - this.loadedAt > RELOAD_MS) await this.load();
    const key = known();
    if (!key) throw new Error('unknown key');
    return key;
  };

  /** JSON Web Key Set (RFC 7517) of the public halves. */
  jwks(): { keys: JWK[] } {
    return { keys: this.keys.map(({ id, publicJwk }) => ({ ...publicJwk, kid: id, alg: ALGORITHM, use: 'sig' })) };
  }

  private async load(): Promise<void> {
    const rows = await this.repository.signingKeys(RETIRED_SECONDS);
    this.loadedAt = Date.now();
    this.keys = await Promise.all(
      rows.map(async (row) => ({
        id: row.id,
        publicJwk: row.public_jwk,
        verify: (await importJWK(row.public_jwk, row.algorithm)) as CryptoKey,
        sign: row.retired_at ? null : ((await importJWK(row.private_jwk, row.algorithm)) as CryptoKey),
      })),
    );
  }
}
