import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import type { IndexedDocument } from '../../platform/search/index-document.js';
import { type Statement, statement } from '../../platform/database/statement.js';

/** Matches that are ranked and counted: the most recently changed ones. Bounds the cost of a word that every note has. */
export const MAX_MATCHES = 1_000;
/** Notes of somebody that are looked at one by one; with more of them the index of words is asked. */
const FEW_NOTES = 300;
/** Characters that are read of a body when there is no room for the whole. */
const FIRST_PART = 16_384;

/** What the index does not hold yet of a note. */
export interface Overlay extends IndexedDocument {
  id: string;
  revision: number;
}

export interface NoteSearchQuery {
  /** Text form of a tsquery: the terms and the caller's lexeme. */
  readable: string;
  /** The same without the lexeme, for notes whose access is known. */
  match: string;
  rank: string;
  state: 'active' | 'trash' | 'all';
  folderId?: string;
  labels?: string[];
  limit: number;
  /** Score, time and id of the last note given out. */
  after?: readonly [string, string, string];
  overlay: readonly Overlay[];
}

export interface NoteSearchRow {
  /** All matches, up to `MAX_MATCHES`; on every row. */
  total: number;
  /** Whether changes of the caller's wait to be indexed; on every row. */
  pending: boolean;
  /** Null on the only row of an empty page. */
  id: string | null;
  /** Both as text that PostgreSQL reads back exactly. */
  score: string;
  listed: string;
  title: string;
  summary: string;
  /** How the text of the note begins; null when the index has that of another revision. */
  beginning: string | null;
}

const STATES = { active: ' AND NOT m.trashed', trash: ' AND m.trashed', all: '' };

const bodies = statement<{ id: string; content: string }>(
  'notes.search_bodies',
  `WITH wanted AS MATERIALIZED (
     SELECT n.id, n.body_rev, u.n, sum(n.content_bytes) OVER (ORDER BY u.n) AS bytes
       FROM unnest($3::uuid[]) WITH ORDINALITY AS u (id, n)
       JOIN notes n ON n.tenant_id = $1 AND n.id = u.id
       JOIN note_members m ON m.tenant_id = $1 AND m.note_id = n.id AND m.user_id = $2 AND m.role IS NOT NULL)
   SELECT w.id, CASE WHEN w.n = 1 OR w.bytes <= $4 THEN r.content ELSE left(r.content, ${FIRST_PART}) END AS content
     FROM wanted w
     JOIN note_revisions r ON r.tenant_id = $1 AND r.note_id = w.id AND r.revision = w.body_rev`,
);

/** Search among the notes of one person. Each combination of filters is a statement of its own. */
@Injectable()
export class NotesSearchRepository {
  private readonly statements = new Map<string, Statement<NoteSearchRow>>();

  constructor(private readonly db: Db) {}

  /** At most `limit` + 1 rows in the order of the answer; one row without id when there are none. */
  search(ctx: RequestContext, query: NoteSearchQuery): Promise<NoteSearchRow[]> {
    const values: unknown[] = [
      ctx.tenantId,
      ctx.userId,
      query.readable,
      query.match,
      query.rank,
      query.limit,
      query.overlay.map(({ id }) => id),
      query.overlay.map(({ vector }) => vector),
      query.overlay.map(({ revision }) => revision),
      query.overlay.map(({ beginning }) => beginning),
    ];
    const bind = (value: unknown): string => `$${values.push(value)}`;
    let filters = STATES[query.state];
    let variant: string = query.state;
    if (query.folderId === 'none') {
      filters += ' AND m.folder_id IS NULL';
      variant += '.unfiled';
    } else if (query.folderId !== undefined) {
      filters += ` AND m.folder_id = ${bind(query.folderId)}`;
      variant += '.folder';
    }
    if (query.labels?.length) {
      filters += ` AND EXISTS (SELECT FROM notes n WHERE n.tenant_id = $1 AND n.id = h.note_id AND n.labels @> ${bind(query.labels)}::text[])`;
      variant += '.labels';
    }
    let position = '';
    if (query.after) {
      const [score, listed, id] = query.after;
      position = `WHERE (score, listed_at, note_id) < (${bind(score)}::numeric, ${bind(listed)}::timestamptz, ${bind(id)}::uuid)`;
      variant += '.after';
    }
    return this.db.query(this.statement(variant, query.state, filters, position), values);
  }

