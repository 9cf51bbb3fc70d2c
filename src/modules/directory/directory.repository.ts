import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { workspace, type Statement } from '../../platform/database/statement.js';
import { foldWords } from '../tenants/index.js';

interface DirectoryRow {
  kind: 'user' | 'group';
  id: string;
  name: string;
  email: string | null;
  score: number;
}

/** Maximum number of query words; further words are ignored. */
const MAX_WORDS = 6;

// $1 workspace, $2 query, $3 include members, $4 include groups, $5 limit, $6 and further: patterns of the words.
// Members use the index member_profiles_words; a workspace has at most 500 groups. The similarity search runs only when no
// word matches.
function searchFor(words: number): Statement<DirectoryRow> {
  const each = (column: string) =>
    Array.from({ length: words }, (_, n) => `${column} LIKE $${n + 6}`).join(' AND ');
  const score = (column: string) => `CASE WHEN starts_with(${column}, $2) THEN 1 ELSE 0.9 END::float8`;
  return workspace.statement<DirectoryRow>(
    `directory.search_${words}`,
    `WITH matching AS MATERIALIZED (
       SELECT 'user' AS kind, member.user_id AS id, member.display_name AS name, member.email, member.folded, ${score('member.folded')} AS score
         FROM member_profiles member WHERE $3 AND member.tenant_id = $1 AND member.status = 'active' AND NOT member.is_service AND ${each('member.folded')}
        UNION ALL
       SELECT 'group', grp.id, grp.name, NULL, ' ' || grp.folded, ${score("(' ' || grp.folded)")}
         FROM group_names grp WHERE $4 AND grp.tenant_id = $1 AND ${each("(' ' || grp.folded)")}
        ORDER BY score DESC, folded, id LIMIT $5),
     resembling AS (
       SELECT 'user' AS kind, member.user_id AS id, member.display_name AS name, member.email, member.folded,
              round(0.8 * word_similarity($2, member.folded)::numeric, 3)::float8 AS score
         FROM member_profiles member
        WHERE $3 AND NOT EXISTS (SELECT FROM matching) AND member.tenant_id = $1 AND member.status = 'active'
          AND NOT member.is_service AND $2 <% member.folded AND NOT (${each('member.folded')})
        ORDER BY score DESC, folded, id LIMIT $5)
     SELECT kind, id, name, email, score FROM (SELECT * FROM matching UNION ALL SELECT * FROM resembling) found
      ORDER BY score DESC, folded, id LIMIT $5`,
    { onReplica: true },
  );
}

const SEARCHES = Array.from({ length: MAX_WORDS }, (_, n) => searchFor(n + 1));

/** SQL of the directory: active members and groups of one workspace, without the accounts of services. */
@Injectable()
export class DirectoryRepository {
  constructor(private readonly db: Db) {}

  /** Members and groups whose names and addresses have words with the beginnings of the text; for a text without words, none. */
  async search(
    tenantId: string,
    text: string,
    kinds: { users: boolean; groups: boolean },
    limit: number,
  ): Promise<DirectoryRow[]> {
    const words = foldWords(text).split(' ').filter(Boolean).slice(0, MAX_WORDS);
    const search = SEARCHES[words.length - 1];
    if (!search) return [];
    // Words contain letters, digits and marks only, so no wildcards of LIKE.
    const patterns = words.map((word) => `% ${word}%`);
    const phrase = words.map((word) => ` ${word}`).join('');
    return this.db.query(search, [tenantId, phrase, kinds.users, kinds.groups, limit, ...patterns]);
  }
}
