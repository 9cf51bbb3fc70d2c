/**
 * A prepared statement: PostgreSQL parses and plans it once per connection under its name.
 * `Row` is the type of the rows it returns, stated by the repository that owns the text.
 */
export interface Statement<Row> {
  readonly name: string;
  readonly text: string;
  readonly home: HomeName;
  readonly reach: Reach;
  /** Reads a few rows by key: shares a connection with the statements of other callers (`ReadPipelines`). */
  readonly pipelined: boolean;
  /** Long values of type `text` are bytes outside of the heap, for pages of JSON: strings survive collections while a page is incomplete. */
  readonly longTextsAsBytes: boolean;
  /** Reads a list, a search, a window or an export: may run on a read replica, where it sees what it would see on the primary. */
  readonly onReplica: boolean;
  /** It is never set: it carries the row type. */
  readonly row?: Row;
}

/**
 * The databases that a statement of a workspace runs in, where workspaces are in several ones:
 *
 * - `tenant`: that of the workspace `$1`;
 * - `account`: those of all workspaces of the account `$1`, whose rows follow each other;
 * - `all`: each of them, whose rows follow each other;
 * - `cell`: the cell that the caller has chosen by `Db.inCell`, as jobs and the delivery of the outbox do; otherwise `all`;
 * - `transaction`: where the previous statement of the transaction ran.
 */
export type Reach = 'tenant' | 'account' | 'cell' | 'all' | 'transaction';

export type HomeName = 'directory' | 'workspace' | 'either' | 'mail_service';

const MAX_NAME = 63;
const declared = new Map<string, Statement<unknown>>();

/** The database that a statement and the tables that it uses belong to. Workspaces may be in several databases. */
export class Home {
  constructor(readonly name: HomeName) {}

  /**
   * @param name unique in the process, at most 63 bytes (PostgreSQL cuts longer identifiers, which would make two
   *   statements collide); empty: not prepared
   * @param text uses tables of this home and of `either` only
   * @throws RangeError for a name that is too long, or that another text has
   * @param options.reach of a statement of a workspace; default: `tenant`
   * @param options.pipelined for reads of a few rows by key: it delays the statements of other callers while it runs
   * @param options.onReplica for reads that cost more than the question whether a replica has the writes before them
   * @param options.longTextsAsBytes for pages of JSON; the caller frees the bytes (`freeBytes`), or `JsonReply.listOf` does
   */
  statement<Row>(
    name: string,
    text: string,
    {
      pipelined = false,
      reach = 'tenant',
      longTextsAsBytes = false,
      onReplica = false,
    }: { pipelined?: boolean; reach?: Reach; longTextsAsBytes?: boolean; onReplica?: boolean } = {},
  ): Statement<Row> {
    if (name.length > MAX_NAME) throw new RangeError(`statement name longer than ${MAX_NAME}: ${name}`);
    const made: Statement<Row> = Object.freeze({
      name,
      text,
      home: this.name,
      reach,
      pipelined,
      longTextsAsBytes,
      onReplica,
    });
    // PostgreSQL would run the first text, or reject the second one, once a connection has prepared both.
    if (name !== '' && (declared.get(name)?.text ?? text) !== text)
      throw new RangeError(`two statements have the name ${name}`);
    if (name !== '') declared.set(name, made);
    return made;
  }

  /**
   * An advisory lock until the end of the transaction.
   * @param subject of the lock, unique in the installation
   * @param ids number of parameters, UUIDs that the lock belongs to; of a workspace, the first is its id
   */
  lock(name: string, subject: string, ids = 1): Statement<never> {
    const key = Array.from({ length: ids }, (_, n) => `$${n + 1}::uuid`).join(` || ' ' || `);
    return this.statement(name, `SELECT pg_advisory_xact_lock(hashtextextended('${subject} ' || ${key}, 0))`);
  }
}

/** The one database of the installation: tenants, accounts, sessions, keys, sign-in, rate limits. */
export const directory = new Home('directory');

/** The database of a workspace, its cell: members and all content. Every table has `tenant_id`. */
export const workspace = new Home('workspace');

/** Tables that exist in every database: a row is in the database of the transaction that writes it. */
export const either = new Home('either');

/** The statements declared so far in this process. */
export const statements = (): readonly Statement<unknown>[] => [...declared.values()];

/** Maximum number of prepared statements of one list. */
const MAX_PREPARED = 200;

/**
 * The statements of a list, one for each combination of filters, so that each is planned for its index. Further combinations than 200
 * are not prepared, which limits the memory of connections. Shared by all applications of the process, because each name of a
 * statement must have one text.
 */
export class StatementVariants<Row> {
  private readonly prepared = new Map<string, Statement<Row>>();

  /** @param name beginning of the names of the statements */
  constructor(
    private readonly name: string,
    private readonly home: Home = workspace,
  ) {}

  /** @param variant the same for the same text @param options of `Home.statement` */
  of(
    variant: string,
    text: () => string,
    options?: { longTextsAsBytes?: boolean; onReplica?: boolean },
  ): Statement<Row> {
    const found = this.prepared.get(variant);
    if (found) return found;
    const { size } = this.prepared;
    if (size >= MAX_PREPARED) return this.home.statement<Row>('', text(), options);
    const made = this.home.statement<Row>(`${this.name}.${size}`, text(), options);
    this.prepared.set(variant, made);
    return made;
  }
}
