import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../config/config.js';
import type { DeliveryOutcome, SmtpError, SmtpRelay } from '../smtp/smtp-relay.js';
import type { MailMessage } from './mail-message.js';

const RELAY_CONNECTIONS = 2;
const EMBEDDED_TIMEOUT_MS = 15_000;

/**
 * Sends mails of the workspace itself: through the embedded mail service if it runs, otherwise through SMTP_URL. The embedded mail
 * service delivers to the mailboxes of the members and relays other mails to SMTP_URL.
 */
@Injectable()
export class MailTransport implements OnApplicationShutdown {
  private relay: SmtpRelay | undefined;

  constructor(private readonly config: Config) {}

  get isConfigured(): boolean {
    return this.embedded !== null || this.config.SMTP_URL !== undefined;
  }

  /** Without SMTP_URL, mail reaches only the mailboxes of the embedded mail service. */
  get reachesOutside(): boolean {
    return this.config.SMTP_URL !== undefined;
  }

  /** Repeated calls with the id of a message have one effect in the embedded mail service; SMTP sends it again. */
  async send(message: MailMessage): Promise<DeliveryOutcome> {
    return this.embedded ? this.submit(this.embedded, message) : this.relayed(message);
  }

  onApplicationShutdown(): void {
    this.relay?.close();
  }

  private get embedded(): { url: string; token: string | undefined } | null {
    return this.config.MAIL_SERVICE_EMBEDDED ? this.config.mailService : null;
  }

  private async submit(
    service: { url: string; token: string | undefined },
    message: MailMessage,
  ): Promise<DeliveryOutcome> {
    const body = JSON.stringify({ ...message, raw: message.raw.toString('base64') });
    const headers = { 'Content-Type': 'application/json', 'X-Access-Token': service.token ?? '' };
    const signal = AbortSignal.timeout(EMBEDDED_TIMEOUT_MS);
    try {
      const { status } = await fetch(`${service.url}/system/messages`, {
        method: 'POST',
        headers,
        body,
        signal,
      });
      if (status === 200) return { kind: 'sent' };
      const reason = `The mail service responded with status ${status}.`;
      // The address is invalid or cannot be reached; other errors pass.
      return status === 400 || status === 422
        ? { kind: 'failed', reason, status: '5.6.0' }
        : { kind: 'retry', reason, status: '4.3.0' };
    } catch (error) {
      const reason = `The mail service did not respond (${(error as Error).name}).`;
      return { kind: 'retry', reason, status: '4.4.2' };
    }
  }

  private async relayed({ from, to, raw }: MailMessage): Promise<DeliveryOutcome> {
    const smtp = await import('../smtp/smtp-relay.js');
    this.relay ??= new smtp.SmtpRelay(this.config.SMTP_URL as string, RELAY_CONNECTIONS);
    try {
      await this.relay.send({ from, to: [to] }, raw);
      return { kind: 'sent' };
    } catch (error) {
      return smtp.outcomeOf((error as SmtpError).rejectedErrors?.[0] ?? (error as SmtpError));
    }
  }
}
