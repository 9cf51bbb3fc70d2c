/**
 * A prepared statement: PostgreSQL parses and plans it once per connection under its name.
 * `Row` is the type of the rows it returns, stated by the repository that owns the text.
 */
export interface Statement<Row> {
  readonly name: string;
  readonly text: string;
  readonly home: HomeName;
  /** Reads a few rows by key: shares a connection with the statements of other callers (`ReadPipelines`). */
  readonly pipelined: boolean;
  /** Never set: carries the row type. */
  readonly row?: Row;
}

export type HomeName = 'directory' | 'workspace' | 'either' | 'mail_service';

const MAX_NAME = 63;
const declared = new Map<string, Statement<unknown>>();

/** The database that a statement and the tables it touches belong to. Workspaces may later be in several databases. */
export class Home {
  constructor(readonly name: HomeName) {}

  /**
   * @param name unique in the process, at most 63 bytes (PostgreSQL cuts longer identifiers, which would make two
   *   statements collide); empty: not prepared
   * @param text touches tables of this home, and those of `either`, only
   * @throws RangeError for a name that is too long, or that another text has
   * @param options.pipelined for reads of a few rows by key: it delays the statements of other callers while it runs
   */
  statement<Row>(name: string, text: string, { pipelined = false } = {}): Statement<Row> {
    if (name.length > MAX_NAME) throw new RangeError(`statement name longer than ${MAX_NAME}: ${name}`);
    const made: Statement<Row> = Object.freeze({ name, text, home: this.name, pipelined });
    // PostgreSQL would run the first text, or reject the second one, once a connection has prepared both.
    if (name !== '' && (declared.get(name)?.text ?? text) !== text)
      throw new RangeError(`two statements have the name ${name}`);
    if (name !== '') declared.set(name, made);
    return made;
  }
}

/** The one database of the installation: tenants, accounts, sessions, keys, sign-in, rate limits. */
export const directory = new Home('directory');

/** The database of a workspace: members and all content. Every table has `tenant_id`. */
export const workspace = new Home('workspace');

/** Tables that each database has: a row belongs to the database of the transaction that writes it. */
export const either = new Home('either');

/** The statements declared so far in this process. */
export const statements = (): readonly Statement<unknown>[] => [...declared.values()];
