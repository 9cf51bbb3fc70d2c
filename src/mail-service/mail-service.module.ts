import { type DynamicModule, Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { Config } from '../config/config.js';
import { BlobStore, openBlobStore } from '../platform/blobs/store/blob-store.js';
import { createDataSource } from '../platform/database/data-source.js';
import { Db } from '../platform/database/db.js';
import { JobsModule } from '../platform/jobs/periodic-jobs.js';
import { AccessTokens, CallerGuard } from './http/caller.guard.js';
import { AccountCreations, AccountsService } from './accounts/accounts.service.js';
import { AccountsController } from './accounts/accounts.controller.js';
import { AccountsRepository } from './accounts/accounts.repository.js';
import { ByteBudget } from './limits.js';
import { CalendarPartsController } from './calendar-parts/calendar-parts.controller.js';
import { CalendarPartsRepository } from './calendar-parts/calendar-parts.repository.js';
import { LocalDelivery } from './delivery/local-delivery.js';
import { OutgoingRelay } from './delivery/outgoing-relay.js';
import { QueueLease, QueueMetrics, QueueRepository } from './delivery/queue.repository.js';
import { QueueWorker } from './delivery/queue.worker.js';
import { Housekeeping } from './housekeeping.js';
import { MAIL_SCHEMA, mailServiceSchema } from './mail-service.schema.js';
import { MailSettings } from './mail-settings.js';
import { MailboxesController } from './mailboxes/mailboxes.controller.js';
import { MailboxesRepository } from './mailboxes/mailboxes.repository.js';
import { MailboxesService } from './mailboxes/mailboxes.service.js';
import { MessageListRepository, MessageListService } from './messages/message-list.service.js';
import { MessageStore } from './message-store.js';
import { MessagesController } from './messages/messages.controller.js';
import { MessagesRepository } from './messages/messages.repository.js';
import { MessagesService } from './messages/messages.service.js';
import { SubmitService } from './messages/submit.service.js';
import { UploadService } from './messages/upload.service.js';
import { MimeWorkers } from './mime/mime-workers.js';
import { SmtpReceiver } from './smtp/smtp-receiver.js';
import { RawMessages } from './storage/raw-messages.js';
import { Spool } from './storage/spool.js';
import { SystemMessagesController, SystemMessagesService } from './system/system-messages.controller.js';

/** Settings, database and blob store. */
@Global()
@Module({})
class InfrastructureModule implements OnApplicationShutdown {
  constructor(@Inject(BlobStore) private readonly store: BlobStore) {}

  static of(config: Config, databaseUrl: string, token: string): DynamicModule {
    return {
      module: InfrastructureModule,
      providers: [
        { provide: Config, useValue: config },
        { provide: MailSettings, useValue: new MailSettings(config, token, databaseUrl) },
        {
          provide: DataSource,
          useFactory: () =>
            createDataSource(config, databaseUrl, mailServiceSchema, { schema: MAIL_SCHEMA }).initialize(),
        },
        Db,
        { provide: BlobStore, useFactory: () => openBlobStore(config.blobStore) },
      ],
      exports: [Config, MailSettings, Db, BlobStore],
    };
  }

  onApplicationShutdown(): void {
    this.store.close();
  }
}

/** The composition root of the mail service. It shares the platform with the workspace, but no module. */
@Module({})
export class MailServiceModule {
  static forRoot(config: Config, databaseUrl: string, token: string): DynamicModule {
    return {
      module: MailServiceModule,
      imports: [InfrastructureModule.of(config, databaseUrl, token), JobsModule],
      controllers: [
        AccountsController,
        CalendarPartsController,
        MailboxesController,
        MessagesController,
        SystemMessagesController,
      ],
      providers: [
        { provide: APP_GUARD, useClass: CallerGuard },
        ByteBudget,
        AccessTokens,
        AccountCreations,
        AccountsRepository,
        AccountsService,
        MailboxesRepository,
        MailboxesService,
        MessageListRepository,
        MessageListService,
        MessageStore,
        MessagesRepository,
        MessagesService,
        UploadService,
        SubmitService,
        SystemMessagesService,
        MimeWorkers,
        RawMessages,
        Spool,
        OutgoingRelay,
        QueueLease,
        LocalDelivery,
        QueueMetrics,
        QueueRepository,
        QueueWorker,
        SmtpReceiver,
        CalendarPartsRepository,
        Housekeeping,
      ],
    };
  }
}
