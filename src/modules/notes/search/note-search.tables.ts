import type { SearchTables } from '../../../platform/search/search-tables.js';
import { NOTE_SUMMARY_BYTES } from '../note-bytes.js';

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
