import { Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { foldWords } from '../tenants/index.js';
import { SearchDirectory } from './directory.dto.js';
import { DirectoryRepository, MAX_WORDS } from './directory.repository.js';
import { DirectoryEnvelope } from './directory.response.js';

@ApiTags('directory')
@Controller('directory/search')
export class DirectoryController {
  constructor(private readonly directory: DirectoryRepository) {}

  @Endpoint('GET', {
    id: 'searchDirectory',
    summary: 'Search members and groups of the workspace',
    description:
      'Matches the beginnings of words; without a match, similar names. Excludes deactivated members. For search as you type: there are no further pages.',
    response: [DirectoryEnvelope, 'The best matches.'],
  })
  async search(@Ctx() ctx: RequestContext, @Query() query: SearchDirectory): Promise<DirectoryEnvelope> {
    const words = foldWords(query.q).split(' ').filter(Boolean).slice(0, MAX_WORDS);
    if (words.length === 0) return { results: [] };
    const kinds = { users: query.kinds.includes('user'), groups: query.kinds.includes('group') };
    const rows = await this.directory.search(ctx.tenantId, words, kinds, query.limit);
    return { results: rows.map((row) => ({ ...row, avatar_url: null })) };
  }
}
