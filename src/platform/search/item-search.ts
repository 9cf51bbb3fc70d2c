import { beginningSnippet, highlight, MAX_TERMS, SearchQuery, snippet } from '../../lib/search-text/index.js';
import type { RequestContext } from '../context/request-context.js';
import { fieldError } from '../http/errors.js';
import { JsonReply, withMembers } from '../http/json-reply.js';
import type { Db } from '../database/db.js';
import type { Cursors } from '../paging/cursors.js';
import type { RelatedItem, RelatedQuery } from '../references/related-items.js';
import { indexedItem, type ItemIndexer } from './item-indexer.js';
import {
  type ItemSearchQuery,
  ItemSearchRepository,
  type Overlay,
  type SearchRow,
} from './item-search.repository.js';

/** Limits for the caller's changes that are not indexed yet and that a search indexes itself: their number, bytes of bodies. */
const PENDING_CHANGES = 200;
const PENDING_BYTES = 4 * 1024 * 1024;
/** Best hits of a page whose whole body is read if its beginning has no match, and the limit for their bytes. */
const DEEP_ITEMS = 3;
const DEEP_BYTES = 4 * 1024 * 1024;

/** Weights of the scores of related items that match the first text, and of those that match a later one. */
const FIRST_TEXT_WEIGHT = 0.8;
const OTHER_TEXT_WEIGHT = 0.5;
const round = (score: number): number => Math.round(score * 1000) / 1000;

const tooManyWords = () =>
  fieldError('q', 'too_many_words', `q must have at most ${MAX_TERMS} different words`);

export type Found<Row> = Row & { id: string };

/** A search request: the query text and its filters. */
export interface SearchInput extends Pick<ItemSearchQuery, 'state' | 'filter' | 'limit'> {
  q: string;
  cursor: string | undefined;
  /** Values of the filter: a cursor is valid for the same search only. */
  values: readonly unknown[];
}

/** Search in the items that the caller can read. A subclass for each kind shapes the hits. */
export abstract class ItemSearch<Row extends SearchRow, Envelope> {
  /** Names of the list and of the excerpt of the body in the response. */
  protected abstract readonly plural: keyof Envelope & string;
  protected abstract readonly bodyName: string;

  private readonly searches: ItemSearchRepository<Row>;

  constructor(
    db: Db,
    private readonly indexer: ItemIndexer,
    private readonly cursors: Cursors,
  ) {
    this.searches = new ItemSearchRepository(db, indexer.tables);
  }

  /** Text form of the tsquery for `findable` of the tables. */
  protected abstract composeFindable(ctx: RequestContext, query: SearchQuery): string;

  /** The JSON of each hit, without score and excerpts. */
  protected abstract presentRows(ctx: RequestContext, rows: Found<Row>[]): Promise<string[]>;

  /** Texts that the caller sees in place of the indexed texts; null: the indexed texts. The body is HTML. */
  protected textsOf(_ctx: RequestContext, _row: Row): { title: string; body: string } | null {
    return null;
  }

  /** `{ <plural>, total, next, query }`. @throws ApiError 422 `invalid_cursor`; `validation_failed` for too many words */
  protected async respond(ctx: RequestContext, input: SearchInput): Promise<JsonReply<Envelope>> {
    const { q, limit, state, filter, values, cursor } = input;
    const scope = `search.${this.plural} ${ctx.tenantId} ${ctx.userId} ${JSON.stringify([q, state, ...values])}`;
    const after =
      cursor === undefined ? undefined : (this.cursors.read(scope, cursor) as [string, string, string]);
    const query = SearchQuery.parse(q);
    if (query.isEmpty) return this.reply([], 0, null, q);
    if (query.isTooLong) throw tooManyWords();
    const findable = this.composeFindable(ctx, query);
    const { match, rank } = query;
    const rows = await this.find(ctx, { findable, match, rank, state, filter, limit, after, overlay: [] });
    const found = rows.filter((row) => row.id !== null);
    const page = found.slice(0, limit).filter(({ fits }) => fits) as Found<Row>[];
    const last = page.at(-1);
    const next =
      last && found.length > page.length
        ? this.cursors.write(scope, [last.score, last.listed, last.id])
        : null;
    const excerpts = await this.excerpts(ctx, query, page);
    const items = await this.presentRows(ctx, page);
    const hits = page.map((row, n) => {
      const own = this.textsOf(ctx, row);
      const highlights = {
        title: highlight(own?.title ?? row.title, query),
        [this.bodyName]: own ? snippet(own.body, query).html : excerpts[n],
      };
      return withMembers(items[n] as string, { score: Number(row.score), highlights });
    });
    return this.reply(hits, rows[0]?.total ?? 0, next, q);
  }

