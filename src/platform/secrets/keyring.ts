import {
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { Db } from '../database/db.js';
import { directory } from '../database/statement.js';

@Entity('platform_secrets')
export class PlatformSecret {
  @PrimaryColumn('text') purpose!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('bytea') material!: Buffer;
  @Column('timestamptz') created_at!: Date;
}

const PURPOSE = 'hmac';

const read = directory.statement<Pick<PlatformSecret, 'id' | 'material'>>(
  'secrets.read',
  `SELECT id, material FROM platform_secrets WHERE purpose = $1 ORDER BY id`,
);

/** Id of the installation, see `Keyring.installationId`. */
export const installationOf = directory.statement<Pick<PlatformSecret, 'id'>>(
  'secrets.installation',
  `SELECT id FROM platform_secrets WHERE purpose = '${PURPOSE}' ORDER BY id LIMIT 1`,
);

/** Blocks concurrent creators, but no readers. */
const lock = directory.statement<never>(
  'secrets.lock',
  'LOCK TABLE platform_secrets IN SHARE ROW EXCLUSIVE MODE',
);

const create = directory.statement<never>(
  'secrets.create',
  `INSERT INTO platform_secrets (purpose, id, material)
   SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT FROM platform_secrets WHERE purpose = $1)`,
);

/**
 * The secret of the installation, created at first start and stored in the database, so that all processes share it without
 * configuration. Each use derives its own key (HKDF, RFC 5869).
 */
@Injectable()
export class Keyring implements OnModuleInit {
  private master: Buffer | undefined;
  private id = '';
  private readonly derived = new Map<string, KeyObject>();

  constructor(private readonly db: Db) {}

  async onModuleInit(): Promise<void> {
    const [secret] = await this.db.query(read, [PURPOSE]);
    const { id, material } = secret ?? (await this.create());
    this.master = material;
    this.id = id;
  }

  /** Id of the installation, stored in its database. */
  get installationId(): string {
    return this.id;
  }

  /** HMAC-SHA256 of `text` with the key of `use`, truncated to `bytes`. */
  sign(use: string, text: string, bytes = 32): Buffer {
    return createHmac('sha256', this.key(use)).update(text).digest().subarray(0, bytes);
  }

  verify(use: string, text: string, signature: Buffer): boolean {
    const expected = this.sign(use, text, signature.length);
    return signature.length >= 12 && timingSafeEqual(expected, signature);
  }

  /** One of concurrent first starts creates the secret; the others wait for its commit and read it. */
  private async create(): Promise<{ id: string; material: Buffer }> {
    return this.db.tx(async (tx) => {
      await tx.query(lock, []);
      await tx.query(create, [PURPOSE, uuidv7(), randomBytes(32)]);
      const [secret] = await tx.query(read, [PURPOSE]);
      if (!secret) throw new Error('the secret of the installation cannot be read');
      return secret;
    });
  }

  /** A separate 32-byte key for `use`. */
  derive(use: string): Buffer {
    return this.key(use).export();
  }

  /** A key object: Node 24 needs 3 us for an HMAC with it, 24 us with the bytes. */
  private key(use: string): KeyObject {
    let key = this.derived.get(use);
    if (!key) {
      if (!this.master) throw new Error('the keyring is not loaded yet');
      key = createSecretKey(Buffer.from(hkdfSync('sha256', this.master, '', `workspace ${use}`, 32)));
      this.derived.set(use, key);
    }
    return key;
  }
}
