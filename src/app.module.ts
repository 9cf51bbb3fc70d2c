import { type DynamicModule, Global, Module } from '@nestjs/common';
import { APP_GUARD, APP_PIPE } from '@nestjs/core';
import { Config } from './config/config.js';
import { AccountPagesModule } from './modules/account-pages/index.js';
import { AccountSecurityModule } from './modules/account-security/index.js';
import { AccessModule } from './modules/access/index.js';
import { BatchModule } from './modules/batch/index.js';
import {
  CalendarModule,
  CalendarPlanningModule,
  CalendarSchedulingModule,
} from './modules/calendar/index.js';
import { CallsModule } from './modules/calls/index.js';
import { ContactsModule } from './modules/contacts/index.js';
import { ChatModule } from './modules/chat/index.js';
import { DavModule } from './modules/dav/index.js';
import { DirectoryModule } from './modules/directory/index.js';
import { FormsModule } from './modules/forms/index.js';
import { HolidaysModule } from './modules/holidays/index.js';
import { IdentityModule } from './modules/identity/index.js';
import { MailProxyModule } from './modules/mail/index.js';
import { NoteFoldersModule } from './modules/note-folders/index.js';
import { NotesModule } from './modules/notes/index.js';
import { PersonalExportsModule } from './modules/personal-data/index.js';
import { IssuersModule } from './modules/issuers/index.js';
import { PresenceModule } from './modules/presence/index.js';
import { NotificationsModule } from './modules/notifications/index.js';
import { ScimModule } from './modules/scim/index.js';
import { SettingsModule } from './modules/settings/index.js';
import { SignInModule } from './modules/sign-in/index.js';
import { TasksModule } from './modules/tasks/index.js';
import { TenantsModule } from './modules/tenants/index.js';
import { PushModule } from './modules/push/index.js';
import { IncomingWebhooksModule } from './modules/incoming-webhooks/index.js';
import { WebhooksModule } from './modules/webhooks/index.js';
import {
  BlobsModule,
  BusModule,
  CellsModule,
  DatabaseModule,
  EventsModule,
  ObservabilityModule,
  PlatformModule,
  RealtimeModule,
  SecretsModule,
  SyncModule,
  SystemMailModule,
} from './platform/platform.module.js';
import { BearerGuard } from './platform/context/bearer.guard.js';
import { LongWorkGuard } from './platform/context/long-work.guard.js';
import { TurnGuard } from './platform/context/turn.guard.js';
import { BodyGuard } from './platform/http/body/body.guard.js';
import { InputPipe } from './platform/http/input.pipe.js';
import { JobsModule } from './platform/jobs/periodic-jobs.js';
import { RateLimitGuard } from './platform/rate-limits/rate-limit.guard.js';
import { schema } from './schema.js';

@Global()
@Module({})
class ConfigModule {
  static of(config: Config): DynamicModule {
    return { module: ConfigModule, providers: [{ provide: Config, useValue: config }], exports: [Config] };
  }
}

/** The composition root: every module, one line each. */
@Module({})
export class AppModule {
  static forRoot(config: Config, databaseUrl: string): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.of(config),
        DatabaseModule.forRoot(databaseUrl, schema),
        SecretsModule,
        CellsModule,
        PlatformModule,
        JobsModule,
        EventsModule,
        ObservabilityModule,
        BusModule,
        SyncModule,
        BlobsModule,
        RealtimeModule,
        SystemMailModule,
        TenantsModule,
        IdentityModule,
        AccountSecurityModule,
        IssuersModule,
        SignInModule.forRoot(config),
        AccessModule,
        AccountPagesModule,
        SettingsModule,
        PersonalExportsModule,
        ScimModule,
        // It is registered before any module with `/calendar/{calendar_id}`.
        HolidaysModule,
        NoteFoldersModule,
        TasksModule,
        NotesModule,
        PresenceModule,
        ContactsModule,
        DirectoryModule,
        MailProxyModule,
        FormsModule,
        ChatModule,
        CallsModule,
        NotificationsModule,
        PushModule,
        WebhooksModule,
        IncomingWebhooksModule,
        BatchModule,
        CalendarPlanningModule,
        CalendarSchedulingModule,
        CalendarModule,
        DavModule,
      ],
      providers: [
        // The order matters: authentication, rate limits, turns, body, shares.
        { provide: APP_GUARD, useClass: BearerGuard },
        { provide: APP_GUARD, useClass: RateLimitGuard },
        { provide: APP_GUARD, useExisting: TurnGuard },
        { provide: APP_GUARD, useClass: BodyGuard },
        { provide: APP_GUARD, useClass: LongWorkGuard },
        { provide: APP_PIPE, useClass: InputPipe },
      ],
    };
  }
}