  /**
   * The best hits of any of the texts, without excerpts. Changes that are not indexed yet are missing.
   * @param query texts, the most specific one first
   */
  async findRelated(ctx: RequestContext, { texts, limit }: RelatedQuery): Promise<RelatedItem[]> {
    const found = new Map<string, RelatedItem>();
    for (const [n, text] of texts.entries()) {
      const query = SearchQuery.parse(text);
      if (query.isEmpty || query.isTooLong) continue;
      const { match, rank } = query;
      const findable = this.composeFindable(ctx, query);
      const filter = () => ({ variant: '', sql: '' });
      const rows = await this.searches.search(ctx, {
        findable,
        match,
        rank,
        state: 'active',
        filter,
        limit,
        overlay: [],
      });
      const weight = n === 0 ? FIRST_TEXT_WEIGHT : OTHER_TEXT_WEIGHT;
      for (const row of rows) {
        const { id, score, listed } = row;
        if (id !== null && row.fits && !found.has(id))
          found.set(id, {
            id,
            title: this.textsOf(ctx, row)?.title ?? row.title,
            reason: 'title',
            score: round(weight * Math.min(1, 0.5 + Number(score) / 2)),
            date: new Date(listed).toISOString(),
          });
      }
    }
    return [...found.values()];
  }

  private reply(hits: string[], total: number, next: string | null, query: string): JsonReply<Envelope> {
    return JsonReply.namedList([this.plural], hits, { total, next, query });
  }

  /**
   * Finds items, also by the caller's latest changes: if these are not in the index yet, the search runs again with their words. It
   * also runs again if no such change is left, because they may have been indexed after the first search.
   */
  private async find(ctx: RequestContext, query: ItemSearchQuery): Promise<Row[]> {
    const rows = await this.searches.search(ctx, query);
    if (!rows[0]?.pending) return rows;
    const items = await this.indexer.index.listPending(
      ctx.tenantId,
      ctx.userId,
      PENDING_CHANGES,
      PENDING_BYTES,
    );
    const overlay: Overlay[] = [];
    for (const item of items)
      overlay.push({ id: item.id, revision: item.revision, ...(await indexedItem(item)) });
    return this.searches.search(ctx, { ...query, overlay });
  }

  private async excerpts(ctx: RequestContext, query: SearchQuery, rows: Found<Row>[]): Promise<string[]> {
    const excerpts = rows.map(({ beginning }) =>
      beginning === null ? undefined : beginningSnippet(beginning, query),
    );
    const isUnknown = (n: number): boolean => excerpts[n] === undefined;
    const isDeep = (n: number): boolean => excerpts[n]?.found === false;
    const wanted = [...rows.keys()];
    const read = [...wanted.filter(isUnknown), ...wanted.filter(isDeep).slice(0, DEEP_ITEMS)];
    if (read.length > 0) {
      const ids = read.map((n) => (rows[n] as Found<Row>).id);
      const bodies = await this.searches.bodies(ctx, ids, DEEP_BYTES);
      for (const { id, content } of bodies)
        excerpts[read[ids.indexOf(id)] as number] = snippet(content, query);
    }
    return excerpts.map((excerpt) => excerpt?.html ?? '');
  }
}
