import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** Options of a ceremony, as the service returns them. */
interface Options {
  challenge: string;
  rp?: { id?: string };
  rpId?: string;
  user?: { id: string };
  allowCredentials?: { id: string }[];
}

/** Deviations from a correct response. */
export interface Deviation {
  origin?: string;
  rpId?: string;
  type?: string;
  challenge?: string;
  crossOrigin?: boolean;
  isUserPresent?: boolean;
  isUserVerified?: boolean;
  counter?: number;
  userHandle?: string;
  credentialId?: Buffer;
  signature?: Buffer;
}

const [PRESENT, VERIFIED, ATTESTED] = [0x01, 0x04, 0x40];

const sha256 = (data: Buffer | string): Buffer => createHash('sha256').update(data).digest();

/** The part of CBOR (RFC 8949) that WebAuthn needs: integers, texts, bytes and maps. */
function cbor(value: number | string | Buffer | Map<number | string, unknown>): Buffer {
  const head = (major: number, n: number): Buffer => {
    if (n < 24) return Buffer.from([(major << 5) | n]);
    if (n < 256) return Buffer.from([(major << 5) | 24, n]);
    const long = Buffer.from([(major << 5) | 25, 0, 0]);
    long.writeUInt16BE(n, 1);
    return long;
  };
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (typeof value === 'string')
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  const entries = [...value].flatMap(([key, each]) => [cbor(key), cbor(each as Buffer)]);
  return Buffer.concat([head(5, value.size), ...entries]);
}

/** A public key as COSE_Key (RFC 9053): ES256. */
function coseKey(key: KeyObject): Buffer {
  const { x, y } = key.export({ format: 'jwk' });
  const [KTY, ALG, CRV, X, Y] = [1, 3, -1, -2, -3];
  return cbor(
    new Map<number, unknown>([
      [KTY, 2],
      [ALG, -7],
      [CRV, 1],
      [X, Buffer.from(x as string, 'base64url')],
      [Y, Buffer.from(y as string, 'base64url')],
    ]),
  );
}

/** An authenticator with one passkey (WebAuthn Level 3), without attestation. */
export class SoftPasskey {
  readonly credentialId = randomBytes(32);
  private readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  private userHandle = '';
  private counter = 0;

  /** @param origin of the page */
  constructor(
    private readonly origin: string,
    private readonly isCounting = true,
  ) {}

  get id(): string {
    return this.credentialId.toString('base64url');
  }

  /** The response to `navigator.credentials.create()`, as JSON. */
  create(options: Options, deviation: Deviation = {}) {
    this.userHandle = options.user?.id ?? '';
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.credentialId.length);
    const attested = [Buffer.alloc(16), length, this.credentialId, coseKey(this.keys.publicKey)];
    const authData = this.authenticatorData(options.rp?.id, deviation, Buffer.concat(attested));
    const attestation = new Map<string, unknown>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', authData],
    ]);
    const response = {
      clientDataJSON: this.clientData('webauthn.create', options, deviation).toString('base64url'),
      attestationObject: cbor(attestation).toString('base64url'),
      transports: ['internal', 'unknown-transport'],
    };
    return { id: this.id, rawId: this.id, type: 'public-key', clientExtensionResults: {}, response };
  }

  /** The response to `navigator.credentials.get()`, as JSON. */
  get(options: Options, deviation: Deviation = {}) {
    const authenticatorData = this.authenticatorData(options.rpId, deviation);
    const clientData = this.clientData('webauthn.get', options, deviation);
    const signed = Buffer.concat([authenticatorData, sha256(clientData)]);
    const signature = deviation.signature ?? sign('sha256', signed, this.keys.privateKey);
    const id = (deviation.credentialId ?? this.credentialId).toString('base64url');
    const response = {
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: authenticatorData.toString('base64url'),
      signature: signature.toString('base64url'),
      userHandle: deviation.userHandle ?? this.userHandle,
    };
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response };
  }

  private clientData(type: string, options: Options, deviation: Deviation): Buffer {
    const { challenge = options.challenge, origin = this.origin, crossOrigin = false } = deviation;
    return Buffer.from(JSON.stringify({ type: deviation.type ?? type, challenge, origin, crossOrigin }));
  }

  private authenticatorData(rpId = '', deviation: Deviation, attested?: Buffer): Buffer {
    if (this.isCounting) this.counter += 1;
    const { isUserPresent = true, isUserVerified = true } = deviation;
    const flags = (isUserPresent ? PRESENT : 0) | (isUserVerified ? VERIFIED : 0) | (attested ? ATTESTED : 0);
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(deviation.counter ?? this.counter);
    const parts = [
      sha256(deviation.rpId ?? rpId),
      Buffer.from([flags]),
      counter,
      attested ?? Buffer.alloc(0),
    ];
    return Buffer.concat(parts);
  }
}
