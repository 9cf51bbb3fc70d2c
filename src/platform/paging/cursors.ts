import { Injectable } from '@nestjs/common';
import { Errors } from '../http/errors.js';
import { Keyring } from '../secrets/keyring.js';

/** Sort key values of a row: where the next page begins. */
type Position = readonly (string | number)[];

/** A list that is read in pages. */
interface KeysetList<Row, Key extends Position> {
  /** The list, its owner and its filters: a cursor is valid for this text only. */
  scope: string;
  /** Values of the sort key of a row. */
  key(row: Row): Key;
  /** Reads up to `limit` rows that come after `after` (undefined: from the start) in the order of the key. */
  rows(after: Key | undefined, limit: number): Promise<Row[]>;
  /**
   * Whether a row is part of the page by its bytes (`fitsPage`); rows beyond the page are read without content and come last. Missing:
   * rows are so small that their number bounds a page.
   */
  fits?(row: Row): boolean;
}

/** Rows of one page. */
export interface Page<Row> {
  rows: Row[];
  /** The cursor of the next page; null on the last one. */
  next: string | null;
}

const SIGNATURE_BYTES = 12;
/** 12 bytes are exactly 16 characters of base64url: no unused bits could differ without an invalid signature. */
const FORM = /^([\w-]+)\.([\w-]{16})$/;

/**
 * Signed keyset cursors: `<base64url JSON>.<base64url HMAC>`. The signature binds a cursor to its list and its owner: a
 * modified cursor, or the cursor of another list, is rejected and never returns another page.
 */
@Injectable()
export class Cursors {
  constructor(private readonly keyring: Keyring) {}

  /**
   * Reads one page of a list.
   * @throws ApiError 422 `invalid_cursor`
   */
  async page<Row, Key extends Position>(
    { cursor, limit }: { cursor?: string; limit: number },
    list: KeysetList<Row, Key>,
  ): Promise<Page<Row>> {
    const after = cursor === undefined ? undefined : (this.read(list.scope, cursor) as Position as Key);
    const found = await list.rows(after, limit + 1);
    const rows = found.slice(0, limit).filter((row) => list.fits?.(row) ?? true);
    const hasMore = found.length > rows.length;
    const next = hasMore ? this.write(list.scope, list.key(rows.at(-1) as Row)) : null;
    return { rows, next };
  }

  /**
   * @param scope the list and its owner, e.g. `notes:<tenant>:<user>:<filters>`; the same to write and to read
   * @param position sort key values of the last row of the page
   */
  write(scope: string, position: Position): string {
    const payload = Buffer.from(JSON.stringify(position)).toString('base64url');
    return `${payload}.${this.keyring.sign('cursor', `${scope} ${payload}`, SIGNATURE_BYTES).toString('base64url')}`;
  }

  /** @throws ApiError 422 `invalid_cursor` */
  read(scope: string, cursor: string): (string | number)[] {
    const [, payload = '', signature = ''] = FORM.exec(cursor) ?? [];
    if (!this.keyring.verify('cursor', `${scope} ${payload}`, Buffer.from(signature, 'base64url'))) {
      throw Errors.invalidCursor.with();
    }
    return JSON.parse(Buffer.from(payload, 'base64url').toString()) as (string | number)[];
  }
}
