import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { createTransport, type Transporter } from 'nodemailer';
import { MailSettings } from '../mail-settings.js';
import { RawMessages } from '../storage/raw-messages.js';
import { type DeliveryOutcome, NO_RELAY } from './delivery-outcome.js';
import type { Entries } from './queue.repository.js';

/** Connections to the relay, each for one message at a time. */
export const RELAY_CONNECTIONS = 8;

interface SmtpError extends Error {
  code?: string;
  responseCode?: number;
  response?: string;
  recipient?: string;
  rejectedErrors?: SmtpError[];
}

/** Sends mail for outside recipients to the server of SMTP_URL. */
@Injectable()
export class OutgoingRelay implements OnApplicationShutdown {
  private readonly transport: Transporter | undefined;

  constructor(
    { smtpUrl }: MailSettings,
    private readonly raws: RawMessages,
  ) {
    if (smtpUrl === undefined) return;
    this.transport = createTransport({
      url: smtpUrl,
      pool: true,
      maxConnections: RELAY_CONNECTIONS,
      connectionTimeout: 15_000,
      greetingTimeout: 15_000,
      socketTimeout: 60_000,
      disableFileAccess: true,
      disableUrlAccess: true,
    } as never);
  }

  get isConfigured(): boolean {
    return this.transport !== undefined;
  }

  /**
   * Sends one message to several recipients in one transaction.
   * @returns the outcomes in the order of the entries
   * @throws BlobMissingError, BlobStoreError
   */
  async send(entries: Entries): Promise<DeliveryOutcome[]> {
    if (!this.transport) return entries.map(() => NO_RELAY);
    const [{ sender, raw_id }] = entries;
    const envelope = { from: sender, to: entries.map(({ recipient }) => recipient) };
    const raw = await this.raws.open(raw_id);
    let failures: SmtpError[];
    try {
      const info = await this.transport.sendMail({ envelope, raw });
      failures = (info as { rejectedErrors?: SmtpError[] }).rejectedErrors ?? [];
    } catch (error) {
      const { rejectedErrors } = error as SmtpError;
      if (!rejectedErrors?.length) return entries.map(() => outcomeOf(error as SmtpError));
      failures = rejectedErrors;
    } finally {
      raw.destroy();
    }
    return entries.map(({ recipient }) => {
      const failure = failures.find((error) => error.recipient === recipient);
      return failure ? outcomeOf(failure) : { kind: 'sent' };
    });
  }

  onApplicationShutdown(): void {
    this.transport?.close();
  }
}

/** Codes of 500 and more are permanent (RFC 5321 4.2.1), except for our own login, which the operator can correct. */
function outcomeOf(error: SmtpError): DeliveryOutcome {
  const { code, responseCode = 0, response } = error;
  const permanent = responseCode >= 500 && code !== 'EAUTH';
  const status = /\b([245]\.\d{1,3}\.\d{1,3})\b/.exec(response ?? '')?.[1] ?? (permanent ? '5.0.0' : '4.0.0');
  // Without a response only a code: other errors may contain addresses or passwords.
  const reason = response
    ? response.slice(0, 500)
    : `The outgoing server could not be used (${code ?? 'error'}).`;
  return { kind: permanent ? 'failed' : 'retry', reason, status };
}
