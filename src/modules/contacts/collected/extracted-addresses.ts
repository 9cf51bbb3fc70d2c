import { Injectable } from '@nestjs/common';
import type { MemberKey } from '../../../platform/context/request-context.js';
import { emailKey } from '../../../lib/contact-card/index.js';
import { RecipientsApi } from '../../mail/index.js';
import { ExtractedRepository } from './extracted.repository.js';
import type { AddressSource } from './extracted.response.js';
import { ReceivedRepository, type SeenAddress } from './received.repository.js';

const BATCH = 500;
/** Addresses of one source. */
const MAX_ADDRESSES = 2_000;

/** An address with its use in all sources. */
export interface ExtractedAddress extends SeenAddress {
  key: string;
  sources: AddressSource[];
  /** Frequency and recency: a use weighs half after 30 days. Independent of the current time, so that the pages of a list agree. */
  rank: number;
}

/** Addresses of a user's messages and events, without those that the user removed. */
@Injectable()
export class ExtractedAddresses {
  constructor(
    private readonly extracted: ExtractedRepository,
    private readonly seen: ReceivedRepository,
    private readonly recipients: RecipientsApi,
  ) {}

  /** Frequent and recent addresses first. */
  async of(owner: MemberKey): Promise<ExtractedAddress[]> {
    const sources: [AddressSource, SeenAddress[]][] = [
      ['sent', await this.sent(owner)],
      ['received', await this.seen.received(owner)],
      ['calendar', await this.seen.invited(owner)],
    ];
    const joined = new Map<string, ExtractedAddress>();
    for (const [source, addresses] of sources)
      for (const address of addresses) {
        const key = emailKey(address.address);
        if (key !== null) joined.set(key, withSource(joined.get(key), key, source, address));
      }
    const removed = await this.extracted.suppressed(owner, [...joined.keys()]);
    return [...joined.values()].filter(({ key }) => !removed.has(key)).toSorted(compareAddresses);
  }

  private async sent(owner: MemberKey): Promise<SeenAddress[]> {
    const rows: SeenAddress[] = [];
    for (let after = null; rows.length < MAX_ADDRESSES;) {
      const batch = await this.recipients.list(owner, after, BATCH);
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
}

const HALF_LIFE_MS = 30 * 86_400_000;

/** Exponents of two. Received messages weigh a quarter, because many come from mailing lists and programs. */
const WEIGHT: Record<AddressSource, number> = { sent: 0, received: -2, calendar: 0 };

function withSource(
  known: ExtractedAddress | undefined,
  key: string,
  source: AddressSource,
  { address, name, count, last_seen_at }: SeenAddress,
): ExtractedAddress {
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

/** Order of the list. */
export const compareAddresses = (
  one: Pick<ExtractedAddress, 'rank' | 'key'>,
  other: Pick<ExtractedAddress, 'rank' | 'key'>,
): number => other.rank - one.rank || (one.key < other.key ? -1 : Number(one.key > other.key));
