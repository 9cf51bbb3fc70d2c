import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { hasLabels, likePattern } from '../../../platform/database/like.js';
import { StatementVariants } from '../../../platform/database/statement-variants.js';
import type { JsonText } from '../../../platform/http/json-reply.js';
import { fitsPage, PAGE_BYTES } from '../../../platform/bounded-pages/page-bytes.js';
import { NOTE_SUMMARY_BYTES } from '../note-bytes.js';
import type { ListNotes } from '../notes.dto.js';

interface NoteListQuery extends Omit<ListNotes, 'cursor'> {
  order: 'asc' | 'desc';
  /** Sort key and id of the last note of the previous page. */
  after?: readonly [string, string];
}

interface NoteListRow {
  id: string;
  /** Sort key, as text that PostgreSQL reads back exactly. */
  key: string;
  /** Null: the note exists but does not fit the page. */
  json: JsonText | null;
}

interface SortKey {
  /** Expressions of the key and, below, of the id that breaks ties, as in the index. */
  sql: string;
  id: string;
  type: string;
}

const SORT_KEYS: Record<ListNotes['sort'], SortKey> = {
  updated_at: { sql: 'member.listed_at', id: 'member.note_id', type: 'timestamptz' },
  created_at: { sql: 'note.created_at', id: 'note.id', type: 'timestamptz' },
  title: { sql: 'note.title COLLATE title_order', id: 'note.id', type: 'text' },
};

const STATES = { active: ' AND NOT member.trashed', trash: ' AND member.trashed', all: '' };
const SCOPES = {
  all: 'member.role IS NOT NULL',
  mine: `member.role = 'owner'`,
  shared: `member.role IN ('viewer', 'editor')`,
};

const STATEMENTS = new StatementVariants<NoteListRow>('notes.list');

/** Lists of notes. */
@Injectable()
export class NoteListRepository {
  constructor(private readonly db: Db) {}

  /** At most `limit` + 1 rows; rows that do not fit the page come last, without JSON. */
  async list(ctx: RequestContext, query: NoteListQuery): Promise<NoteListRow[]> {
    const {
      sort,
      order,
      state,
      scope,
      include,
      folder_id: folder,
      label: labels,
      q: titlePart,
      after,
    } = query;
    const values: unknown[] = [ctx.tenantId, ctx.userId, query.limit, PAGE_BYTES];
    let filters = STATES[state];
    let variant = `${sort}.${order}.${state}.${scope}.${include}`;
    const filter = (name: string, sql: (bind: (value: unknown) => string) => string): void => {
      filters += ` AND ${sql((value) => `$${values.push(value)}`)}`;
      variant += `.${name}`;
    };
    if (folder === 'none') filter('unfiled', () => 'member.folder_id IS NULL');
    else if (folder !== undefined) filter('folder', (bind) => `member.folder_id = ${bind(folder)}`);
    if (labels?.length) filter('labels', (bind) => hasLabels('note.labels', bind(labels)));
    if (titlePart !== undefined)
      filter('q', (bind) => `normalize(note.title) ILIKE ${bind(likePattern(titlePart))}`);
    const key = SORT_KEYS[sort];
    if (after) {
      const compare = order === 'asc' ? '>' : '<';
      filter(
        'after',
        (bind) =>
          `(${key.sql}, ${key.id}) ${compare} (${bind(after[0])}::${key.type}, ${bind(after[1])}::uuid)`,
      );
    }
    const longTextsAsBytes = include === 'content';
    const text = () => pageText(query, key, filters);
    return this.db.query(STATEMENTS.of(variant, text, { longTextsAsBytes, onReplica: true }), values);
  }
}

const NOTES = 'notes note ON note.tenant_id = member.tenant_id AND note.id = member.note_id';
const CONTENT = `(
             SELECT content FROM note_revisions
              WHERE tenant_id = member.tenant_id AND note_id = member.note_id AND revision = note.body_rev)`;

/** Reads own notes in the order of an index of `notes`. From a plain join the planner would sort all notes of an owner of many notes. */
const OWN_IN_ORDER = `notes note CROSS JOIN LATERAL (
             SELECT * FROM note_members placed
              WHERE placed.tenant_id = $1 AND placed.note_id = note.id AND placed.user_id = $2 OFFSET 0) member
            WHERE note.tenant_id = $1 AND note.owner_id = $2`;

/**
 * The default order is that of index note_members_list: the statement reads the page from it, each row once. For the other orders
 * a subquery first finds the ids of the page: own notes in the order of notes_by_title or notes_by_creation, shared ones by sorting.
 */
function pageText(
  { sort, scope, order, include, state, folder_id: folder }: NoteListQuery,
  key: SortKey,
  filters: string,
): string {
  const direction = order === 'asc' ? 'ASC' : 'DESC';
  const by = `${key.sql} ${direction}, ${key.id} ${direction}`;
  const members = `note_members member JOIN ${NOTES}`;
  const ofMember = 'WHERE note.tenant_id = $1 AND member.tenant_id = $1 AND member.user_id = $2';
  // Few notes are in a folder or in the trash: the indexes of these columns find them.
  const isSelective = (folder !== undefined && folder !== 'none') || state === 'trash';
  const ids = (of: keyof typeof SCOPES): string =>
    `SELECT note.id, ${key.sql} AS key
       FROM ${of === 'mine' && !isSelective ? OWN_IN_ORDER : `${members} ${ofMember}`} AND ${SCOPES[of]}${filters}
      ORDER BY ${by} LIMIT $3 + 1`;
  const page =
    scope === 'all' && !isSelective
      ? `(${ids('mine')}) UNION ALL (${ids('shared')}) ORDER BY key ${direction}, id ${direction} LIMIT $3 + 1`
      : ids(scope);
  const rows =
    sort === 'updated_at'
      ? members
      : `(${page}) page JOIN note_members member ON member.tenant_id = $1 AND member.note_id = page.id AND member.user_id = $2
         JOIN ${NOTES}`;
  const bytes = NOTE_SUMMARY_BYTES.replaceAll('item.', 'note.');
  const json = (content: string): string =>
    `note_member_json(note, member, (note.owner_id, owner.display_name, owner.email)::note_owner, ${content})`;
  return `SELECT note.id, (${key.sql})::text AS key,
         CASE WHEN ${fitsPage(include === 'content' ? `${bytes} + note.content_bytes` : bytes, '$3', '$4')}
              THEN ${include === 'content' ? json(CONTENT) : `note_summary(${json('NULL')})`} END AS json
    FROM ${rows}
    LEFT JOIN member_profiles owner ON owner.tenant_id = note.tenant_id AND owner.user_id = note.owner_id
   ${sort === 'updated_at' ? `${ofMember} AND ${SCOPES[scope]}${filters}` : ''}
  WINDOW page_order AS (ORDER BY ${by} ROWS UNBOUNDED PRECEDING)
   ORDER BY ${by} LIMIT $3 + 1`;
}
