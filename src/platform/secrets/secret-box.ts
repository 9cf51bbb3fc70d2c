import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { NIL, parse, stringify, validate } from 'uuid';
import { Config } from '../../config/config.js';
import { Keyring } from './keyring.js';

const IV_BYTES = 12;
const TAG_BYTES = 16;
const ALGORITHM = 'aes-256-gcm';

/** The key of the sealed text is missing in SECRET_KEYS, or the text was modified. */
export class UnreadableSecretError extends Error {
  constructor(reason: string) {
    super(`a stored secret cannot be read: ${reason}`);
    this.name = 'UnreadableSecretError';
  }
}

interface BoxKey {
  id: string;
  /** Input key material of the derived keys. */
  material: Buffer;
}

const givenKeys = ({ secretKeys }: Config): BoxKey[] =>
  secretKeys.map((text) => {
    const material = createHash('sha256').update(text).digest();
    return { id: createHash('sha256').update(material).digest('hex').slice(0, 8), material };
  });

/** Ids of the keys in SECRET_KEYS, the current key first. A sealed text begins with the id of its key. */
export const secretKeyIds = (config: Config): string[] => givenKeys(config).map(({ id }) => id);

/**
 * Encrypts stored secrets (AES-256-GCM) and hashes short secrets with a key. Keys come from SECRET_KEYS, so that a copy of
 * the database reveals no secret. Without the setting they are derived from the secret of the installation.
 */
@Injectable()
export class SecretBox {
  private readonly derived = new Map<string, Buffer>();

  constructor(
    private readonly config: Config,
    private readonly keyring: Keyring,
  ) {}

  /**
   * @param use purpose of the key
   * @param owner authenticated with the text, which can be opened with the same owner only
   * @returns `<key id>.<base64url of iv, ciphertext and tag>`
   */
  seal(use: string, owner: string, plain: Buffer): string {
    const [key] = this.keys() as [BoxKey];
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.key(key, `seal ${use}`), iv);
    cipher.setAAD(Buffer.from(owner));
    const text = Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    return `${key.id}.${text.toString('base64url')}`;
  }

  /** @throws UnreadableSecretError */
  open(use: string, owner: string, sealed: string): Buffer {
    const [id, text = ''] = sealed.split('.');
    const key = this.keys().find((each) => each.id === id);
    if (!key) throw new UnreadableSecretError(`SECRET_KEYS has no key ${id}`);
    const bytes = Buffer.from(text, 'base64url');
    if (bytes.length < IV_BYTES + TAG_BYTES) throw new UnreadableSecretError('the text is too short');
    const decipher = createDecipheriv(ALGORITHM, this.key(key, `seal ${use}`), bytes.subarray(0, IV_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(owner));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
    } catch {
      throw new UnreadableSecretError('the text was modified, or has another owner');
    }
  }

  /** Whether a text was sealed with the current key, the first one. */
  isCurrent(sealed: string): boolean {
    return sealed.split('.')[0] === this.keys()[0]?.id;
  }

  /**
   * Keyed hashes of a short secret, one per key, the current key first. Store the first; a stored hash matches any of them.
   */
  hashes(use: string, owner: string, secret: string): [string, ...string[]] {
    return this.keys().map((key) => {
      const mac = createHmac('sha256', this.key(key, `hash ${use}`)).update(`${owner} ${secret}`);
      return `${key.id}.${mac.digest('base64url')}`;
    }) as [string, ...string[]];
  }

  /** The current key first. */
  private keys(): BoxKey[] {
    const own = { id: 'own', material: this.keyring.derive('secret box') };
    return [...givenKeys(this.config), own];
  }

  private key({ id, material }: BoxKey, use: string): Buffer {
    const name = `${id} ${use}`;
    let key = this.derived.get(name);
    if (!key) {
      key = Buffer.from(hkdfSync('sha256', material, this.keyring.installationId, `workspace ${use}`, 32));
      this.derived.set(name, key);
    }
    return key;
  }
}

const TENANT_BYTES = 16;

/** A secret, and the hash of it that is stored. */
export interface NewToken {
  token: string;
  hash: Buffer;
}

/**
 * A token of a public address. It names its workspace, so that its look-up reaches one workspace.
 * @param secretBytes random bytes; `readToken` needs the same number
 * @returns base64url of the 16 bytes of the workspace's id and the random bytes
 */
export function newToken(tenantId: string, secretBytes = 32): NewToken {
  const token = Buffer.concat([parse(tenantId), randomBytes(secretBytes)]).toString('base64url');
  return { token, hash: hashOf(token) };
}

/** SHA-256. */
export const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** The workspace and the hash of a token. Other text gets the nil UUID: it takes the same look-up, which finds nothing. */
export function readToken(token: string, secretBytes = 32): { tenantId: string; hash: Buffer } {
  return { tenantId: tenantOf(token, TENANT_BYTES + secretBytes), hash: hashOf(token) };
}

function tenantOf(token: string, bytes: number): string {
  const content = Buffer.from(token, 'base64url');
  if (content.length !== bytes || content.toString('base64url') !== token) return NIL;
  const hex = content.toString('hex', 0, TENANT_BYTES);
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return validate(id) ? stringify(content) : NIL;
}
