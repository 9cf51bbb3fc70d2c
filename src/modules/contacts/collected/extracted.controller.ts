import { Body, Controller, Query } from '@nestjs/common';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { ListExtracted, RemoveExtracted } from './extracted.dto.js';
import { ExtractedAddressesEnvelope, SuppressedAddressEnvelope } from './extracted.response.js';
import { ExtractedService } from './extracted.service.js';

@Controller('contact/extract')
export class ExtractedController {
  constructor(private readonly extracted: ExtractedService) {}

  @Endpoint('GET', {
    tag: 'contacts',
    id: 'listExtractedAddresses',
    summary: 'List the addresses of your messages and events',
    description:
      'Recipients of messages that you sent or drafted, senders of messages in your inbox, organizers and attendees of the events in your calendars; frequent and recent ones first. Received messages are counted in the background, within some minutes.',
    response: [ExtractedAddressesEnvelope, 'A page of addresses.'],
  })
  list(@Ctx() ctx: RequestContext, @Query() query: ListExtracted): Promise<ExtractedAddressesEnvelope> {
    return this.extracted.list(ctx, query);
  }

  @Endpoint('DELETE', {
    tag: 'contacts',
    id: 'removeExtractedAddress',
    summary: 'Remove an address from the list for ever',
    description: 'Our addition. Later messages to the address do not bring it back.',
    response: [SuppressedAddressEnvelope, 'The removed address.'],
  })
  suppress(@Ctx() ctx: RequestContext, @Body() body: RemoveExtracted): Promise<SuppressedAddressEnvelope> {
    return this.extracted.suppress(ctx, body.email);
  }
}
