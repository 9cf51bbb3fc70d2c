import { Controller, Injectable, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { foldedWords } from '../../lib/search-text/index.js';
import { toKatakana } from '../../lib/text/index.js';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { spelledFor } from '../../platform/database/like.js';
import { type Statement, workspace } from '../../platform/database/statement.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { ContactsApi, type FoundContact } from '../contacts/index.js';
import { DirectoryEnvelope, type DirectoryResultResponse, SearchDirectory } from './directory.dto.js';

interface DirectoryRow {
  kind: 'user' | 'group';
  id: string;
  name: string;
  email: string | null;
  score: number;
}

/** Maximum number of query words; further words are ignored. */
const MAX_WORDS = 6;

/** SQL for the words of a group, and those that apostrophes and hyphens join: its name is folded, but not divided. */
const GROUP_WORDS = `(' ' || regexp_replace(grp.folded, '[[:punct:][:space:]‘’ʼ‐]+', ' ', 'g') || ' ' || translate(grp.folded, '-''‘’ʼ‐', ''))`;

// $1 workspace, $2 query, $3 include members, $4 include groups, $5 limit, $6 and further: patterns of the words.
// Members use the index member_profiles_words; a workspace has at most 500 groups. The similarity search runs only when no
// word matches.
function searchFor(words: number): Statement<DirectoryRow> {
  const each = (column: string) =>
    Array.from({ length: words }, (_, n) => `${column} LIKE $${n + 6}`).join(' AND ');
  const groupWords = spelledFor(
    Array.from({ length: words }, (_, n) => `$${n + 6}::text`).join(' || '),
    GROUP_WORDS,
  );
  const score = (column: string) => `CASE WHEN starts_with(${column}, $2) THEN 1 ELSE 0.9 END::float8`;
  return workspace.statement<DirectoryRow>(
    `directory.search_${words}`,
    `WITH matching AS MATERIALIZED (
       SELECT 'user' AS kind, member.user_id AS id, member.display_name AS name, member.email, member.folded, ${score('member.folded')} AS score
         FROM member_profiles member WHERE $3 AND member.tenant_id = $1 AND member.status = 'active' AND NOT member.is_service AND ${each('member.folded')}
        UNION ALL
       SELECT 'group', grp.id, grp.name, NULL, ' ' || grp.folded, ${score(groupWords)}
         FROM group_names grp WHERE $4 AND grp.tenant_id = $1 AND ${each(groupWords)}
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
    const words = foldedWords(text).slice(0, MAX_WORDS);
    const search = SEARCHES[words.length - 1];
    if (!search) return [];
    // Words contain letters, digits and marks only, so no wildcards of LIKE.
    const patterns = words.map((word) => `% ${toKatakana(word)}%`);
    const phrase = words.map((word) => ` ${word}`).join('');
    return this.db.query(search, [tenantId, phrase, kinds.users, kinds.groups, limit, ...patterns]);
  }
}

export interface FoundMember {
  id: string;
  name: string;
  email: string;
}

/** Scores of members that match, and not only resemble the words. */
const MATCHING = 0.9;

/** The directory for other modules. */
@Injectable()
export class DirectoryApi {
  constructor(private readonly directory: DirectoryRepository) {}

  /** Active members whose name and address have words with these beginnings, the best first. */
  async members(tenantId: string, text: string, limit: number): Promise<FoundMember[]> {
    const rows = await this.directory.search(tenantId, text, { users: true, groups: false }, limit);
    return rows.flatMap(({ id, name, email, score }) =>
      email === null || score < MATCHING ? [] : [{ id, name, email }],
    );
  }
}

@ApiTags('directory')
@Controller('directory/search')
export class DirectoryController {
  constructor(
    private readonly directory: DirectoryRepository,
    private readonly contacts: ContactsApi,
  ) {}

  @Endpoint('GET', {
    id: 'searchDirectory',
    summary: 'Search members and groups of the workspace, and contacts',
    description:
      'Matches the beginnings of words; without a match, similar names of members. Excludes deactivated members. Contacts are those of all address books that you see. For search as you type: there are no further pages.',
    response: [DirectoryEnvelope, 'The best matches.'],
  })
  async search(@Ctx() ctx: RequestContext, @Query() query: SearchDirectory): Promise<DirectoryEnvelope> {
    const { q, kinds, limit } = query;
    const [rows, contacts] = await Promise.all([
      this.members(ctx, query),
      kinds.includes('contact') ? this.contacts.search(ctx, q, limit) : [],
    ]);
    const results = [...rows, ...contacts.map(resultOf)].toSorted((one, other) => other.score - one.score);
    return { results: results.slice(0, limit) };
  }

  private async members(
    ctx: RequestContext,
    { q, kinds, limit }: SearchDirectory,
  ): Promise<DirectoryResultResponse[]> {
    const wanted = { users: kinds.includes('user'), groups: kinds.includes('group') };
    if (!(wanted.users || wanted.groups)) return [];
    const rows = await this.directory.search(ctx.tenantId, q, wanted, limit);
    if (rows.length === 0) return [];
    const photos = await this.contacts.photosOf(
      ctx,
      rows.flatMap(({ kind, id }) => (kind === 'user' ? id : [])),
    );
    return rows.map((row) => ({ ...row, avatar_url: photos.get(row.id) ?? null }));
  }
}

/** Ranks contacts after members and groups with the same words, and before those with similar names. */
const CONTACT_SCORE = 0.85;

const resultOf = ({ photo_url, ...contact }: FoundContact): DirectoryResultResponse => ({
  ...contact,
  kind: 'contact',
  avatar_url: photo_url,
  score: CONTACT_SCORE,
});
