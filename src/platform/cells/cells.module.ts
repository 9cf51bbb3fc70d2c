import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { Db } from '../database/db.js';
import type { Schema } from '../database/schema/schema-part.js';
import { PeriodicJobs } from '../jobs/periodic-jobs.js';
import { MetricsModule } from '../observability/metrics.module.js';
import { SecretBox } from '../secrets/secret-box.js';
import { CellAdministration } from './cell-administration.js';
import { CellMetrics } from './cell-metrics.js';
import { CellsRepository } from './cells.repository.js';
import { Cells } from './cells.js';
import { MovesRepository } from './move/moves.repository.js';
import { WorkspaceMoves } from './move/workspace-moves.js';
import { UnfinishedCommits } from './unfinished-commits.js';

/** Workspaces in several databases (docs/scaling.md). */
@Global()
@Module({})
export class CellsModule {
  static forRoot(schema: Schema): DynamicModule {
    return {
      module: CellsModule,
      imports: [MetricsModule],
      providers: [
        CellsRepository,
        {
          provide: Cells,
          inject: [Db, CellsRepository, SecretBox, Config],
          useFactory: (db: Db, repository: CellsRepository, secrets: SecretBox, config: Config) =>
            new Cells(db, repository, secrets, config, schema),
        },
        {
          provide: CellAdministration,
          inject: [Db, Cells, CellsRepository, SecretBox, Config],
          useFactory: (
            db: Db,
            cells: Cells,
            repository: CellsRepository,
            secrets: SecretBox,
            config: Config,
          ) => new CellAdministration(db, cells, repository, secrets, config, schema),
        },
        CellMetrics,
        UnfinishedCommits,
        MovesRepository,
        {
          provide: WorkspaceMoves,
          inject: [Db, Cells, CellsRepository, MovesRepository, UnfinishedCommits, PeriodicJobs],
          useFactory: (
            db: Db,
            cells: Cells,
            repository: CellsRepository,
            moves: MovesRepository,
            commits: UnfinishedCommits,
            jobs: PeriodicJobs,
          ) => new WorkspaceMoves(db, cells, repository, moves, commits, jobs, schema),
        },
      ],
      exports: [Cells, CellAdministration, UnfinishedCommits, WorkspaceMoves],
    };
  }
}
