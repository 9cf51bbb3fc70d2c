import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { OutboundHttp, OutboundHttpError } from '../../platform/outbound/outbound-http.js';
import { UnreadableSecretError } from '../../platform/secrets/secret-box.js';
import type { Webhook } from './webhooks.schema.js';
import { WebhookSecrets } from './webhook-secrets.js';

/** The limit of the whole exchange. */
const TIMEOUT_MS = 10_000;
/** Longer responses end the connection; up to this length it is used again. */
const MAX_RESPONSE_BYTES = 64 * 1024;
export const STORED_RESPONSE_BYTES = 1_024;
/** The type of test events. They have no object: the facts are the data. */
export const TEST_TYPE = 'webhook.test';

/** A message of Standard Webhooks. */
export interface WebhookMessage {
  /** The id is the same in each attempt. */
  id: string;
  /** JSON. */
  body: string;
}

/** The outcome of one request. */
export interface Attempt {
  ok: boolean;
  statusCode: number | null;
  /** Milliseconds. */
  latencyMs: number;
  /** The first kilobyte of the response. */
  response: string | null;
  /** Why there is no response. */
  error: string | null;
}

/** The body of a message. @param data JSON of an object */
export const bodyOf = (type: string, occurredAt: Date, data: string): string =>
  `{"type":${JSON.stringify(type)},"timestamp":"${occurredAt.toISOString()}","data":${data}}`;

/** Sends signed messages to receivers (Standard Webhooks 1.0). */
@Injectable()
export class WebhookSender {
  constructor(
    private readonly http: OutboundHttp,
    private readonly secrets: WebhookSecrets,
  ) {}

  /**
   * Sends a message. Statuses other than 2xx, also redirects, are failures.
   * @param signal ends the request early: null is returned
   */
  async send(webhook: Webhook, message: WebhookMessage, signal?: AbortSignal): Promise<Attempt | null> {
    const started = performance.now();
    const latencyMs = () => Math.round(performance.now() - started);
    // Encoded once, for the signature and for the request.
    const content = Buffer.from(message.body);
    try {
      const { status, body } = await this.http.request(webhook.url, {
        method: 'POST',
        headers: this.headersOf(webhook, message.id, content),
        body: content,
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_RESPONSE_BYTES,
        longer: 'cut',
        ...(signal && { signal }),
      });
      const ok = status >= 200 && status < 300;
      return { ok, statusCode: status, latencyMs: latencyMs(), response: textOf(body), error: null };
    } catch (error) {
      if (!(error instanceof OutboundHttpError || error instanceof UnreadableSecretError)) throw error;
      if (error instanceof OutboundHttpError && error.problem === 'aborted') return null;
      return { ok: false, statusCode: null, latencyMs: latencyMs(), response: null, error: error.message };
    }
  }

  private headersOf(webhook: Webhook, id: string, body: Buffer): Record<string, string> {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signatures = this.secrets
      .keysOf(webhook)
      .map(
        (key) =>
          `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`,
      );
    return {
      'content-type': 'application/json',
      'user-agent': 'Workspace-Webhooks/1',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signatures.join(' '),
    };
  }
}

/** PostgreSQL stores no NUL. */
const textOf = (body: Buffer): string =>
  body.toString('utf8', 0, STORED_RESPONSE_BYTES).replaceAll('\0', '\u{fffd}');
