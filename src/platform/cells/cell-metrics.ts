import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Metrics } from '../observability/metrics.js';
import { CellAdministration } from './cell-administration.js';

/** Prometheus metrics of the cells. */
@Injectable()
export class CellMetrics implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    private readonly cells: CellAdministration,
  ) {}

  onModuleInit(): void {
    this.metrics.databaseGauges({
      gauges: {
        cell_up: 'Whether the database of a cell responds to this process.',
        cell_workspaces: 'Number of workspaces in a cell.',
      },
      labelNames: ['cell'],
      read: async () =>
        (await this.cells.list()).map(({ name, available, workspaces }) => ({
          labels: { cell: name },
          values: { cell_up: available ? 1 : 0, cell_workspaces: workspaces },
        })),
    });
  }
}
