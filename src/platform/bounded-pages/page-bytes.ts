/**
 * Approximate bytes of one page of a list, feed or search. The first row is part of the page whatever its size; content beyond the
 * page is not read.
 */
export const PAGE_BYTES = 4 * 1024 * 1024;

/** How many items of a size a page has: one at least, `most` at most. */
export const countFitting = (bytes: number, most: number): number =>
  Math.max(1, Math.min(most, Math.floor(PAGE_BYTES / bytes)));

/** Texts in pages that end at their bytes. The last text of a page may exceed them. */
export async function* inPages<T extends { text: string }>(texts: AsyncIterable<T>): AsyncGenerator<T[]> {
  let page: T[] = [];
  let bytes = 0;
  for await (const each of texts) {
    page.push(each);
    bytes += each.text.length;
    if (bytes < PAGE_BYTES) continue;
    yield page;
    [page, bytes] = [[], 0];
  }
  if (page.length > 0) yield page;
}

/**
 * SQL: whether a row is part of the page by number and by bytes, in a statement with `WINDOW <window> AS (ORDER BY <the order of the
 * page> ROWS UNBOUNDED PRECEDING)`.
 * @param size expression of the bytes of a row, which must not read the content itself
 */
export const fitsPage = (size: string, limit: string, bytes: string, window = 'page_order'): string =>
  `(row_number() OVER ${window} <= ${limit}
    AND (row_number() OVER ${window} = 1 OR sum(${size}) OVER ${window} <= ${bytes}))`;

/** The parts of a statement that reads a page, ended by its number of rows and by its bytes. */
interface BoundedPage {
  /** SELECT that finds keys of the rows, up to the limit, in their order; `bytes` is the size of a row, without reading its content. */
  keys: string;
  /** The order of the page, over the row `sized` of the keys. */
  order: string;
  /** Parameters: the maximum number of rows, and of bytes. */
  limit: string;
  bytes: string;
  /** Columns of the result, over `sized` and `shown`. `sized.fits` is whether the row is part of the page; its content is null otherwise. */
  columns: string;
  /** FROM of the content of the row `sized`, with its columns. */
  shown: { columns: string; from: string };
}

/**
 * SQL of a page that ends at its bytes: the statement finds the keys of the page first, and then reads content by key, for the rows of
 * the page only. OFFSET 0 keeps any plan from reading the content of other rows.
 */
export const boundedPage = ({ keys, order, limit, bytes, columns, shown }: BoundedPage): string => `
  WITH page AS MATERIALIZED (${keys}),
  fitting AS MATERIALIZED (
    SELECT sized.*, ${fitsPage('sized.bytes', limit, bytes)} AS fits
      FROM page sized WINDOW page_order AS (ORDER BY ${order} ROWS UNBOUNDED PRECEDING))
  SELECT ${columns} FROM fitting sized
    LEFT JOIN LATERAL (SELECT ${shown.columns} FROM ${shown.from} AND sized.fits OFFSET 0) shown ON true
   ORDER BY ${order}`;

/** SQL: the bytes of texts. PostgreSQL knows the length of a stored text without reading it. */
export const textBytes = (...columns: string[]): string =>
  columns.map((column) => `coalesce(octet_length(${column}), 0)`).join(' + ');

/** SQL: about the bytes of JSON columns as text. Only compressed values are read, because the stored size tells nothing about them. */
export const jsonBytes = (...columns: string[]): string =>
  columns
    .map(
      (
        column,
      ) => `CASE WHEN pg_column_compression(${column}) IS NULL THEN coalesce(pg_column_size(${column}), 0)
         ELSE octet_length(${column}::text) END`,
    )
    .join(' + ');
