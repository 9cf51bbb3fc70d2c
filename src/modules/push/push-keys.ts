import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import { v7 as uuidv7 } from 'uuid';
import { Audit, operator } from '../../platform/audit/audit.js';
import { Db } from '../../platform/database/db.js';
import { directory } from '../../platform/database/statement.js';
import { SecretBox, UnreadableSecretError } from '../../platform/secrets/secret-box.js';
import type { PushKey } from './push.schema.js';

export const ALGORITHM = 'ES256';
/** Purpose of the encryption of private keys. */
const SEALED_KEY = 'push-vapid';
/** Milliseconds for which a process uses the newest key that it knows. */
const RELOAD_MS = 1_000;
/** First byte of an uncompressed point. */
const UNCOMPRESSED = Buffer.from([4]);

type KeyRow = Omit<PushKey, 'created_at'>;

export interface PushSigningKey {
  id: string;
  /** base64url of the uncompressed point. */
  publicKey: string;
  privateKey: CryptoKey;
}

const newest = directory.statement<KeyRow>(
  'push.newest_key',
  `SELECT id, public_key, sealed_private_key FROM push_keys ORDER BY id DESC LIMIT 1`,
);

const find = directory.statement<KeyRow>(
  'push.find_key',
  `SELECT id, public_key, sealed_private_key FROM push_keys WHERE id = $1`,
);

const all = directory.statement<KeyRow>(
  'push.keys',
  `SELECT id, public_key, sealed_private_key FROM push_keys ORDER BY id`,
);

// $4: the newest key that is known, or null. Processes that start at the same moment may create two keys: both are valid.
const createUnless = directory.statement<never>(
  'push.create_first_key',
  `INSERT INTO push_keys (id, public_key, sealed_private_key)
   SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT FROM push_keys WHERE $4::uuid IS NULL OR id > $4)`,
);

const create = directory.statement<never>(
  'push.create_key',
  `INSERT INTO push_keys (id, public_key, sealed_private_key) VALUES ($1, $2, $3)`,
);

const reseal = directory.statement<never>(
  'push.reseal_key',
  `UPDATE push_keys SET sealed_private_key = $3 WHERE id = $1 AND sealed_private_key = $2`,
);

/**
 * The keys by which the service identifies itself at push services (VAPID, RFC 8292): created at first start, shared by all processes
 * through the database, encrypted with the first of SECRET_KEYS; a start with another first key encrypts them again. A subscription
 * accepts the key with which it was made only, so all keys stay.
 */
@Injectable()
export class PushKeys implements OnModuleInit {
  private readonly logger = new Logger(PushKeys.name);
  private readonly loaded = new Map<string, Promise<PushSigningKey>>();
  private newest: KeyRow | undefined;
  private readAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly box: SecretBox,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  /** Creates a key also when SECRET_KEYS lacks the key of the newest one: only subscriptions with that one end. */
  async onModuleInit(): Promise<void> {
    const rows = await this.db.query(all, []);
    let isUsable = false;
    for (const row of rows) isUsable = await this.reseal(row);
    if (isUsable) return;
    const { id, publicKey, sealed } = await this.generate();
    await this.db.single((tx) => tx.query(createUnless, [id, publicKey, sealed, rows.at(-1)?.id ?? null]));
  }

  /** @returns whether the key can be decrypted */
  private async reseal({ id, sealed_private_key: before }: KeyRow): Promise<boolean> {
    try {
      const key = this.box.open(SEALED_KEY, id, before);
      if (!this.box.isCurrent(before))
        await this.db.single((tx) => tx.query(reseal, [id, before, this.box.seal(SEALED_KEY, id, key)]));
      return true;
    } catch (error) {
      if (!(error instanceof UnreadableSecretError)) throw error;
      this.logger.warn(`push key ${id}: ${error.message}`);
      return false;
    }
  }

  /** Creates the key of new subscriptions. @returns its id */
  async rotate(): Promise<string> {
    const { id, publicKey, sealed } = await this.generate();
    await this.db.tx(async (tx) => {
      await tx.query(create, [id, publicKey, sealed]);
      const action = 'push.key_rotated';
      const actor = { ...operator(null), origin: 'cli' } as const;
      await this.audit.record(tx, actor, { action, objectKind: 'push_key', objectId: id });
    });
    this.readAt = Number.NEGATIVE_INFINITY;
    return id;
  }

  /** The key of new subscriptions. */
  async readCurrent(): Promise<{ id: string; publicKey: string }> {
    if (!this.newest || performance.now() - this.readAt > RELOAD_MS) {
      const [row] = await this.db.query(newest, []);
      if (!row) throw new Error('there is no key for push messages');
      this.newest = row;
      this.readAt = performance.now();
    }
    return { id: this.newest.id, publicKey: this.newest.public_key };
  }

  async exists(id: string): Promise<boolean> {
    return (await this.db.query(find, [id])).length > 0;
  }

  /** The key of a subscription. @throws UnreadableSecretError when SECRET_KEYS lacks its key */
  async readKey(id: string): Promise<PushSigningKey> {
    let key = this.loaded.get(id);
    if (!key) {
      key = this.load(id);
      this.loaded.set(id, key);
      key.catch(() => this.loaded.delete(id));
    }
    return key;
  }

  private async load(id: string): Promise<PushSigningKey> {
    const [row] = await this.db.query(find, [id]);
    if (!row) throw new Error(`there is no push key ${id}`);
    const jwk = JSON.parse(this.box.open(SEALED_KEY, id, row.sealed_private_key).toString()) as JWK;
    const privateKey = (await importJWK(jwk, ALGORITHM)) as CryptoKey;
    return { id, publicKey: row.public_key, privateKey };
  }

  private async generate(): Promise<{ id: string; publicKey: string; sealed: string }> {
    const pair = await generateKeyPair(ALGORITHM, { extractable: true });
    const id = uuidv7();
    const jwk = await exportJWK(pair.privateKey);
    const point = [jwk.x, jwk.y].map((part) => Buffer.from(part as string, 'base64url'));
    const publicKey = Buffer.concat([UNCOMPRESSED, ...point]).toString('base64url');
    return { id, publicKey, sealed: this.box.seal(SEALED_KEY, id, Buffer.from(JSON.stringify(jwk))) };
  }
}
