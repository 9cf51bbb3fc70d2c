import { Body, Controller, Injectable, Query } from '@nestjs/common';
import { emailKey, queryTerms } from '../../../lib/contact-card/index.js';
import { nameWords } from '../../../lib/search-text/index.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { fieldError } from '../contacts.resource.js';
import { CollectedBook } from './collected-book.js';
import {
  compareAddresses,
  type ExtractedAddress,
  ExtractedAddresses,
  ExtractedRepository,
} from './extracted-addresses.js';
import {
  ExtractedAddressesEnvelope,
  type ExtractedAddressResponse,
  ListExtracted,
  RemoveExtracted,
  SuppressedAddressEnvelope,
} from './extracted.dto.js';

/** The list of the addresses of a user's messages and events. */
@Injectable()
export class ExtractedService {
  constructor(
    private readonly addresses: ExtractedAddresses,
    private readonly extracted: ExtractedRepository,
    private readonly collected: CollectedBook,
    private readonly cursors: Cursors,
  ) {}

  /** Frequent and recent addresses first. @throws ApiError 422 `invalid_cursor` */
  async list(ctx: RequestContext, query: ListExtracted): Promise<ExtractedAddressesEnvelope> {
    const { q, since } = query;
    const all = await this.addresses.extract(ctx);
    const found = all.filter((each) => (!since || each.last_seen_at >= since) && matches(each, q));
    const { rows, next } = await this.cursors.page(query, {
      scope: `extracted ${ctx.tenantId} ${ctx.userId} ${JSON.stringify([q, since])}`,
      key: ({ rank, key }: ExtractedAddress): [number, string] => [rank, key],
      rows: async (after, count) => {
        const from = after
          ? found.filter((each) => compareAddresses(each, { rank: after[0], key: after[1] }) > 0)
          : found;
        return from.slice(0, count);
      },
    });
    return { emails: await this.presentAddresses(ctx, rows), next };
  }

  /** Removes an address from the list for ever, whether or not it is in it. @throws ApiError 422 for an invalid address */
  async suppress(ctx: RequestContext, email: string): Promise<SuppressedAddressEnvelope> {
    const key = emailKey(email);
    if (key === null) throw fieldError('email', 'is_email', 'must be an e-mail address');
    await this.collected.suppress(ctx, key);
    return { email, deleted: true };
  }

  private async presentAddresses(
    ctx: RequestContext,
    rows: ExtractedAddress[],
  ): Promise<ExtractedAddressResponse[]> {
    const keys = rows.map(({ key }) => key);
    const contacts = await this.extracted.findKnown(ctx, keys);
    return rows.map(({ key, address: email, name, count, last_seen_at, sources }) => {
      const { contact_id = null, addressbook_id = null } = contacts.get(key) ?? {};
      return {
        email,
        name,
        count,
        last_seen_at: last_seen_at.toISOString(),
        sources,
        contact_id,
        addressbook_id,
      };
    });
  }
}

/** Whether each term is the beginning of the address or of a word of the name. */
function matches({ key, name }: ExtractedAddress, q: string | undefined): boolean {
  if (q === undefined) return true;
  const words = [key, ...nameWords(key), ...nameWords(name)];
  const terms = queryTerms(q);
  return terms.length > 0 && terms.every((term) => words.some((word) => word.startsWith(term)));
}

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
