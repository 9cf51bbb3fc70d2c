import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { createTransport, type Transporter } from 'nodemailer';
import { MailSettings } from '../mail-settings.js';
import { RawMessages } from '../storage/raw-messages.js';
import type { Entry } from './queue.repository.js';

/** What became of a message for one recipient. */
export type Fate = { fate: 'sent' } | { fate: 'later' | 'never'; reason: string; status: string };

interface SmtpError extends Error {
  code?: string;
  responseCode?: number;
  response?: string;
  recipient?: string;
  rejectedErrors?: SmtpError[];
}

const NOT_CONFIGURED: Fate = {
  fate: 'never',
  status: '5.4.4',
  reason: 'This server does not send mail to other servers: no outgoing server is configured.',
};

/** Hands mail for others to the server that SMTP_URL names. */
@Injectable()
export class Outward implements OnApplicationShutdown {
  private readonly transport: Transporter | undefined;

  constructor(
    { smtpUrl }: MailSettings,
    private readonly raws: RawMessages,
  ) {
    if (smtpUrl === undefined) return;
    this.transport = createTransport({
      url: smtpUrl,
      pool: true,
      maxConnections: 4,
      connectionTimeout: 15_000,
      greetingTimeout: 15_000,
      socketTimeout: 60_000,
      disableFileAccess: true,
      disableUrlAccess: true,
    } as never);
  }

  /** False: nothing leaves this server. */
  get available(): boolean {
    return this.transport !== undefined;
  }

  /** Sends one message to several recipients at once. @returns what became of it, in their order */
  async send(entries: readonly [Entry, ...Entry[]]): Promise<Fate[]> {
    if (!this.transport) return entries.map(() => NOT_CONFIGURED);
    const [{ sender, raw_id }] = entries;
    const envelope = { from: sender, to: entries.map(({ recipient }) => recipient) };
    const raw = await this.raws.open(raw_id);
    let failures: SmtpError[];
    try {
      const info = await this.transport.sendMail({ envelope, raw });
      failures = (info as { rejectedErrors?: SmtpError[] }).rejectedErrors ?? [];
    } catch (error) {
      const { rejectedErrors } = error as SmtpError;
      if (!rejectedErrors?.length) return entries.map(() => fateOf(error as SmtpError));
      failures = rejectedErrors;
    } finally {
      raw.destroy();
    }
    return entries.map(({ recipient }) => {
      const failure = failures.find((error) => error.recipient === recipient);
      return failure ? fateOf(failure) : { fate: 'sent' };
    });
  }

  onApplicationShutdown(): void {
    this.transport?.close();
  }
}

/** Codes of 500 and more are final (RFC 5321 4.2.1), but for those about our logging in, which the operator can mend. */
function fateOf(error: SmtpError): Fate {
  const { code, responseCode = 0, response } = error;
  const final = responseCode >= 500 && code !== 'EAUTH';
  const status = /\b([245]\.\d{1,3}\.\d{1,3})\b/.exec(response ?? '')?.[1] ?? (final ? '5.0.0' : '4.0.0');
  // What a server said is its own affair; what we could not do is a code, without addresses or passwords.
  const reason = response
    ? response.slice(0, 500)
    : `The outgoing server could not be used (${code ?? 'error'}).`;
  return { fate: final ? 'never' : 'later', reason, status };
}
