/**
 * Approximate bytes of one page of a list, feed or search. The first row is part of the page whatever its size; content beyond the
 * page is not read.
 */
export const PAGE_BYTES = 4 * 1024 * 1024;

/**
 * SQL: whether a row is part of the page by number and by bytes, in a statement with `WINDOW <window> AS (ORDER BY <the order of the
 * page> ROWS UNBOUNDED PRECEDING)`.
 * @param size expression of the bytes of a row, which must not read the content itself
 */
export const fitsPage = (size: string, limit: string, bytes: string, window = 'page_order'): string =>
  `(row_number() OVER ${window} <= ${limit}
    AND (row_number() OVER ${window} = 1 OR sum(${size}) OVER ${window} <= ${bytes}))`;

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
