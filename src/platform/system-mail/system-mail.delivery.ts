import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { type DomainEvent, Outbox } from '../events/outbox.js';
import { PeriodicJobs } from '../jobs/periodic-jobs.js';
import { SecretBox } from '../secrets/secret-box.js';
import { mailMessage } from './mail-message.js';
import { MailTransport } from './mail-transport.js';
import { MAIL_QUEUED, SEALED_VALUES, SystemMail } from './system-mail.js';
import { type QueuedMail, SystemMailsRepository } from './system-mails.repository.js';

const CLEAN_SECONDS = 3_600;

/** Composes and sends queued mails. A temporary failure is retried by the outbox, for about two hours. */
@Injectable()
export class SystemMailDelivery implements OnModuleInit {
  private readonly logger = new Logger('SystemMail');

  constructor(
    private readonly mails: SystemMailsRepository,
    private readonly system: SystemMail,
    private readonly transport: MailTransport,
    private readonly outbox: Outbox,
    private readonly jobs: PeriodicJobs,
    private readonly box: SecretBox,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.outbox.subscribe(MAIL_QUEUED, 'system-mail', (event) => this.handle(event), 'relay');
    this.jobs.register({
      name: 'clean-system-mails',
      everySeconds: CLEAN_SECONDS,
      run: () => this.mails.clean(),
    });
  }

  private async handle({ tenantId, payload }: DomainEvent): Promise<void> {
    const mail = await this.mails.findQueued(tenantId, payload['id'] as string);
    if (!mail) return;
    if (mail.is_expired) return this.mails.finish(tenantId, mail.id, 'expired');
    if (!this.transport.isConfigured) return this.mails.finish(tenantId, mail.id, 'not_configured');
    const content = await this.compose(tenantId, mail);
    if (!content) return this.mails.finish(tenantId, mail.id, 'cancelled');
    const { id, recipient, language, created_at } = mail;
    const message = await mailMessage(content, {
      id,
      from: this.config.systemMailFrom,
      to: recipient,
      date: created_at,
      language,
    });
    const outcome = await this.transport.send(message);
    if (outcome.kind === 'sent') return this.mails.finish(tenantId, id, 'sent');
    if (outcome.kind === 'retry') throw new Error(outcome.reason);
    this.logger.warn({ mail: id, template: mail.template, status: outcome.status }, 'a mail was rejected');
    await this.mails.finish(tenantId, id, 'failed', outcome.reason);
  }

  private async compose(tenantId: string, mail: QueuedMail) {
    const { id, template, recipient, language, sealed } = mail;
    const found = this.system.templateOf(template);
    if (!found) throw new Error(`unknown mail template ${template}`);
    const values = JSON.parse(this.box.open(SEALED_VALUES, id, sealed).toString()) as object;
    return found.compose({ tenantId, recipient, language, values });
  }
}
