import { Controller, Query } from '@nestjs/common';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { ApiFile } from '../../../platform/http/api-docs.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import type { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { CONTACTS } from '../contacts.resource.js';
import { SelfCardQrQuery, SelfCardQuery } from './self-card.dto.js';
import { SelfCardService } from './self-card.service.js';

@Controller('contact/self/card')
export class SelfCardController {
  constructor(private readonly cards: SelfCardService) {}

  @Endpoint('GET', {
    tag: 'contacts',
    id: 'downloadSelfCard',
    summary: 'Download your own card',
    description: 'Your card in the address book of the workspace as a vCard file.',
    errors: [CONTACTS.notFound],
  })
  @ApiFile('text/vcard', 'The vCard.')
  download(@Ctx() ctx: RequestContext, @Query() query: SelfCardQuery): Promise<BodyReply> {
    return this.cards.download(ctx, query);
  }

  @Endpoint('GET qr', {
    tag: 'contacts',
    id: 'readSelfCardQrCode',
    summary: 'Read a QR code of your own card',
    description:
      'A picture for the camera of a phone. A long card is reduced to name, work, addresses and numbers.',
    errors: [CONTACTS.notFound],
  })
  @ApiFile('image/*', 'The picture, PNG or SVG.')
  qrCode(@Ctx() ctx: RequestContext, @Query() query: SelfCardQrQuery): Promise<BodyReply> {
    return this.cards.qrCode(ctx, query);
  }
}
