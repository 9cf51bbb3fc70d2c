import { createTransport, type Transporter } from 'nodemailer';

/** The result of a delivery to one recipient. */
export type DeliveryOutcome = { kind: 'sent' } | ({ kind: 'retry' | 'failed' } & Failure);

export interface Failure {
  /** For the sender. */
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

/** @param connections maximum number, each for one message at a time */
export function openRelay(url: string, connections: number): Transporter {
  return createTransport({
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
    : `The outgoing server could not be used (${code ?? 'error'}).`;
  return { kind: permanent ? 'failed' : 'retry', reason, status };
}
