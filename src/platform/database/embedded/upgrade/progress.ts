import type { EmbeddedLog } from '../postmaster.js';
import type { CopiedTable } from './copy-rows.js';

const EVERY_MS = 5_000;
const MEBIBYTE = 2 ** 20;

/** Reports an upgrade: the phases, and in long ones a line every five seconds. */
export class Progress {
  private next = Date.now() + EVERY_MS;
  private table = '';
  /** Estimated bytes of complete tables, and of the parts of the others. */
  private bytes = 0;
  private rows = 0;
  private readonly parts = new Map<CopiedTable, number>();
  private name = '';
  private steps = { done: 0, all: 0 };

  /** @param total bytes of all tables as they are stored */
  constructor(
    private readonly log: Pick<EmbeddedLog, 'info'>,
    private readonly total: number,
  ) {}

  /** A table follows. @param table with its database and schema */
  begin(table: string): void {
    this.table = table;
  }

  /** Bytes of the text of rows, which need about as many bytes where they are stored. */
  countCopied(bytes: number, table: CopiedTable): void {
    const former = this.parts.get(table) ?? 0;
    const now = Math.min(former + bytes, table.bytes);
    this.parts.set(table, now);
    this.bytes += now - former;
    this.report();
  }

  /** A table is complete. */
  end(table: CopiedTable, rows: number): void {
    this.bytes += table.bytes - (this.parts.get(table) ?? 0);
    this.parts.delete(table);
    this.rows += rows;
    this.report();
  }

  /** Another kind of work begins. @param steps that it has */
  phase(name: string, steps: number): void {
    this.name = name;
    this.steps = { done: 0, all: steps };
  }

  /** A step is complete. */
  step(): void {
    this.steps.done += 1;
    if (!this.isDue()) return;
    this.log.info(`${this.name}: ${this.steps.done} of ${this.steps.all}`);
  }

  private report(): void {
    if (!this.isDue()) return;
    const [done, all] = [this.bytes, this.total].map((bytes) => Math.round(bytes / MEBIBYTE));
    const percent = Math.floor((100 * this.bytes) / Math.max(this.total, 1));
    this.log.info(`Copied ${percent} % (${done} of ${all} MiB), ${this.rows} rows; now ${this.table}`);
  }

  private isDue(): boolean {
    if (Date.now() < this.next) return false;
    this.next = Date.now() + EVERY_MS;
    return true;
  }
}
