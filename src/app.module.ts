import { type DynamicModule, Global, Module } from '@nestjs/common';
import { APP_GUARD, APP_PIPE } from '@nestjs/core';
import { Config } from './config/config.js';
import { IdentityModule } from './modules/identity/index.js';
import { NoteFoldersModule } from './modules/note-folders/index.js';
import { NotesModule } from './modules/notes/index.js';
import { TenantsModule } from './modules/tenants/index.js';
import { BlobsModule } from './platform/blobs/blobs.module.js';
import { ConcurrencyModule } from './platform/concurrency/concurrency.module.js';
import { BearerGuard } from './platform/context/bearer.guard.js';
import { DatabaseModule } from './platform/database/database.module.js';
import { EventsModule } from './platform/events/events.module.js';
import { BodyGuard } from './platform/http/body.guard.js';
import { InputPipe } from './platform/http/input.pipe.js';
import { JobsModule } from './platform/jobs/jobs.module.js';
import { ObservabilityModule } from './platform/observability/observability.module.js';
import { PagingModule } from './platform/paging/paging.module.js';
import { SecretsModule } from './platform/secrets/secrets.module.js';
import { SyncModule } from './platform/sync/sync.module.js';
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
        PagingModule,
        JobsModule,
        EventsModule,
        ConcurrencyModule,
        ObservabilityModule,
        SyncModule,
        BlobsModule,
        TenantsModule,
        IdentityModule,
        NoteFoldersModule,
        NotesModule,
      ],
      providers: [
        // In this order: who is calling, then what they sent.
        { provide: APP_GUARD, useClass: BearerGuard },
        { provide: APP_GUARD, useClass: BodyGuard },
        { provide: APP_PIPE, useClass: InputPipe },
      ],
    };
  }
}