  /** The bodies of these notes: whole as far as `bytes` go (the first whatever its size), then how they begin. */
  bodies(ctx: RequestContext, ids: string[], bytes: number): Promise<{ id: string; content: string }[]> {
    return this.db.query(bodies, [ctx.tenantId, ctx.userId, ids, bytes]);
  }

  private statement(
    variant: string,
    state: NoteSearchQuery['state'],
    filters: string,
    position: string,
  ): Statement<NoteSearchRow> {
    let found = this.statements.get(variant);
    if (!found) {
      // Whoever sees few notes: each of them is looked at (primary key of note_search). Whoever sees many: index
      // note_search_words finds those with the words. A prefix in that index costs as much as all notes of all people
      // have words that begin so, hence the first way. Only one of the two is executed (one-time filter on `few`);
      // OFFSET 0 keeps a generic plan from asking the index of words in the first way too.
      // note_members says what somebody may see. Materialized, so that nothing else is looked up first.
      found = statement<NoteSearchRow>(
        `notes.search.${this.statements.size}`,
        `WITH mine AS MATERIALIZED (
           SELECT m.note_id FROM note_members m
            WHERE m.tenant_id = $1 AND m.user_id = $2 AND m.role IS NOT NULL${STATES[state]} LIMIT ${FEW_NOTES} + 1),
         few AS MATERIALIZED (SELECT count(*) <= ${FEW_NOTES} AS yes FROM mine),
         hits AS MATERIALIZED (
           SELECT s.note_id, s.tsv FROM mine CROSS JOIN LATERAL (
             SELECT note_id, tsv FROM note_search WHERE tenant_id = $1 AND note_id = mine.note_id OFFSET 0) s
            WHERE (SELECT yes FROM few) AND s.tsv @@ $4::tsquery AND s.note_id <> ALL ($7::uuid[])
           UNION ALL
           SELECT note_id, tsv FROM note_search
            WHERE NOT (SELECT yes FROM few) AND tenant_id = $1 AND tsv @@ $3::tsquery AND note_id <> ALL ($7::uuid[])
           UNION ALL
           SELECT o.note_id, o.tsv FROM unnest($7::uuid[], $8::tsvector[]) AS o (note_id, tsv) WHERE o.tsv @@ $4::tsquery),
         matched AS MATERIALIZED (
           SELECT h.note_id, h.tsv, m.listed_at FROM hits h
             JOIN note_members m ON m.tenant_id = $1 AND m.note_id = h.note_id AND m.user_id = $2 AND m.role IS NOT NULL${filters}
            ORDER BY m.listed_at DESC, h.note_id DESC LIMIT ${MAX_MATCHES}),
         ranked AS (
           SELECT note_id, listed_at, round(ts_rank(tsv, $5::tsquery, 1)::numeric, 4) AS score FROM matched),
         page AS MATERIALIZED (
           SELECT note_id, listed_at, score FROM ranked ${position}
            ORDER BY score DESC, listed_at DESC, note_id DESC LIMIT $6 + 1)
         SELECT (SELECT count(*) FROM matched)::int AS total,
                EXISTS (SELECT FROM outbox WHERE tenant_id = $1 AND type LIKE 'note.%' AND payload->>'actor_id' = $2::uuid::text) AS pending,
                p.note_id AS id, p.score::text AS score, p.listed_at::text AS listed, n.title, v.summary,
                CASE n.revision WHEN o.revision THEN o.beginning WHEN s.revision THEN s.beginning END AS beginning
           FROM (VALUES (1)) AS always (x)
           LEFT JOIN (page p
             JOIN notes n ON n.tenant_id = $1 AND n.id = p.note_id
             JOIN note_views v ON v.tenant_id = $1 AND v.user_id = $2 AND v.note_id = p.note_id
             LEFT JOIN note_search s ON s.tenant_id = $1 AND s.note_id = p.note_id
             LEFT JOIN unnest($7::uuid[], $9::int[], $10::text[]) AS o (note_id, revision, beginning) ON o.note_id = p.note_id) ON true
          ORDER BY p.score DESC, p.listed_at DESC, p.note_id DESC`,
      );
      this.statements.set(variant, found);
    }
    return found;
  }
}
