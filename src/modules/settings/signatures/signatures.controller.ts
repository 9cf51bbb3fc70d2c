import { Body, Controller, Query } from '@nestjs/common';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import {
  CreateOperation,
  DeleteOperation,
  ListOperation,
  ReadOperation,
  UpdateOperation,
} from '../../../platform/resources/operations.js';
import { CreateSignature, UpdateSignature } from './signatures.dto.js';
import { SIGNATURES, tooManySignatures } from './signatures.resource.js';
import { SignaturesService } from './signatures.service.js';

@Controller(SIGNATURES.options.path)
export class SignaturesController {
  constructor(private readonly signatures: SignaturesService) {}

  @ListOperation(SIGNATURES, { summary: 'List your signatures', description: 'Oldest first.' })
  list(@Ctx() ctx: RequestContext, @Query() query: PageQuery) {
    return this.signatures.list(ctx, query);
  }

  @CreateOperation(SIGNATURES, {
    description:
      'For mail that you write. The HTML is cleaned; the text for mail without HTML is derived from it.',
    errors: [tooManySignatures],
  })
  create(
    @Ctx() ctx: RequestContext,
    @Idempotency() key: IdempotencyKey | null,
    @Body() body: CreateSignature,
  ) {
    return this.signatures.create(ctx, key, body);
  }

  @ReadOperation(SIGNATURES, { description: 'One of your signatures, as HTML and as text.' })
  read(@Ctx() ctx: RequestContext, @Id() id: string) {
    return this.signatures.read(ctx, id);
  }

  @UpdateOperation(SIGNATURES, {
    description: 'Missing fields stay as they are.',
    methods: ['PUT'],
  })
  update(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @CheckedBody(UpdateSignature) body: Checked<UpdateSignature>,
  ) {
    return this.signatures.update(ctx, id, body);
  }

  @Endpoint('PUT :id/default', {
    tag: 'settings',
    id: 'setDefaultSignature',
    summary: 'Make a signature the default',
    description: 'Replaces the previous default.',
    response: [SIGNATURES.envelopes.item, 'The signature, now the default.'],
    errors: [SIGNATURES.notFound],
  })
  makeDefault(@Ctx() ctx: RequestContext, @Id() id: string) {
    return this.signatures.makeDefault(ctx, id);
  }

  @DeleteOperation(SIGNATURES, { description: 'After the deletion of the default there is no default.' })
  delete(@Ctx() ctx: RequestContext, @Id() id: string) {
    return this.signatures.delete(ctx, id);
  }
}
