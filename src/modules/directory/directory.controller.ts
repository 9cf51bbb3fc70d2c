import { Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { ContactsApi, type FoundContact } from '../contacts/index.js';
import { SearchDirectory } from './directory.dto.js';
import { DirectoryRepository } from './directory.repository.js';
import { DirectoryEnvelope, type DirectoryResultResponse } from './directory.response.js';

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
