import type { Logger } from 'pino';

interface ExportResult {
  code: number;
  error?: Error;
}

interface Exporter<Items> {
  export(items: Items, done: (result: ExportResult) => void): void;
}

/** Code of a successful export in the SDK. */
const SUCCESS = 0;

/** Logs the first failure of the exports to a collector, and the first success after failures. */
export class ExportReport {
  private isFailing = false;

  constructor(
    private readonly log: Logger,
    private readonly signal: 'traces' | 'metrics',
  ) {}

  /** @returns the exporter, whose results are reported */
  watch<Items, E extends Exporter<Items>>(exporter: E & Exporter<Items>): E {
    const send = exporter.export.bind(exporter);
    exporter.export = (items, done) =>
      send(items, (result) => {
        this.report(result);
        done(result);
      });
    return exporter;
  }

  private report({ code, error }: ExportResult): void {
    const failed = code !== SUCCESS;
    if (failed === this.isFailing) return;
    this.isFailing = failed;
    const { signal } = this;
    if (failed)
      this.log.warn({ signal, err: error }, 'the collector does not accept telemetry; requests are served');
    else this.log.info({ signal }, 'the collector accepts telemetry again');
  }
}
