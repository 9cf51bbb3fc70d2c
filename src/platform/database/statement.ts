/**
 * A prepared statement: PostgreSQL parses and plans it once per connection under its name.
 * `Row` is the type of the rows it returns, stated by the repository that owns the text.
 */
export interface Statement<Row> {
  readonly name: string;
  readonly text: string;
  /** Never set: carries the row type. */
  readonly row?: Row;
}

const MAX_NAME = 63;

/**
 * @param name unique in the process, at most 63 bytes (PostgreSQL cuts longer identifiers, which would make two
 *   statements collide)
 */
export function statement<Row>(name: string, text: string): Statement<Row> {
  if (name.length > MAX_NAME) throw new RangeError(`statement name longer than ${MAX_NAME}: ${name}`);
  return Object.freeze({ name, text });
}
