import type { EntityManager } from 'typeorm';
import type { ClientBase } from 'pg';
import { tracedStatement, tracer } from '../telemetry/tracer.js';
import type { Statement } from './statement.js';

/** Anything that can read: the pool (`Db`) or an open transaction (`Tx`). Writes ask for a `Tx` by type. */
export interface Reader {
  query<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]>;

  /** TypeORM's access to the same connection or pool, for tables without a performance bar. Use it through `rowsOf`. */
  readonly manager: EntityManager;
}

/** An open transaction. Not made outside this folder: take one from `Db.tx` or `Db.single`. */
export abstract class Tx implements Reader {
  /** Makes a `Db` not assignable to a `Tx`: a forgotten transaction does not compile. */
  declare private readonly brand: never;

  abstract query<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]>;

  abstract get manager(): EntityManager;

  /** Runs `effect` once the transaction has committed; its failure is logged and changes nothing. */
  abstract afterCommit(effect: () => void): void;
}

/** Several statements between BEGIN and COMMIT on one connection. */
export class OpenTx extends Tx {
  readonly effects: (() => void)[] = [];

  constructor(
    private readonly client: ClientBase,
    readonly manager: EntityManager,
    private readonly count: () => void,
  ) {
    super();
  }

  async query<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    this.count();
    const tracing = tracer();
    return tracing
      ? tracedStatement(tracing, statement, () => this.run(statement, values))
      : this.run(statement, values);
  }

  afterCommit(effect: () => void): void {
    this.effects.push(effect);
  }

  private async run<Row>({ name, text }: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    return (await this.client.query({ name, text, values: values as unknown[] })).rows as Row[];
  }
}

/**
 * A transaction of exactly one statement, which PostgreSQL commits by itself: one round trip instead of three.
 * A second statement would be a second transaction and is therefore rejected.
 */
export class SingleTx extends Tx {
  readonly effects: (() => void)[] = [];
  private used = false;

  constructor(private readonly run: Reader) {
    super();
  }

  async query<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    if (this.used)
      throw new Error(`Db.single allows one statement; ${statement.name} is the second: use Db.tx`);
    this.used = true;
    return this.run.query(statement, values);
  }

  get manager(): EntityManager {
    throw new Error('Db.single has no entity manager: use Db.tx');
  }

  afterCommit(effect: () => void): void {
    this.effects.push(effect);
  }
}
