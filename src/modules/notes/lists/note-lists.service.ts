import { Injectable } from '@nestjs/common';
import { boundedPage, fitsPage, PAGE_BYTES } from '../../../platform/bounded-pages/page-bytes.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { containsSql, hasLabels, hasSpellings } from '../../../platform/database/like.js';
import { StatementVariants } from '../../../platform/database/statement.js';
import { Errors } from '../../../platform/http/errors.js';
import { JsonReply, type JsonText } from '../../../platform/http/json-reply.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import type { PageQuery } from '../../../platform/paging/page.dto.js';
import { revisionReply } from '../note.presenter.js';
import {
  type ListNotes,
  NoteErrors,
  type NoteListEnvelope,
  type NoteRevisionEnvelope,
  type NoteRevisionListEnvelope,
} from '../notes.dto.js';
import { NOTE_SUMMARY_BYTES, NotesRepository, type RevisionRow } from '../notes.repository.js';

interface NoteListQuery extends Omit<ListNotes, 'cursor'> {
  order: 'asc' | 'desc';
  /** Sort key and id of the last note of the previous page. */
  after?: readonly [string, string];
}

interface NoteListRow {
  id: string;
  /** Sort key, as text that PostgreSQL reads back exactly. */
  key: string;
  /** Null means that the note exists but does not fit the page. */
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
      filter(hasSpellings(titlePart) ? 'q_spelled' : 'q', (bind) =>
        containsSql('note.title', titlePart, bind),
      );
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
 * The default order is that of index note_members_list: the statement reads the page from it, each row once. In the other orders, it
 * first finds the ids of the page: own notes in the order of notes_by_title or notes_by_creation, shared ones by sorting.
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
  const summaryBytes = NOTE_SUMMARY_BYTES.replaceAll('item.', 'note.');
  const bytes = include === 'content' ? `${summaryBytes} + note.content_bytes` : summaryBytes;
  const member =
    'note_member_json(note, member, (note.owner_id, owner.display_name, owner.email)::note_owner';
  const json = include === 'content' ? `${member}, ${CONTENT})` : `note_summary(${member}, NULL))`;
  const owner =
    'LEFT JOIN member_profiles owner ON owner.tenant_id = note.tenant_id AND owner.user_id = note.owner_id';
  if (sort === 'updated_at')
    return `SELECT note.id, (${key.sql})::text AS key, CASE WHEN ${fitsPage(bytes, '$3', '$4')} THEN ${json} END AS json
      FROM ${members} ${owner}
      ${ofMember} AND ${SCOPES[scope]}${filters}
    WINDOW page_order AS (ORDER BY ${by} ROWS UNBOUNDED PRECEDING)
     ORDER BY ${by} LIMIT $3 + 1`;
  // Few notes are in a folder or in the trash: the indexes of these columns find them.
  const isSelective = (folder !== undefined && folder !== 'none') || state === 'trash';
  const keys = (of: keyof typeof SCOPES): string =>
    `SELECT note.id, ${key.sql} AS key, ${bytes} AS bytes
       FROM ${of === 'mine' && !isSelective ? OWN_IN_ORDER : `${members} ${ofMember}`} AND ${SCOPES[of]}${filters}
      ORDER BY ${by} LIMIT $3 + 1`;
  return boundedPage({
    keys:
      scope === 'all' && !isSelective
        ? `(${keys('mine')}) UNION ALL (${keys('shared')}) ORDER BY key ${direction}, id ${direction} LIMIT $3 + 1`
        : keys(scope),
    order: `sized.key ${direction}, sized.id ${direction}`,
    limit: '$3',
    bytes: '$4',
    columns: 'sized.id, sized.key::text AS key, shown.json',
    shown: {
      columns: `${json} AS json`,
      from: `${members} ${owner} ${ofMember} AND member.note_id = sized.id`,
    },
  });
}

/** Above every revision: the list of revisions begins here. */
const NEWEST = 2_147_483_647;

/** Pages of notes and of the history of a note. */
@Injectable()
export class NoteListsService {
  constructor(
    private readonly lists: NoteListRepository,
    private readonly notes: NotesRepository,
    private readonly cursors: Cursors,
  ) {}

  async list(ctx: RequestContext, query: ListNotes): Promise<JsonReply<NoteListEnvelope>> {
    const { cursor, sort, state, scope, folder_id, label, q } = query;
    const order = query.order ?? (sort === 'title' ? 'asc' : 'desc');
    const filters = JSON.stringify([sort, order, state, scope, folder_id, label, q]);
    const page = `notes ${ctx.tenantId} ${ctx.userId} ${filters}`;
    const after = cursor === undefined ? undefined : (this.cursors.read(page, cursor) as [string, string]);
    const rows = await this.lists.list(ctx, { ...query, order, after });
    const given = rows.filter((row) => row.json !== null);
    const last = given.at(-1);
    const next = last && given.length < rows.length ? this.cursors.write(page, [last.key, last.id]) : null;
    const notes = given.map((row) => row.json as JsonText);
    return JsonReply.listOf('notes', notes, { next });
  }

  /** @throws ApiError 404 when the caller may not read the note */
  async revisions(
    ctx: RequestContext,
    id: string,
    query: PageQuery,
  ): Promise<JsonReply<NoteRevisionListEnvelope>> {
    const { rows, next } = await this.cursors.page(query, {
      scope: `revisions ${ctx.tenantId} ${ctx.userId} ${id}`,
      key: ({ revision }: RevisionRow & { fits: boolean }): [number] => [revision ?? 0],
      fits: (row) => row.fits,
      rows: async (before, limit) => {
        const revisions = await this.notes.listRevisions(ctx, id, before?.[0] ?? NEWEST, limit);
        if (!revisions) throw NoteErrors.notFound.with();
        return revisions;
      },
    });
    const revisions = rows.map((row) => row.json as string);
    return JsonReply.listOf('revisions', revisions, { next });
  }

  /**
   * @param revision as in the path
   * @throws ApiError 422 `invalid_revision` for anything but a number, 404 for an unknown note or revision
   */
  async revision(
    ctx: RequestContext,
    id: string,
    revision: string,
  ): Promise<JsonReply<NoteRevisionEnvelope>> {
    if (!/^[1-9]\d{0,9}$/.test(revision))
      throw Errors.invalidRevision.with({
        message: 'The revision in the path must be a whole number, 1 or higher.',
      });
    const row = await this.notes.readRevision(ctx, id, Math.min(Number(revision), NEWEST));
    if (!row) throw NoteErrors.notFound.with();
    if (row.json === null) throw NoteErrors.revisionNotFound.with();
    return revisionReply(row.json);
  }
}
