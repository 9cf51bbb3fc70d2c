import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { workspace, type Statement } from '../../platform/database/statement.js';

export interface DirectoryRow {
  kind: 'user' | 'group';
  id: string;
  name: string;
  email: string | null;
  score: number;
}

/** Words of a question that count; who has more than these in common is who was meant. */
export const MAX_WORDS = 6;

// $1 workspace, $2 the whole question, $3 people?, $4 groups?, $5 limit, $6.. patterns of the words.
// Index of people: tenant_members_words. Groups are 500 at most. Who only looks alike is asked for where nothing
// begins like that: else nothing of that part runs.
function searchFor(words: number): Statement<DirectoryRow> {
  const each = (column: string) =>
    Array.from({ length: words }, (_, n) => `${column} LIKE $${n + 6}`).join(' AND ');
  const score = (column: string) => `CASE WHEN starts_with(${column}, $2) THEN 1 ELSE 0.9 END::float8`;
  return workspace.statement<DirectoryRow>(
    `directory.search_${words}`,
    `WITH begins AS MATERIALIZED (
       SELECT 'user' AS kind, m.user_id AS id, m.display_name AS name, m.email, m.folded, ${score('m.folded')} AS score
         FROM tenant_members m WHERE $3 AND m.tenant_id = $1 AND m.status = 'active' AND ${each('m.folded')}
        UNION ALL
       SELECT 'group', g.id, g.name, NULL, ' ' || g.folded, ${score("(' ' || g.folded)")}
         FROM rbac_groups g WHERE $4 AND g.tenant_id = $1 AND ${each("(' ' || g.folded)")}
        ORDER BY score DESC, folded, id LIMIT $5),
     alike AS (
       SELECT 'user' AS kind, m.user_id AS id, m.display_name AS name, m.email, m.folded,
              round(0.8 * word_similarity($2, m.folded)::numeric, 3)::float8 AS score
         FROM tenant_members m
        WHERE $3 AND NOT EXISTS (SELECT FROM begins) AND m.tenant_id = $1 AND m.status = 'active'
          AND $2 <% m.folded AND NOT (${each('m.folded')})
        ORDER BY score DESC, folded, id LIMIT $5)
     SELECT kind, id, name, email, score FROM (SELECT * FROM begins UNION ALL SELECT * FROM alike) f
      ORDER BY score DESC, folded, id LIMIT $5`,
  );
}

const SEARCHES = Array.from({ length: MAX_WORDS }, (_, n) => searchFor(n + 1));

/** SQL of the directory: the active people and the groups of one workspace. */
@Injectable()
export class DirectoryRepository {
  constructor(private readonly db: Db) {}

  /** @param words folded, 1 to MAX_WORDS */
  async search(
    tenantId: string,
    words: readonly string[],
    kinds: { users: boolean; groups: boolean },
    limit: number,
  ): Promise<DirectoryRow[]> {
    const search = SEARCHES[words.length - 1];
    if (!search) throw new RangeError(`a search of ${words.length} words`);
    // Letters, digits and marks only: nothing that LIKE would take for a sign of its own.
    const patterns = words.map((word) => `% ${word}%`);
    const question = words.map((word) => ` ${word}`).join('');
    return this.db.query(search, [tenantId, question, kinds.users, kinds.groups, limit, ...patterns]);
  }
}
