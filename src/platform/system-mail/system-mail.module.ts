import { Global, Module } from '@nestjs/common';
import { MailTransport } from './mail-transport.js';
import { SystemMailDelivery } from './system-mail.delivery.js';
import { SystemMail } from './system-mail.js';
import { SystemMailMetrics } from './system-mail-metrics.js';
import { SystemMailsRepository } from './system-mails.repository.js';

@Global()
@Module({
  providers: [MailTransport, SystemMailsRepository, SystemMail, SystemMailDelivery, SystemMailMetrics],
  exports: [SystemMail],
})
export class SystemMailModule {}
