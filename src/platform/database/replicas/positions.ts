import { either, type Statement } from '../statement.js';

/** A position in the WAL of the primary. A standby that has replayed it has every change that was visible before. */
export interface Position {
  /** Text form of a `pg_lsn`. */
  lsn: string;
  /** After a fail-over, a standby of the former primary may have replayed a position of another history. */
  timeline: number;
}

/**
 * With `synchronous_commit` off, other sessions see a commit before it is in the flushed part of the WAL. pg_walfile_name() begins with
 * the timeline, as eight hexadecimal digits.
 */
export const positionOf: Statement<Position> = either.statement(
  'replicas.position',
  `SELECT current.lsn::text AS lsn, ('x' || left(pg_walfile_name(current.lsn), 8))::bit(32)::int AS timeline
     FROM (SELECT CASE current_setting('synchronous_commit') WHEN 'off' THEN pg_current_wal_insert_lsn()
                       ELSE pg_current_wal_flush_lsn() END AS lsn) current`,
  { reach: 'cell' },
);

/** Reads the position of the primary: one statement for all reads that begin while the previous one is running. */
export class Positions {
  private next: Promise<Position> | undefined;
  private running: Promise<unknown> = Promise.resolve();

  /** @param read runs a statement on the primary */
  constructor(private readonly read: (statement: Statement<Position>) => Promise<Position[]>) {}

  /** The position at a time after this call. @throws the error of the primary */
  current(): Promise<Position> {
    // The statement that is running may have read its position before this call.
    this.next ??= this.readAfter(this.running);
    return this.next;
  }

  private async readAfter(previous: Promise<unknown>): Promise<Position> {
    await previous;
    this.next = undefined;
    const rows = this.read(positionOf);
    this.running = rows.catch(() => undefined);
    return (await rows)[0] as Position;
  }
}
