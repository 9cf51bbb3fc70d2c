import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Db } from '../database/db.js';
import { statement } from '../database/statement.js';

const PURPOSE = 'hmac';

const read = statement<{ id: string; material: Buffer }>(
  'secrets.read',
  `SELECT id, material FROM platform_secrets WHERE purpose = $1 ORDER BY id`,
);

const create = statement<never>(
  'secrets.create',
  `INSERT INTO platform_secrets (purpose, id, material)
   SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT FROM platform_secrets WHERE purpose = $1)`,
);

/**
 * The installation's own secret, made at first start and kept in the database: every process of one installation signs
 * alike, and there is no key to configure. Each use derives its own key from it (HKDF, RFC 5869).
 */
@Injectable()
export class Keyring implements OnModuleInit {
  private master: Buffer | undefined;
  private id = '';
  private readonly derived = new Map<string, Buffer>();

  constructor(private readonly db: Db) {}

  async onModuleInit(): Promise<void> {
    await this.db.tx(async (tx) => {
      await tx.query(create, [PURPOSE, uuidv7(), randomBytes(32)]);
    });
    // Two first starts at once may both have inserted; all agree on the oldest.
    const [oldest] = await this.db.query(read, [PURPOSE]);
    this.master = oldest?.material;
    this.id = oldest?.id ?? '';
  }

  /** Identifies this installation for as long as its database lives. */
  get installationId(): string {
    return this.id;
  }

  /** HMAC-SHA256 of `text` under the key of `use`, cut to `bytes`. */
  sign(use: string, text: string, bytes = 32): Buffer {
    return createHmac('sha256', this.key(use)).update(text).digest().subarray(0, bytes);
  }

  verify(use: string, text: string, signature: Buffer): boolean {
    const expected = this.sign(use, text, signature.length);
    return signature.length >= 12 && timingSafeEqual(expected, signature);
  }

  private key(use: string): Buffer {
    let key = this.derived.get(use);
    if (!key) {
      if (!this.master) throw new Error('the keyring is not loaded yet');
      key = Buffer.from(hkdfSync('sha256', this.master, '', `workspace ${use}`, 32));
      this.derived.set(use, key);
    }
    return key;
  }
}
