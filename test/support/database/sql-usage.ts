import type pg from 'pg';

interface Routine {
  name: string;
  body: string;
}
interface View {
  name: string;
  definition: string;
}

const WORD = /(?<![\w.$])"?([a-z_][a-z0-9_]*)"?(\s*\()?/gi;

/** The text without comments and string literals: names of tables, columns and functions, and keywords. */
const code = (sql: string): string =>
  sql
    .replaceAll(/--[^\n]*/g, ' ')
    .replaceAll(/'(?:[^']|'')*'/g, "''")
    .replaceAll(/\/\*[\s\S]*?\*\//g, ' ');

/**
 * Finds the tables, views and functions that a text of SQL names. It reads the names, not a plan: a plan shows nothing of
 * PL/pgSQL and omits parts that the planner proves to be empty. A name after a point is a column; an alias hides the table
 * of its name.
 */
export class SqlUsage {
  private constructor(
    private readonly tables: ReadonlySet<string>,
    private readonly views: ReadonlyMap<string, string>,
    private readonly routines: ReadonlyMap<string, string>,
  ) {}

  /** @param client connected to a migrated database, with the schema to look at first in its search path */
  static async of(client: pg.Client): Promise<SqlUsage> {
    const relations = await client.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`,
    );
    const views = await client.query<View>(
      `SELECT relname AS name, pg_get_viewdef(oid) AS definition FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind = 'v'`,
    );
    // The bodies of functions that share a name count as one.
    const routines = await client.query<Routine>(
      `SELECT proname AS name, string_agg(prosrc, E'\\n') AS body FROM pg_proc p
        WHERE pronamespace = current_schema()::regnamespace
          AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
        GROUP BY proname`,
    );
    return new SqlUsage(
      new Set(relations.rows.map(({ name }) => name)),
      new Map(views.rows.map(({ name, definition }) => [name, definition])),
      new Map(routines.rows.map(({ name, body }) => [name, body])),
    );
  }

  /** The tables, views and functions that the text itself names. */
  direct(sql: string): Set<string> {
    const found = new Set<string>();
    for (const [, word = '', call] of code(sql).matchAll(WORD)) {
      const name = word.toLowerCase();
      if (call === undefined ? this.tables.has(name) || this.views.has(name) : this.routines.has(name))
        found.add(name);
      // INSERT INTO t (columns)
      else if (call !== undefined && this.tables.has(name)) found.add(name);
    }
    return found;
  }

  /** The tables that the text touches, those within its views and functions included. */
  touched(sql: string): Set<string> {
    return new Set([...this.used(sql)].filter((name) => this.tables.has(name)));
  }

  /** The tables, views and functions that the text names, and those within them. */
  used(sql: string): Set<string> {
    const seen = new Set<string>();
    const visit = (text: string): void => {
      for (const name of this.direct(text)) {
        if (seen.has(name)) continue;
        seen.add(name);
        const inner = this.views.get(name) ?? this.routines.get(name);
        if (inner !== undefined) visit(inner);
      }
    };
    visit(sql);
    return seen;
  }

  /** Texts of the views and functions, by name. */
  get stored(): ReadonlyMap<string, string> {
    return new Map([...this.views, ...this.routines]);
  }

  get tableNames(): ReadonlySet<string> {
    return this.tables;
  }
}
