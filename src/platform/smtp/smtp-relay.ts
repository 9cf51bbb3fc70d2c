import type { Readable } from 'node:stream';
import { createTransport, type SentMessageInfo, type Transporter } from 'nodemailer';

/** The result of a delivery to one recipient. */
export type DeliveryOutcome = { kind: 'sent' } | ({ kind: 'retry' | 'failed' } & Failure);

export interface Failure {
  /** It is meant for the sender. */
  reason: string;
  /** Enhanced status code (RFC 3463). */
  status: string;
}

/** An error of nodemailer. */
export interface SmtpError extends Error {
  code?: string;
  responseCode?: number;
  response?: string;
  recipient?: string;
  rejectedErrors?: SmtpError[];
}

/** Sends messages to a server by SMTP. */
export class SmtpRelay {
  /** Total time of a delivery, for a server that sends a byte now and then. The largest message needs less at 1 Mbit/s. */
  deliveryMs = 20 * 60_000;
  private readonly transport: Transporter;

  /** @param connections maximum number, each for one message at a time */
  constructor(url: string, connections: number) {
    this.transport = createTransport({
      url,
      pool: true,
      maxConnections: connections,
      connectionTimeout: 15_000,
      greetingTimeout: 15_000,
      socketTimeout: 60_000,
      disableFileAccess: true,
      disableUrlAccess: true,
    } as never);
  }

  /** @throws SmtpError */
  send(envelope: { from: string; to: string[] }, raw: Buffer | Readable): Promise<SentMessageInfo> {
    return this.transport.sendMail({ envelope, raw, signal: AbortSignal.timeout(this.deliveryMs) });
  }

  close(): void {
    this.transport.close();
  }
}

/** Code of nodemailer for a delivery that has taken the total time. */
const ABORTED = 'EABORT';

/** Codes of nodemailer for responses to a message, its sender and its recipients. */
const REJECTIONS: ReadonlySet<unknown> = new Set(['EENVELOPE', 'EMESSAGE']);

/**
 * Codes of 500 and more that concern the message are permanent (RFC 5321 4.2.1). Others, such as a rejected connection or login,
 * pass or can be corrected by the operator.
 */
export function outcomeOf(error: SmtpError): DeliveryOutcome {
  const { code, responseCode = 0, response } = error;
  const permanent = responseCode >= 500 && REJECTIONS.has(code);
  const status = /\b([245]\.\d{1,3}\.\d{1,3})\b/.exec(response ?? '')?.[1] ?? (permanent ? '5.0.0' : '4.0.0');
  // Without a response only a code: other errors may contain addresses or passwords.
  const reason = response
    ? response.slice(0, 500)
    : code === ABORTED
      ? 'The outgoing server took too long.'
      : `The outgoing server could not be used (${code ?? 'error'}).`;
  return { kind: permanent ? 'failed' : 'retry', reason, status };
}
