import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { hasLabels } from '../../../platform/database/like.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { RelatedItems } from '../../../platform/references/related-items.js';
import { type Found, ItemSearch } from '../../../platform/search/item-search.js';
import type { SearchQuery } from '../../../lib/search-text/index.js';
import {
  inFolder,
  type SearchFilter,
  type SearchRow,
} from '../../../platform/search/item-search.repository.js';
import { NoteIndexer } from './note-indexer.js';
import type { SearchNotes } from './notes-search.dto.js';
import type { NoteSearchEnvelope } from './notes-search.response.js';

interface NoteSearchRow extends SearchRow {
  /** JSON of the note without its content. */
  shown: string;
}

/** Search in the notes that the caller can read. */
@Injectable()
export class NotesSearchService extends ItemSearch<NoteSearchRow, NoteSearchEnvelope> {
  protected readonly plural = 'notes';
  protected readonly bodyName = 'content';

  constructor(db: Db, indexer: NoteIndexer, cursors: Cursors, related: RelatedItems) {
    super(db, indexer, cursors);
    related.register('notes', (ctx, query) => this.related(ctx, query));
  }

  /** @throws ApiError 422 `invalid_cursor` */
  search(ctx: RequestContext, input: SearchNotes): Promise<JsonReply<NoteSearchEnvelope>> {
    const { q, limit, cursor, state, folder_id: folder, label: labels } = input;
    const filter = (bind: (value: unknown) => string) => filterOf(folder, labels, bind);
    return this.respond(ctx, { q, limit, cursor, state, filter, values: [folder, labels] });
  }

  protected findable(ctx: RequestContext, query: SearchQuery): string {
    return query.readableBy(ctx.userId);
  }

  protected shown(_ctx: RequestContext, rows: Found<NoteSearchRow>[]): Promise<string[]> {
    return Promise.resolve(rows.map((row) => row.shown));
  }
}

function filterOf(
  folder: string | undefined,
  labels: string[] | undefined,
  bind: (value: unknown) => string,
): SearchFilter {
  let { variant, sql } = inFolder(folder, bind);
  if (labels?.length) {
    variant += '.labels';
    sql += ` AND EXISTS (SELECT FROM notes note WHERE note.tenant_id = $1 AND note.id = member.note_id AND ${hasLabels('note.labels', bind(labels))})`;
  }
  return { variant, sql };
}
