import { Injectable } from '@nestjs/common';
import { SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { Config } from '../../config/config.js';
import { encryptMessage } from '../../lib/web-push/index.js';
import { OutboundHttp, OutboundHttpError } from '../../platform/outbound/outbound-http.js';
import { UnreadableSecretError } from '../../platform/secrets/secret-box.js';
import type { PushSubscription } from './push.schema.js';
import { ALGORITHM, PushKeys } from './push-keys.js';

/** The limit of the whole exchange. */
const TIMEOUT_MS = 10_000;
/** Responses have no content that is read; longer ones end the connection. */
const MAX_RESPONSE_BYTES = 4_096;
/** A token is valid for at most 24 hours (RFC 8292, section 2), so that one serves all messages of an hour. */
const TOKEN_SECONDS = 12 * 3_600;
const TOKEN_REUSE_MS = 3_600_000;
const MAX_TOKENS = 1_000;
/** The push service no longer knows the device (RFC 8030, section 7.3). */
const GONE = new Set([404, 410]);
/** The push service accepts the message later. */
const LATER = new Set([408, 425, 429]);

export const URGENCIES = ['very-low', 'low', 'normal', 'high'] as const;
export type Urgency = (typeof URGENCIES)[number];

/** A message for a device. */
export interface PushMessage {
  /** JSON. */
  body: string;
  /** Seconds for which the push service keeps it for a device that is offline. */
  ttl: number;
  urgency: Urgency;
  /** Replaces a message with the same topic that the device has not got: at most 32 characters of base64url. */
  topic?: string;
}

/** The outcome of one request. */
export interface PushAttempt {
  /** `gone`: the device has ended its subscription. `later`: a repetition may succeed. */
  outcome: 'accepted' | 'gone' | 'later' | 'rejected';
  statusCode: number | null;
  /** Why there is no response. */
  error: string | null;
  /** Seconds after which the push service asks for a repetition. */
  retryAfter: number | null;
}

/** Sends encrypted messages to push services (RFC 8030, RFC 8291, RFC 8292). */
@Injectable()
export class PushSender {
  /** The key consists of the key and the origin of the push service. */
  private readonly tokens = new LRUCache<string, string>({ max: MAX_TOKENS, ttl: TOKEN_REUSE_MS });

  constructor(
    private readonly http: OutboundHttp,
    private readonly keys: PushKeys,
    private readonly config: Config,
  ) {}

  /** @param signal ends the request early: null is returned */
  async send(
    subscription: PushSubscription,
    message: PushMessage,
    signal?: AbortSignal,
  ): Promise<PushAttempt | null> {
    try {
      const { status, headers } = await this.http.request(subscription.endpoint, {
        method: 'POST',
        headers: await this.headersOf(subscription, message),
        body: encryptMessage(Buffer.from(message.body), {
          publicKey: Buffer.from(subscription.p256dh, 'base64url'),
          authSecret: Buffer.from(subscription.auth, 'base64url'),
        }),
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_RESPONSE_BYTES,
        longer: 'cut',
        ...(signal && { signal }),
      });
      const retryAfter = secondsOf(headers['retry-after']);
      return { outcome: outcomeOf(status), statusCode: status, error: null, retryAfter };
    } catch (error) {
      if (!(error instanceof OutboundHttpError || error instanceof UnreadableSecretError)) throw error;
      if (error instanceof OutboundHttpError && error.problem === 'aborted') return null;
      return { outcome: 'later', statusCode: null, error: error.message, retryAfter: null };
    }
  }

  private async headersOf(
    subscription: PushSubscription,
    { ttl, urgency, topic }: PushMessage,
  ): Promise<Record<string, string>> {
    const { publicKey } = await this.keys.readKey(subscription.key_id);
    return {
      'content-encoding': 'aes128gcm',
      'content-type': 'application/octet-stream',
      ttl: String(Math.max(0, Math.floor(ttl))),
      urgency,
      ...(topic !== undefined && { topic }),
      authorization: `vapid t=${await this.tokenFor(subscription)}, k=${publicKey}`,
    };
  }

  private async tokenFor({ key_id, service }: PushSubscription): Promise<string> {
    const name = `${key_id} ${service}`;
    const known = this.tokens.get(name);
    if (known !== undefined) return known;
    const { privateKey } = await this.keys.readKey(key_id);
    const { publicUrl } = this.config;
    const token = await new SignJWT({
      aud: service,
      exp: Math.floor(Date.now() / 1_000) + TOKEN_SECONDS,
      // The contact of the operator (RFC 8292, section 2.1).
      ...(publicUrl.startsWith('https:') && { sub: publicUrl }),
    })
      .setProtectedHeader({ typ: 'JWT', alg: ALGORITHM })
      .sign(privateKey);
    this.tokens.set(name, token);
    return token;
  }
}

function outcomeOf(status: number): PushAttempt['outcome'] {
  if (status >= 200 && status < 300) return 'accepted';
  if (GONE.has(status)) return 'gone';
  return status >= 500 || LATER.has(status) ? 'later' : 'rejected';
}

/** Seconds of a `Retry-After` (RFC 9110, section 10.2.3); null: missing, or a date. */
function secondsOf(header: string | string[] | undefined): number | null {
  const value = Array.isArray(header) ? header[0] : header;
  return value !== undefined && /^\d{1,6}$/.test(value) ? Number(value) : null;
}
