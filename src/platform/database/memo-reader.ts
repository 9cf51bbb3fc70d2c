import type { Reader } from './tx.js';
import type { Statement } from './statement.js';

/**
 * A reader that executes each statement once for the same values: for a short computation whose steps read the same. The rows are
 * shared, so the caller does not change them.
 */
export class MemoReader implements Reader {
  private readonly results = new Map<string, Promise<unknown[]>>();

  constructor(private readonly reader: Reader) {}

  get dataSource(): Reader['dataSource'] {
    return this.reader.dataSource;
  }

  managerOf(tenantId: string | null): ReturnType<Reader['managerOf']> {
    return this.reader.managerOf(tenantId);
  }

  query<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    const key = JSON.stringify([statement.text, values]);
    const known = this.results.get(key);
    if (known) return known as Promise<Row[]>;
    const rows = this.reader.query(statement, values);
    this.results.set(key, rows);
    return rows;
  }
}
