import { Controller } from '@nestjs/common';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { ResourceController } from '../../../platform/resources/resource.controller.js';
import { CreateSignature, UpdateSignature } from './signatures.dto.js';
import { SIGNATURES, tooManySignatures } from './signatures.resource.js';
import { SignaturesService } from './signatures.service.js';

@Controller(SIGNATURES.options.path)
export class SignaturesController extends ResourceController(SIGNATURES, SignaturesService, {
  list: { query: PageQuery, summary: 'List your signatures', description: 'Oldest first.' },
  create: {
    body: CreateSignature,
    description:
      'For mail that you write. The HTML is cleaned; the text for mail without HTML is derived from it.',
    errors: [tooManySignatures],
  },
  read: { description: 'One of your signatures, as HTML and as text.' },
  update: { body: UpdateSignature, description: 'Missing fields stay as they are.', methods: ['PUT'] },
  delete: { description: 'After the deletion of the default there is no default.' },
}) {
  @Endpoint('PUT :id/default', {
    tag: 'settings',
    id: 'setDefaultSignature',
    summary: 'Make a signature the default',
    description: 'Replaces the previous default.',
    response: [SIGNATURES.envelopes.item, 'The signature, now the default.'],
    errors: [SIGNATURES.notFound],
  })
  makeDefault(@Ctx() ctx: RequestContext, @Id() id: string) {
    return this.service.makeDefault(ctx, id);
  }
}
