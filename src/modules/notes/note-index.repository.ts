import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { statement } from '../../platform/database/statement.js';
import { type IndexedDocument, SEARCH_RULES } from '../../platform/search/index-document.js';

/** A note whose index row is missing or was made from another state of it. */
export interface StaleNote {
  id: string;
  title: string;
  content: string;
  revision: number;
  audience: string;
  members: string[];
  /** As text that PostgreSQL reads back exactly; tells a note from an earlier one with the same id. */
  created: string;
  /** Which index row was there when the note was read; null when there was none. */
  replaces: string | null;
  /** When it was read, by the database's clock. */
  readAt: Date;
}

/** Where a walk through all notes stands. */
export interface IndexWalk {
  tenantId: string;
  noteId: string;
  /** False for the last note looked at, when it is as it should be. */
  stale: boolean;
}

const STALE = `(s.note_id IS NULL OR s.revision <> n.revision OR s.audience <> note_audience(n.member_ids) OR s.rules <> ${SEARCH_RULES})`;

const COLUMNS = `n.id, n.title, r.content, n.revision, note_audience(n.member_ids) AS audience, n.member_ids AS members,
         n.created_at::text AS created, s.xmin::text AS replaces, clock_timestamp() AS "readAt"`;

const JOINS = `
    LEFT JOIN note_search s ON s.tenant_id = n.tenant_id AND s.note_id = n.id
    JOIN note_revisions r ON r.tenant_id = n.tenant_id AND r.note_id = n.id AND r.revision = n.body_rev`;

// An event is dealt with when its revision is indexed: newer ones have events of their own.
const stale = statement<StaleNote>(
  'note_index.stale',
  `SELECT ${COLUMNS} FROM notes n ${JOINS}
    WHERE n.tenant_id = $1 AND n.id = $2 AND ${STALE}
      AND ($3::int IS NULL OR s.revision IS NULL OR s.revision < $3 OR s.audience <> note_audience(n.member_ids))`,
);

// Every change of a note is in the outbox until it has been indexed, so those of one person that have not been are found
// there (primary key: tenant_id, id), the newest first.
const pending = statement<StaleNote>(
  'note_index.pending',
  `WITH mine AS MATERIALIZED (
     SELECT (payload->>'note_id')::uuid AS id, max(e.id::text) AS newest FROM (
       SELECT id, payload FROM outbox
        WHERE tenant_id = $1 AND type LIKE 'note.%' AND payload->>'actor_id' = $2::uuid::text
        ORDER BY id DESC LIMIT $3) e GROUP BY 1),
   sized AS MATERIALIZED (
     SELECT n.id, mine.newest, sum(n.content_bytes) OVER (ORDER BY mine.newest DESC) - n.content_bytes AS bytes_before
       FROM mine JOIN notes n ON n.tenant_id = $1 AND n.id = mine.id
       JOIN note_members m ON m.tenant_id = $1 AND m.note_id = n.id AND m.user_id = $2 AND m.role IS NOT NULL
       LEFT JOIN note_search s ON s.tenant_id = $1 AND s.note_id = n.id
      WHERE ${STALE})
   SELECT ${COLUMNS} FROM sized JOIN notes n ON n.tenant_id = $1 AND n.id = sized.id ${JOINS}
    WHERE sized.bytes_before <= $4`,
);

// Compare-and-set: only the row that was seen when the note was read is replaced. So whoever read an older state of the
// note has to look again, without a lock on the note that would keep its writers waiting. The note's row is locked against
// removal only: what is purged leaves no words behind, and a note made anew under the same id is another note.
const put = statement<{ done: number }>(
  'note_index.put',
  `INSERT INTO note_search AS s (tenant_id, note_id, revision, audience, rules, tsv, beginning)
   SELECT n.tenant_id, n.id, $3, $4, ${SEARCH_RULES}, $5::tsvector, $8 FROM notes n
    WHERE n.tenant_id = $1 AND n.id = $2 AND n.created_at = $6::timestamptz FOR KEY SHARE
   ON CONFLICT (tenant_id, note_id) DO UPDATE
     SET revision = excluded.revision, audience = excluded.audience, rules = excluded.rules, tsv = excluded.tsv,
         beginning = excluded.beginning
   WHERE s.xmin::text = $7
   RETURNING 1 AS done`,
);

const walk = statement<IndexWalk>(
  'note_index.walk',
  `WITH slice AS MATERIALIZED (
     SELECT tenant_id, id, revision, member_ids FROM notes
      WHERE (tenant_id, id) > ($1::uuid, $2::uuid) ORDER BY tenant_id, id LIMIT $3),
   judged AS (
     SELECT n.tenant_id, n.id, ${STALE} AS stale, lead(n.id) OVER (ORDER BY n.tenant_id, n.id) IS NULL AS last
       FROM slice n LEFT JOIN note_search s ON s.tenant_id = n.tenant_id AND s.note_id = n.id)
   SELECT tenant_id AS "tenantId", id AS "noteId", stale FROM judged WHERE stale OR last ORDER BY 1, 2`,
);

/** All SQL that keeps the search index of notes; `notes-search.repository.ts` reads it. */
@Injectable()
export class NoteIndexRepository {
  constructor(private readonly db: Db) {}

  /**
   * The note when its index row is stale; undefined when it is not, or when there is no such note.
   * @param revision a row of this or a later revision is good enough, when it is for the same people
   */
  async stale(
    tenantId: string,
    noteId: string,
    revision: number | null = null,
  ): Promise<StaleNote | undefined> {
    return (await this.db.query(stale, [tenantId, noteId, revision]))[0];
  }

  /**
   * The notes this person has changed that are not indexed as they are now, among their last `limit` changes.
   * @param bytes of content beyond which no further note is read
   */
  pending(tenantId: string, userId: string, limit: number, bytes: number): Promise<StaleNote[]> {
    return this.db.query(pending, [tenantId, userId, limit, bytes]);
  }

  /** Stores what a search needs of a note. @returns false when the note is gone or another has stored words meanwhile */
  async put(tenantId: string, note: StaleNote, { vector, beginning }: IndexedDocument): Promise<boolean> {
    const { id, revision, audience, created, replaces } = note;
    const values = [tenantId, id, revision, audience, vector, created, replaces, beginning];
    return (await this.db.single((tx) => tx.query(put, values))).length > 0;
  }

  /** The stale ones among the `limit` notes after the given one, in order of tenant and id, and the last of them all. */
  walk(after: { tenantId: string; noteId: string }, limit: number): Promise<IndexWalk[]> {
    return this.db.query(walk, [after.tenantId, after.noteId, limit]);
  }
}
