import { Controller, Injectable, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { SearchQuery } from '../../../lib/search-text/index.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { hasLabels } from '../../../platform/database/like.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { RelatedItems } from '../../../platform/references/related-items.js';
import { ItemIndexer } from '../../../platform/search/item-indexer.js';
import { type Found, ItemSearch } from '../../../platform/search/item-search.js';
import {
  inFolder,
  type SearchFilter,
  type SearchRow,
} from '../../../platform/search/item-search.repository.js';
import type { SearchTables } from '../../../platform/search/search-tables.js';
import { NOTE_SUMMARY_BYTES } from '../notes.repository.js';
import { NoteSearchEnvelope, SearchNotes } from './notes-search.dto.js';

/** Tables of the search in notes. The readers of a note are its members. */
export const NOTE_SEARCH: SearchTables = {
  name: 'notes',
  items: 'notes',
  index: 'note_search',
  members: 'note_members',
  view: 'note_views',
  shown: ['summary'],
  item: 'note_id',
  readers: 'item.member_ids::text[]',
  audience: 'note_audience(item.member_ids)',
  // A look-up by the whole key: from a join the planner may read all revisions of the note.
  body: '(SELECT content FROM note_revisions WHERE tenant_id = item.tenant_id AND note_id = item.id AND revision = item.body_rev)',
  bodyBytes: 'item.content_bytes',
  hitBytes: NOTE_SUMMARY_BYTES,
  event: `event.type LIKE 'note.%'`,
  findable: '$3::tsquery',
};

const EVENTS = [
  'note.created',
  'note.updated',
  'note.trashed',
  'note.restored',
  'note.shared',
  'note.purged',
];

/** Keeps the search index of notes up to date. */
@Injectable()
export class NoteIndexer extends ItemIndexer {
  constructor(db: Db, outbox: Outbox, jobs: PeriodicJobs) {
    super(db, NOTE_SEARCH, outbox, jobs, {
      name: 'note-search',
      types: EVENTS,
      often: ['note.created', 'note.updated'],
    });
  }
}

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
    related.register('notes', (ctx, query) => this.findRelated(ctx, query));
  }

  /** @throws ApiError 422 `invalid_cursor` */
  search(ctx: RequestContext, input: SearchNotes): Promise<JsonReply<NoteSearchEnvelope>> {
    const { q, limit, cursor, state, folder_id: folder, label: labels } = input;
    const filter = (bind: (value: unknown) => string) => filterOf(folder, labels, bind);
    return this.respond(ctx, { q, limit, cursor, state, filter, values: [folder, labels] });
  }

  protected composeFindable(ctx: RequestContext, query: SearchQuery): string {
    return query.readableBy(ctx.userId);
  }

  protected presentRows(_ctx: RequestContext, rows: Found<NoteSearchRow>[]): Promise<string[]> {
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

@ApiTags('notes')
@Controller('search/notes')
export class NotesSearchController {
  constructor(private readonly notes: NotesSearchService) {}

  @Endpoint('GET', {
    id: 'searchNotes',
    summary: 'Search notes',
    description:
      'Searches the notes you own and those shared with you, best match first. Your own changes are found at once, changes of others within about a second.',
    response: [NoteSearchEnvelope, 'A page of notes.'],
    errors: [Errors.invalidCursor],
  })
  search(@Ctx() ctx: RequestContext, @Query() query: SearchNotes) {
    return this.notes.search(ctx, query);
  }
}
