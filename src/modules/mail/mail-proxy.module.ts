import { HttpModule } from '@nestjs/axios';
import { Module, type NestModule, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { ExpressAdapter } from '@nestjs/platform-express';
import { Config } from '../../config/config.js';
import { Deployment } from '../../platform/deployment/deployment.js';
import { PeriodicJobs } from '../../platform/jobs/periodic-jobs.js';
import { AccountSecurityModule } from '../account-security/index.js';
import { TenantsModule } from '../tenants/index.js';
import { MailAccounts } from './mail-accounts.js';
import { MailAccountsRepository } from './mail-accounts.repository.js';
import { MailApplicationPasswords } from './mail-application-passwords.js';
import { MailProvider } from './mail-provider.js';
import { MailAttachmentsService } from './mail-attachments.service.js';
import { MailClient } from './mail-client.js';
import { MailConvenienceController } from './mail-convenience.controller.js';
import { MailDraftsService } from './mail-drafts.service.js';
import { MailGate } from './mail-gate.js';
import { MailMailboxesController } from './mail-mailboxes.controller.js';
import { MailMessagesController } from './mail-messages.controller.js';
import { MailMoves } from './mail-moves.js';
import { MailMovesRepository } from './mail-moves.repository.js';
import { MailService } from './mail.service.js';
import { MailApi } from './mail.api.js';
import { RecipientsApi } from './mail-recipients.api.js';
import { RecipientsRepository } from './mail-recipients.repository.js';
import { MailLoad } from './mail-load.js';
import { MailUpstream } from './upstream/mail-upstream.js';
import { UndiciAdapter } from './upstream/undici-adapter.js';

/** Nest's axios, with connections of its own. */
const MailHttpModule = HttpModule.registerAsync({
  extraProviders: [UndiciAdapter],
  inject: [UndiciAdapter],
  useFactory: ({ request }: UndiciAdapter) => ({ adapter: request }),
});

/** Longer than any mailbox keeps its trash by default (30 days). */
const MOVES_KEPT_DAYS = 180;

/**
 * The mail API: a filtered pass-through to a mail service that speaks WildDuck's API, below the caller's own `/users/me`.
 * Requests meet the gate (is it an operation of ours, literally), the guards (who is it), the dialect (what of it may go
 * upstream, in which words), the client (as whom) and the upstream (how).
 */
@Module({
  imports: [MailHttpModule, TenantsModule, AccountSecurityModule],
  controllers: [MailConvenienceController, MailMailboxesController, MailMessagesController],
  providers: [
    MailGate,
    MailLoad,
    MailUpstream,
    MailProvider,
    MailAccountsRepository,
    MailAccounts,
    MailClient,
    MailApplicationPasswords,
    MailService,
    MailMovesRepository,
    MailMoves,
    MailDraftsService,
    MailAttachmentsService,
    RecipientsRepository,
    RecipientsApi,
    MailApi,
  ],
  exports: [MailApi, RecipientsApi],
})
export class MailProxyModule implements NestModule, OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost<ExpressAdapter>,
    private readonly gate: MailGate,
    private readonly jobs: PeriodicJobs,
    private readonly moves: MailMovesRepository,
    private readonly deployment: Deployment,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    const run = () => this.moves.forgetOld(MOVES_KEPT_DAYS);
    this.jobs.register({ name: 'forget-mail-moves', everySeconds: 86_400, run });
    this.deployment.feature('mail', this.config.mailService !== null);
  }

  /** Puts the gate before the router: Nest's own middleware is bound to paths, which is what the gate has to look at. */
  configure(): void {
    this.host.httpAdapter.use(this.gate.handle);
  }
}
