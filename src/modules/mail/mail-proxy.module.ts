import { HttpModule } from '@nestjs/axios';
import { Module, type NestModule, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { ExpressAdapter } from '@nestjs/platform-express';
import { Config } from '../../config/config.js';
import { Deployment } from '../../platform/deployment/deployment.js';
import { PeriodicJobs } from '../../platform/jobs/periodic-jobs.js';
import { AccountSecurityModule } from '../account-security/index.js';
import { TenantsModule } from '../tenants/index.js';
import { AccountProvisioner } from './accounts/account-provisioner.js';
import { MailAccounts, MailApi } from './accounts/mail-accounts.js';
import { MailAccountsRepository } from './accounts/mail-accounts.repository.js';
import { MailApplicationPasswords } from './accounts/mail-application-passwords.js';
import { MailProvider } from './accounts/mail-provider.js';
import { MailArrivals, MailArrivalsRepository } from './arrivals/mail-arrivals.js';
import { MailPublicEvents } from './arrivals/mail-public-events.js';
import { CalendarMailIntake } from './calendar-mail/calendar-mail-intake.js';
import { CalendarMailReader } from './calendar-mail/calendar-mail-reader.js';
import { CalendarMailRepository } from './calendar-mail/calendar-mail.repository.js';
import { OwnMail } from './calendar-mail/own-mail.js';
import { AttachmentsService, DraftsController, DraftsService } from './messages/drafts/drafts.controller.js';
import { RecipientsApi, RecipientsRepository } from './messages/drafts/recipients.js';
import { MailGate } from './gate/mail-gate.js';
import { MailClient } from './mail-client.js';
import { MailUpstream } from './mail-upstream.js';
import { MessageWriter } from './messages/message-writer.js';
import { MailboxesController, MailboxesService } from './mailboxes/mailboxes.controller.js';
import { MailMoves, MailMovesRepository, purgeMoves } from './messages/mail-moves.js';
import { MessagesController, MessagesService } from './messages/messages.controller.js';
import { ReceivedMailApi } from './messages/received-mail.api.js';
import { RelatedMessages } from './messages/related-messages.js';
import { RequestLimits } from './upstream/request-limits.js';
import { UndiciAdapter } from './upstream/undici-adapter.js';
import { MailPersonalData } from './mail-personal-data.js';

/** Nest's axios on undici's connection pool (adr/0015). */
const MailHttpModule = HttpModule.registerAsync({
  extraProviders: [UndiciAdapter],
  inject: [UndiciAdapter],
  useFactory: ({ request }: UndiciAdapter) => ({ adapter: request }),
});

/**
 * The mail API: a filtered pass-through to a WildDuck-compatible mail service, below the caller's own `/users/me`. A
 * request passes the gate (literal operations only), the guards, a service that translates the fields, and the client.
 */
@Module({
  imports: [MailHttpModule, TenantsModule, AccountSecurityModule],
  controllers: [DraftsController, MailboxesController, MessagesController],
  providers: [
    MailPersonalData,
    MailGate,
    RequestLimits,
    MailUpstream,
    MailProvider,
    MailAccountsRepository,
    MailAccounts,
    MailClient,
    MessageWriter,
    MailApplicationPasswords,
    AccountProvisioner,
    MailboxesService,
    MessagesService,
    RelatedMessages,
    MailMovesRepository,
    MailMoves,
    DraftsService,
    AttachmentsService,
    RecipientsRepository,
    RecipientsApi,
    ReceivedMailApi,
    MailApi,
    CalendarMailRepository,
    CalendarMailReader,
    CalendarMailIntake,
    OwnMail,
    MailArrivalsRepository,
    MailArrivals,
    MailPublicEvents,
  ],
  exports: [MailApi, ReceivedMailApi, RecipientsApi, OwnMail, CalendarMailReader, CalendarMailIntake],
})
export class MailProxyModule implements NestModule, OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost<ExpressAdapter>,
    private readonly gate: MailGate,
    private readonly jobs: PeriodicJobs,
    private readonly deployment: Deployment,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'forget-mail-moves', everySeconds: 86_400, deletes: purgeMoves });
    this.deployment.feature('mail', this.config.mailService !== null);
  }

  /** Installs the gate before the router: Nest binds its own middleware to decoded paths, and the gate checks raw targets. */
  configure(): void {
    this.host.httpAdapter.use(this.gate.handle);
  }
}
