import { Controller, Query } from '@nestjs/common';
import { highlight, SearchQuery } from '../../../lib/search-text/index.js';
import { cutText } from '../../../lib/text/index.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import type { ShownForm } from '../form-access.js';
import { formSummary } from '../form.presenter.js';
import { FormsRepository, likePatterns, type ListedForm } from '../forms.repository.js';
import { FormSearchEnvelope, SearchForms } from './forms-search.dto.js';

@Controller('search/forms')
export class FormsSearchController {
  constructor(
    private readonly forms: FormsRepository,
    private readonly cursors: Cursors,
  ) {}

  @Endpoint('GET', {
    tag: 'forms',
    id: 'searchForms',
    summary: 'Search forms',
    description: 'Searches your forms and those shared with you or your groups, newest first.',
    response: [FormSearchEnvelope, 'A page of matches.'],
  })
  async search(
    @Ctx() ctx: RequestContext,
    @Query() query: SearchForms,
  ): Promise<JsonReply<FormSearchEnvelope>> {
    const words = likePatterns(query.q);
    const { rows, next } = await this.cursors.page(query, {
      scope: `search forms ${ctx.tenantId} ${ctx.userId} ${query.q}`,
      key: (form: ListedForm): [string] => [form.id],
      fits: (form) => form.fits,
      rows: (after, limit) => this.forms.list(ctx, null, { words }, after, limit),
    });
    const marks = SearchQuery.parse(query.q);
    const results = rows.map((form) => ({
      form: formSummary(form as ShownForm),
      highlight: {
        title: highlight(form.title, marks),
        description: highlight(cutText(form.description, 300), marks),
      },
    }));
    return JsonReply.of({ results, next });
  }
}
