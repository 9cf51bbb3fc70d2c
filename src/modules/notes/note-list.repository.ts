import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { workspace, type Statement } from '../../platform/database/statement.js';

/** Content given out in one page, bytes; the first note is given out whatever its size. */
const PAGE_BYTES = 4 * 1024 * 1024;

export type NoteSort = 'updated_at' | 'created_at' | 'title';

export interface NoteListQuery {
  sort: NoteSort;
  order: 'asc' | 'desc';
  state: 'active' | 'trash' | 'all';
  scope: 'all' | 'mine' | 'shared';
  include: 'content' | 'summary';
  /** `none`: in no folder. */
  folderId?: string;
  labels?: string[];
  titleContains?: string;
  limit: number;
  /** Sort key and id of the last note given out. */
  after?: readonly [string, string];
}

export interface NoteListRow {
  id: string;
  /** Sort key, as text that PostgreSQL reads back exactly. */
  key: string;
  /** Null: it exists but did not fit the page. */
  json: string | null;
}

const SORT_KEYS: Record<NoteSort, { sql: string; type: string }> = {
  updated_at: { sql: 'm.listed_at', type: 'timestamptz' },
  created_at: { sql: 'n.created_at', type: 'timestamptz' },
  title: { sql: 'n.title', type: 'text' },
};

const STATES = { active: ' AND NOT m.trashed', trash: ' AND m.trashed', all: '' };
const SCOPES = { all: '', mine: ' AND m.role = 3', shared: ' AND m.role < 3' };

const likePattern = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/** Lists of notes. Each combination of filters is a statement of its own, so that each is planned for its index. */
@Injectable()
export class NoteListRepository {
  private readonly statements = new Map<string, Statement<NoteListRow>>();

  constructor(private readonly db: Db) {}

  /** At most `limit` + 1 rows; those that did not fit the page come last, without JSON. */
  async list(ctx: RequestContext, query: NoteListQuery): Promise<NoteListRow[]> {
    const values: unknown[] = [ctx.tenantId, ctx.userId, query.limit, PAGE_BYTES];
    const bind = (value: unknown): string => `$${values.push(value)}`;
    const key = SORT_KEYS[query.sort];
    const direction = query.order === 'asc' ? 'ASC' : 'DESC';
    let filters = STATES[query.state] + SCOPES[query.scope];
    let variant = `${query.sort}.${direction}.${query.state}.${query.scope}.${query.include}`;
    if (query.folderId === 'none') {
      filters += ' AND m.folder_id IS NULL';
      variant += '.unfiled';
    } else if (query.folderId !== undefined) {
      filters += ` AND m.folder_id = ${bind(query.folderId)}`;
      variant += '.folder';
    }
    if (query.labels?.length) {
      filters += ` AND n.labels @> ${bind(query.labels)}::text[]`;
      variant += '.labels';
    }
    if (query.titleContains !== undefined) {
      filters += ` AND n.title ILIKE ${bind(likePattern(query.titleContains))}`;
      variant += '.q';
    }
    if (query.after) {
      const [afterKey, afterId] = query.after;
      const compare = query.order === 'asc' ? '>' : '<';
      filters += ` AND (${key.sql}, m.note_id) ${compare} (${bind(afterKey)}::${key.type}, ${bind(afterId)}::uuid)`;
      variant += '.after';
    }
    return this.db.query(this.statement(variant, key.sql, direction, filters, query.include), values);
  }

  private statement(
    variant: string,
    key: string,
    direction: string,
    filters: string,
    include: string,
  ): Statement<NoteListRow> {
    let found = this.statements.get(variant);
    if (!found) {
      // Index note_members_list serves the default order; other orders sort the caller's own notes.
      found = workspace.statement<NoteListRow>(
        `notes.list.${this.statements.size}`,
        `WITH page AS MATERIALIZED (
           SELECT m.note_id, ${key} AS key, n.content_bytes
             FROM note_members m JOIN notes n ON n.tenant_id = m.tenant_id AND n.id = m.note_id
            WHERE m.tenant_id = $1 AND m.user_id = $2 AND m.role IS NOT NULL${filters}
            ORDER BY ${key} ${direction}, m.note_id ${direction} LIMIT $3 + 1),
         sized AS (
           SELECT note_id, key, row_number() OVER w AS n, sum(content_bytes) OVER w AS bytes
             FROM page WINDOW w AS (ORDER BY key ${direction}, note_id ${direction} ROWS UNBOUNDED PRECEDING))
         SELECT s.note_id AS id, s.key::text AS key,
                CASE WHEN s.n <= $3 AND (s.n = 1 OR s.bytes <= $4) THEN ${include === 'content' ? 'v.note' : 'v.summary'} END AS json
           FROM sized s JOIN note_views v ON v.tenant_id = $1 AND v.user_id = $2 AND v.note_id = s.note_id
          ORDER BY s.n`,
      );
      this.statements.set(variant, found);
    }
    return found;
  }
}
