import pg from 'pg';

/** A column of a result, as PostgreSQL describes it. */
export interface DescribedColumn {
  name: string;
  /** The kind of its values in JavaScript, as the driver reads them. `any`: JSON. */
  kind: string;
  type: string;
  /** Of a column that comes from a table as it is; null for any other one. */
  isNotNull: boolean | null;
}

interface Field {
  name: string;
  dataTypeID: number;
  tableID: number;
  columnID: number;
}

/** Parses and describes a statement without running it. */
class Description {
  private fields: Field[] = [];
  private readonly done = Promise.withResolvers<Field[]>();

  constructor(private readonly text: string) {}

  static of(client: pg.Client, text: string): Promise<Field[]> {
    return client.query(new Description(text)).done.promise;
  }

  submit(connection: pg.Connection): void {
    const { parse, describe, sync } = connection as unknown as Record<string, (message?: unknown) => void>;
    parse?.call(connection, { text: this.text, name: '', types: [] });
    describe?.call(connection, { type: 'S', name: '' });
    sync?.call(connection);
  }
  handleRowDescription({ fields }: { fields: Field[] }): void {
    this.fields = fields;
  }
  handleError(error: Error): void {
    this.done.reject(error);
  }
  handleReadyForQuery(): void {
    this.done.resolve(this.fields);
  }
}

/** Types of PostgreSQL that the driver does not read as text. */
const KINDS: Record<string, string> = {
  bool: 'boolean',
  int2: 'number',
  int4: 'number',
  oid: 'number',
  float4: 'number',
  float8: 'number',
  timestamptz: 'Date',
  timestamp: 'Date',
  date: 'Date',
  bytea: 'Buffer',
  json: 'any',
  jsonb: 'any',
  interval: 'object',
  point: 'object',
};

/** Describes statements on a database. */
export class DescribedRows {
  private constructor(
    private readonly client: pg.Client,
    private readonly types: ReadonlyMap<number, { name: string; kind: string }>,
    private readonly notNull: ReadonlyMap<string, boolean>,
  ) {}

  static async of(client: pg.Client): Promise<DescribedRows> {
    const types = await client.query<{ oid: number; typname: string; is_parsed: boolean }>(
      // The driver reads arrays of our own types as text: those of PostgreSQL have lower numbers.
      `SELECT oid::int, typname, typcategory = 'A' AND oid < 16384 AS is_parsed FROM pg_type`,
    );
    const columns = await client.query<{ column: string; not_null: boolean }>(
      `SELECT attrelid || '.' || attnum AS column, attnotnull AS not_null
         FROM pg_attribute JOIN pg_class relation ON relation.oid = attrelid
        WHERE relkind IN ('r', 'p') AND attnum > 0`,
    );
    return new DescribedRows(
      client,
      new Map(
        types.rows.map(({ oid, typname, is_parsed }) => [
          oid,
          { name: typname, kind: is_parsed ? 'array' : (KINDS[typname] ?? 'string') },
        ]),
      ),
      new Map(columns.rows.map(({ column, not_null }) => [column, not_null])),
    );
  }

  /** @throws DatabaseError for a text that PostgreSQL rejects */
  async columns(text: string): Promise<DescribedColumn[]> {
    const fields = await Description.of(this.client, text);
    return fields.map(({ name, dataTypeID, tableID, columnID }) => {
      const type = this.types.get(dataTypeID);
      return {
        name,
        type: type?.name ?? 'unknown',
        kind: type?.kind ?? 'string',
        isNotNull: this.notNull.get(`${tableID}.${columnID}`) ?? null,
      };
    });
  }
}
