import type { SearchTables } from '../../../platform/search/search-tables.js';

/** Tables of the search in notes. The readers of a note are its members. */
export const NOTE_SEARCH: SearchTables = {
  name: 'notes',
  items: 'notes',
  index: 'note_search',
  members: 'note_members',
  view: 'note_views',
  shown: ['summary'],
  item: 'note_id',
  readers: 'n.member_ids::text[]',
  audience: 'note_audience(n.member_ids)',
  body: 'r.content',
  bodyJoin:
    'JOIN note_revisions r ON r.tenant_id = n.tenant_id AND r.note_id = n.id AND r.revision = n.body_rev',
  bodyBytes: 'n.content_bytes',
  event: `e.type LIKE 'note.%'`,
  findable: '$3::tsquery',
};
