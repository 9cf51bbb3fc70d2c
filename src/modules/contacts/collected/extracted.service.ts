import { Injectable } from '@nestjs/common';
import { emailKey, queryTerms } from '../../../lib/contact-card/index.js';
import { fold } from '../../../lib/search-text/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { RecipientsApi } from '../../mail/index.js';
import { fieldError } from '../contacts.errors.js';
import type { ListExtracted } from './extracted.dto.js';
import { ExtractedRepository } from './extracted.repository.js';
import type {
  AddressSource,
  ExtractedAddressesEnvelope,
  ExtractedAddressResponse,
  SuppressedAddressEnvelope,
} from './extracted.response.js';
import { ReceivedRepository, type SeenAddress } from './received.repository.js';

const BATCH = 500;
/** Addresses of one source. */
const MAX_ADDRESSES = 2_000;

/** An address with its use in all sources. */
interface Extracted extends SeenAddress {
  key: string;
  sources: AddressSource[];
  /** Frequency and recency: a use weighs half after 30 days. Fixed at the time of the last use, so that pages agree. */
  rank: number;
}

/** Addresses of a user's messages and events, without those that the user removed. */
@Injectable()
export class ExtractedService {
  constructor(
    private readonly extracted: ExtractedRepository,
    private readonly seen: ReceivedRepository,
    private readonly recipients: RecipientsApi,
    private readonly cursors: Cursors,
  ) {}

  /** Frequent and recent addresses first. @throws ApiError 422 `invalid_cursor` */
  async list(ctx: RequestContext, query: ListExtracted): Promise<ExtractedAddressesEnvelope> {
    const { q, since } = query;
    const all = await this.all(ctx);
    const found = all.filter((each) => (!since || each.last_seen_at >= since) && matches(each, q));
    const { rows, next } = await this.cursors.page(query, {
      scope: `extracted ${ctx.tenantId} ${ctx.userId} ${JSON.stringify([q, since])}`,
      key: ({ rank, key }: Extracted): [number, string] => [rank, key],
      rows: async (after, count) => {
        const from = after
          ? found.filter((each) => compare(each, { rank: after[0], key: after[1] }) > 0)
          : found;
        return from.slice(0, count);
      },
    });
    return { emails: await this.shown(ctx, rows), next };
  }

  /** Removes an address from the list for ever, whether or not it is in it. @throws ApiError 422 for an invalid address */
  async suppress(ctx: RequestContext, email: string): Promise<SuppressedAddressEnvelope> {
    const key = emailKey(email);
    if (key === null) throw fieldError('email', 'is_email', 'must be an e-mail address');
    await this.extracted.suppress(ctx, key);
    return { email, deleted: true };
  }

  private async all(ctx: RequestContext): Promise<Extracted[]> {
    const sources: [AddressSource, SeenAddress[]][] = [
      ['sent', await this.sent(ctx)],
      ['received', await this.seen.received(ctx)],
      ['calendar', await this.seen.invited(ctx)],
    ];
    const joined = new Map<string, Extracted>();
    for (const [source, addresses] of sources)
      for (const address of addresses) {
        const key = emailKey(address.address);
        if (key !== null) joined.set(key, withSource(joined.get(key), key, source, address));
      }
    const removed = await this.extracted.suppressed(ctx, [...joined.keys()]);
    return [...joined.values()].filter(({ key }) => !removed.has(key)).toSorted(compare);
  }

  private async sent(ctx: RequestContext): Promise<SeenAddress[]> {
    const rows: SeenAddress[] = [];
    for (let after = null; rows.length < MAX_ADDRESSES;) {
      const batch = await this.recipients.list(ctx, after, BATCH);
      rows.push(
        ...batch.map(({ uses, last_used_at, ...row }) => ({
          ...row,
          count: uses,
          last_seen_at: last_used_at,
        })),
      );
      if (batch.length < BATCH) break;
      after = batch.at(-1) as never;
    }
    return rows;
  }

  private async shown(ctx: RequestContext, rows: Extracted[]): Promise<ExtractedAddressResponse[]> {
    const keys = rows.map(({ key }) => key);
    const contacts = await this.extracted.known(ctx, keys);
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

const HALF_LIFE_MS = 30 * 86_400_000;

/** Received messages weigh a quarter: many come from lists and machines. */
const WEIGHT: Record<AddressSource, number> = { sent: 0, received: -2, calendar: 0 };

function withSource(
  known: Extracted | undefined,
  key: string,
  source: AddressSource,
  { address, name, count, last_seen_at }: SeenAddress,
): Extracted {
  const rank = last_seen_at.getTime() / HALF_LIFE_MS + Math.log2(count) + WEIGHT[source];
  if (!known) return { key, address, name, count, last_seen_at, sources: [source], rank };
  const high = Math.max(rank, known.rank);
  return {
    ...known,
    name: known.name || name,
    count: known.count + count,
    last_seen_at: known.last_seen_at > last_seen_at ? known.last_seen_at : last_seen_at,
    sources: [...known.sources, source],
    rank: high + Math.log2(1 + 2 ** -Math.abs(rank - known.rank)),
  };
}

const compare = (one: Pick<Extracted, 'rank' | 'key'>, other: Pick<Extracted, 'rank' | 'key'>): number =>
  other.rank - one.rank || (one.key < other.key ? -1 : Number(one.key > other.key));

/** Each term begins the address or a word of the name. */
function matches({ key, name }: Extracted, q: string | undefined): boolean {
  if (q === undefined) return true;
  const words = [key, ...fold(`${key} ${name}`).split(/[^\p{L}\p{N}\p{M}]+/u)];
  const terms = queryTerms(q);
  return terms.length > 0 && terms.every((term) => words.some((word) => word.startsWith(term)));
}
