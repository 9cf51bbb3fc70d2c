import { type Home, type Statement, workspace } from './statement.js';

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
