import { Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { SuggestTitles } from './title-suggestions.dto.js';
import { TitleSuggestionsEnvelope } from './title-suggestions.response.js';
import { TitleSuggestions } from './title-suggestions.service.js';

@ApiTags('calendar')
@Controller('calendar/title-suggestions')
export class TitleSuggestionsController {
  constructor(private readonly titles: TitleSuggestions) {}

  @Endpoint('GET', {
    id: 'suggestTitles',
    summary: 'Suggest titles',
    description:
      'Titles that you have used, the most frequent first, with the length, place and attendees of the latest event.',
    response: [TitleSuggestionsEnvelope, 'The suggestions.'],
  })
  suggest(@Ctx() ctx: RequestContext, @Query() query: SuggestTitles) {
    return this.titles.suggest(ctx, query);
  }
}
