import {
  type DynamicModule,
  Global,
  Inject,
  Module,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../config/config.js';
import { AuditPersonalData } from './audit/audit-personal-data.js';
import { AuditReader } from './audit/audit-reader.js';
import { Audit } from './audit/audit.js';
import { BlobCollector } from './blobs/blob-collector.js';
import { BlobMetrics } from './blobs/blob-metrics.js';
import { BLOB_STORE, Blobs } from './blobs/blobs.js';
import { BlobsRepository } from './blobs/blobs.repository.js';
import { FileLimits, FileUsageRepository } from './blobs/file-limits.js';
import { BlobStore, openBlobStore } from './blobs/store/blob-store.js';
import { UploadGate, UploadLimits, Uploads } from './blobs/uploads/uploads.js';
import { Bus } from './bus/bus.js';
import { CommitNotices } from './bus/commit-notices.js';
import { CellAdministration, CellMetrics } from './cells/cell-administration.js';
import { Cells } from './cells/cells.js';
import { CellsRepository } from './cells/cells.repository.js';
import { MovesRepository, WorkspaceMoves } from './cells/move/workspace-moves.js';
import { UnfinishedCommits } from './cells/unfinished-commits.js';
import { IdempotentWrites } from './concurrency/idempotency.js';
import { sharesOfMain, sumOf } from './database/connections/fair-pool.js';
import { createDataSource } from './database/data-source.js';
import { Db } from './database/db.js';
import { Schema } from './database/schema/schema-part.js';
import { TableStatistics } from './statistics/table-statistics.js';
import { Deployment } from './deployment/deployment.js';
import { DocxConverter } from './docx/docx-converter.js';
import { Outbox, OutboxMetrics } from './events/outbox.js';
import { OutboxWorker } from './events/outbox.worker.js';
import { EventInterests, PublicEvents } from './events/public-events.js';
import { TxHooks } from './events/tx-hooks.js';
import { HtmlPolicy } from './html/html-policy.js';
import { Images } from './images/images.js';
import { Notifications } from './notifications/notifications.js';
import { DatabaseStorage, Dependencies } from './observability/dependencies.js';
import { HealthController } from './observability/health.controller.js';
import { Lifecycle } from './observability/lifecycle.js';
import { MetricsModule } from './observability/metrics.js';
import { OutboundHttp } from './outbound/outbound-http.js';
import { Cursors } from './paging/cursors.js';
import { PersonalData } from './personal-data/personal-data.js';
import { PersonalRows } from './personal-data/personal-rows.js';
import { RequestPersonalData } from './personal-data/request-personal-data.js';
import { GuessLocks } from './rate-limits/guess-locks.js';
import { RequestLimiter } from './rate-limits/rate-limit.guard.js';
import { ProcessorShares } from './workers/processor-shares.js';
import { TurnGuard } from './context/turn.guard.js';
import { RateLimits } from './rate-limits/rate-limits.js';
import { CatchUp } from './realtime/catch-up.js';
import { RealtimeOptions } from './realtime/connection.js';
import { FeedChanges } from './realtime/feed-changes.js';
import { EventDispatch, RealtimeGateway } from './realtime/gateway.js';
import { SocketTokenController } from './realtime/realtime.controller.js';
import { SocketEvents } from './realtime/socket-events.js';
import { SocketTokens } from './realtime/socket-tokens.js';
import { UserConnections } from './realtime/user-connections.js';
import { ReferenceTitles } from './references/reference-titles.js';
import { ContentCounts, RelatedItems } from './references/related-items.js';
import { Keyring } from './secrets/keyring.js';
import { SecretBox } from './secrets/secret-box.js';
import { FeedRetention } from './sync/feed-retention.js';
import { FeedService } from './sync/feed.service.js';
import { HeadChanges, HeadWatch } from './sync/head-watch.js';
import { SyncStateController } from './sync/state/sync-state.controller.js';
import { SyncState } from './sync/state/sync-state.service.js';
import { SyncCursors } from './sync/sync-cursors.js';
import { MailTransport } from './system-mail/mail-transport.js';
import { SystemMailDelivery } from './system-mail/system-mail.delivery.js';
import { SystemMail } from './system-mail/system-mail.js';
import { SystemMailMetrics, SystemMailsRepository } from './system-mail/system-mails.repository.js';

/** Opens the pool before anything else starts; closes it after everything else has stopped. */
@Global()
@Module({})
export class DatabaseModule {
  static forRoot(url: string, schema: Schema): DynamicModule {
    return {
      module: DatabaseModule,
      providers: [
        {
          provide: DataSource,
          inject: [Config],
          useFactory: (config: Config) => {
            const shares = sharesOfMain(config.DATABASE_POOL_MAX);
            return createDataSource(config, url, schema, { shares, poolSize: sumOf(shares) }).initialize();
          },
        },
        {
          provide: Db,
          inject: [DataSource, Config],
          useFactory: (dataSource: DataSource, { replicaUrls }: Config) => {
            const db = new Db(dataSource);
            if (replicaUrls.length > 0) db.main.useReplicas(replicaUrls);
            return db;
          },
        },
        { provide: Schema, useValue: schema },
      ],
      exports: [Db, Schema],
    };
  }
}

/** Messages between processes, and the rows that a commit reports. */
@Global()
@Module({ providers: [Bus, CommitNotices], exports: [Bus, CommitNotices] })
export class BusModule {}

/** Workspaces in several databases (docs/scaling.md). */
@Global()
@Module({
  imports: [MetricsModule],
  providers: [
    CellsRepository,
    Cells,
    CellAdministration,
    CellMetrics,
    UnfinishedCommits,
    MovesRepository,
    WorkspaceMoves,
  ],
  exports: [Cells, CellAdministration, UnfinishedCommits, WorkspaceMoves],
})
export class CellsModule {}

@Global()
@Module({
  providers: [EventInterests, Outbox, OutboxMetrics, OutboxWorker, PublicEvents, TxHooks],
  exports: [EventInterests, Outbox, OutboxWorker, PublicEvents, TxHooks],
})
export class EventsModule {}

@Global()
@Module({ providers: [Keyring, SecretBox], exports: [Keyring, SecretBox] })
export class SecretsModule {}

@Global()
@Module({
  imports: [MetricsModule],
  controllers: [HealthController],
  providers: [Lifecycle, Dependencies, DatabaseStorage],
  exports: [Lifecycle, Dependencies],
})
export class ObservabilityModule {}

@Global()
@Module({
  controllers: [SyncStateController],
  providers: [SyncCursors, HeadChanges, HeadWatch, FeedService, FeedRetention, SyncState],
  exports: [SyncState, SyncCursors, FeedService, FeedRetention, HeadChanges, HeadWatch],
})
export class SyncModule {}

@Global()
@Module({
  providers: [MailTransport, SystemMailsRepository, SystemMail, SystemMailDelivery, SystemMailMetrics],
  exports: [SystemMail],
})
export class SystemMailModule {}

/** Sockets of all domains: `SocketEvents` takes their events, `UserConnections` sends to users. */
@Global()
@Module({
  controllers: [SocketTokenController],
  providers: [
    RealtimeOptions,
    CatchUp,
    SocketTokens,
    SocketEvents,
    EventDispatch,
    UserConnections,
    FeedChanges,
    RealtimeGateway,
  ],
  exports: [CatchUp, SocketEvents, UserConnections, RealtimeGateway, RealtimeOptions],
})
export class RealtimeModule {}

/** The files of all domains: `Uploads` receives them, `Blobs` stores them. */
@Global()
@Module({
  providers: [
    {
      provide: BlobStore,
      inject: [Config],
      useFactory: ({ blobStore }: Config) => openBlobStore(blobStore),
    },
    BlobMetrics,
    BlobsRepository,
    FileUsageRepository,
    FileLimits,
    Blobs,
    BlobCollector,
    UploadLimits,
    UploadGate,
    Uploads,
  ],
  exports: [Blobs, BlobCollector, BlobStore, FileLimits, UploadLimits, Uploads],
})
export class BlobsModule implements OnModuleInit, OnApplicationShutdown {
  constructor(
    @Inject(BlobStore) private readonly store: BlobStore,
    private readonly dependencies: Dependencies,
  ) {}

  onModuleInit(): void {
    this.dependencies.register(BLOB_STORE, (state) => this.store.check(state === 'full'));
  }

  onApplicationShutdown(): void {
    this.store.close();
  }
}

const SERVICES = [
  Audit,
  AuditReader,
  ContentCounts,
  Cursors,
  Deployment,
  DocxConverter,
  GuessLocks,
  HtmlPolicy,
  IdempotentWrites,
  Images,
  Notifications,
  OutboundHttp,
  PersonalData,
  PersonalRows,
  ProcessorShares,
  RateLimits,
  ReferenceTitles,
  RelatedItems,
  RequestLimiter,
  TurnGuard,
];

/**
 * Services that every domain may inject. Parts of the platform that must start or stop before others have a module of
 * their own.
 */
@Global()
@Module({
  providers: [...SERVICES, AuditPersonalData, RequestPersonalData, TableStatistics],
  exports: SERVICES,
})
export class PlatformModule {}
