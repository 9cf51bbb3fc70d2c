import { Global, Module } from '@nestjs/common';
import { MetricsModule } from '../observability/metrics.module.js';
import { CellAdministration } from './cell-administration.js';
import { CellMetrics } from './cell-metrics.js';
import { CellsRepository } from './cells.repository.js';
import { Cells } from './cells.js';
import { MovesRepository } from './move/moves.repository.js';
import { WorkspaceMoves } from './move/workspace-moves.js';
import { UnfinishedCommits } from './unfinished-commits.js';

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
