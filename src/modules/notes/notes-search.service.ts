import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import type { JsonReply } from '../../platform/http/json-reply.js';
import { Cursors } from '../../platform/paging/cursors.js';
import { beginningSnippet, highlight, snippet } from '../../platform/search/highlight.js';
import { SearchQuery } from '../../platform/search/search-query.js';
import { NoteIndexRepository } from './note-index.repository.js';
import { indexedNote } from './note-indexer.js';
import { searchHit, searchReply } from './note-search.presenter.js';
import type { SearchNotes } from './notes-search.dto.js';
import {
  type NoteSearchQuery,
  type NoteSearchRow,
  NotesSearchRepository,
  type Overlay,
} from './notes-search.repository.js';

/** Changes of the caller's, not yet indexed, that a search reads by itself: how many, and bytes of content. */
const PENDING_CHANGES = 200;
const PENDING_BYTES = 4 * 1024 * 1024;
/** The best hits of a page whose body is read when nothing matches in its beginning, and bytes of content for that. */
const DEEP_NOTES = 3;
const DEEP_BYTES = 4 * 1024 * 1024;

/** Search among the notes that the caller may see. */
@Injectable()
export class NotesSearchService {
  constructor(
    private readonly searches: NotesSearchRepository,
    private readonly index: NoteIndexRepository,
    private readonly cursors: Cursors,
  ) {}

  /** @throws ApiError 422 `invalid_cursor` */
  async search(ctx: RequestContext, input: SearchNotes): Promise<JsonReply> {
    const { q, limit, state, folder_id: folderId, label: labels } = input;
    const scope = `search.notes ${ctx.tenantId} ${ctx.userId} ${JSON.stringify([q, state, folderId, labels])}`;
    const after =
      input.cursor === undefined
        ? undefined
        : (this.cursors.read(scope, input.cursor) as [string, string, string]);
    const query = SearchQuery.parse(q);
    if (query.isEmpty) return searchReply([], 0, null, q);
    const rows = await this.find(ctx, {
      readable: query.readableBy(ctx.userId),
      match: query.match,
      rank: query.rank,
      state,
      folderId,
      labels,
      limit,
      after,
      overlay: [],
    });
    const found = rows.filter((row) => row.id !== null);
    const given = found.slice(0, limit) as (NoteSearchRow & { id: string })[];
    const last = given.at(-1);
    const next =
      last && found.length > given.length
        ? this.cursors.write(scope, [last.score, last.listed, last.id])
        : null;
    const excerpts = await this.excerpts(ctx, query, given);
    const hits = given.map((row, n) =>
      searchHit(row.summary, row.score, highlight(row.title, query), excerpts[n] as string),
    );
    return searchReply(hits, rows[0]?.total ?? 0, next, q);
  }

  /**
   * What the caller has just written may not be in the index yet: then its words go along with the question. Asked again
   * even when there are none: they may have come into the index in between.
   */
  private async find(ctx: RequestContext, query: NoteSearchQuery): Promise<NoteSearchRow[]> {
    const rows = await this.searches.search(ctx, query);
    if (!rows[0]?.pending) return rows;
    const notes = await this.index.pending(ctx.tenantId, ctx.userId, PENDING_CHANGES, PENDING_BYTES);
    const overlay: Overlay[] = [];
    for (const note of notes)
      overlay.push({ id: note.id, revision: note.revision, ...(await indexedNote(note)) });
    return this.searches.search(ctx, { ...query, overlay });
  }

  private async excerpts(
    ctx: RequestContext,
    query: SearchQuery,
    rows: (NoteSearchRow & { id: string })[],
  ): Promise<string[]> {
    const excerpts = rows.map(({ beginning }) =>
      beginning === null ? undefined : beginningSnippet(beginning, query),
    );
    const isUnknown = (n: number): boolean => excerpts[n] === undefined;
    const isDeep = (n: number): boolean => excerpts[n]?.found === false;
    const wanted = [...rows.keys()];
    const read = [...wanted.filter(isUnknown), ...wanted.filter(isDeep).slice(0, DEEP_NOTES)];
    if (read.length > 0) {
      const ids = read.map((n) => (rows[n] as { id: string }).id);
      const bodies = await this.searches.bodies(ctx, ids, DEEP_BYTES);
      for (const { id, content } of bodies)
        excerpts[read[ids.indexOf(id)] as number] = snippet(content, query);
    }
    return excerpts.map((excerpt) => excerpt?.html ?? '');
  }
}
