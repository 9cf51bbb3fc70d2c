import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { type KnownRecipient, RecipientsApi } from '../../mail/index.js';
import { emailKey } from '../../../lib/contact-card/index.js';
import { fieldError } from '../contacts.errors.js';
import type { ListExtracted } from './extracted.dto.js';
import { ExtractedRepository } from './extracted.repository.js';
import type {
  ExtractedAddressesEnvelope,
  ExtractedAddressResponse,
  SuppressedAddressEnvelope,
} from './extracted.response.js';

const BATCH = 500;

/** Addresses of a user's messages, which the mail module counts, without those that the user removed. */
@Injectable()
export class ExtractedService {
  constructor(
    private readonly extracted: ExtractedRepository,
    private readonly recipients: RecipientsApi,
    private readonly cursors: Cursors,
  ) {}

  /** Frequent and recent addresses first. @throws ApiError 422 `invalid_cursor` */
  async list(ctx: RequestContext, query: ListExtracted): Promise<ExtractedAddressesEnvelope> {
    const { q, since, limit } = query;
    if (q !== undefined) {
      const found = await this.wanted(ctx, await this.recipients.suggest(ctx, q, BATCH), since);
      return { emails: await this.shown(ctx, found.slice(0, limit)), next: null };
    }
    const { rows, next } = await this.cursors.page(query, {
      scope: `extracted ${ctx.tenantId} ${ctx.userId} ${since?.toISOString() ?? ''}`,
      key: ({ rank, address_key }: KnownRecipient): [number, string] => [rank, address_key],
      rows: (after, count) => this.rows(ctx, after, count, since),
    });
    return { emails: await this.shown(ctx, rows), next };
  }

  /** Removes an address from the list for ever, whether or not it is in it. @throws ApiError 422 for a text that is none */
  async suppress(ctx: RequestContext, email: string): Promise<SuppressedAddressEnvelope> {
    const key = emailKey(email);
    if (key === null) throw fieldError('email', 'is_email', 'must be an e-mail address');
    await this.extracted.suppress(ctx, key);
    return { email, deleted: true };
  }

  private async rows(
    ctx: RequestContext,
    after: readonly [number, string] | undefined,
    count: number,
    since: Date | undefined,
  ): Promise<KnownRecipient[]> {
    const rows: KnownRecipient[] = [];
    let last = after ? { rank: after[0], address_key: after[1] } : null;
    for (;;) {
      const batch = await this.recipients.list(ctx, last, BATCH);
      rows.push(...(await this.wanted(ctx, batch, since)));
      if (rows.length >= count || batch.length < BATCH) return rows.slice(0, count);
      last = batch.at(-1) as KnownRecipient;
    }
  }

  private async wanted(ctx: RequestContext, rows: KnownRecipient[], since?: Date): Promise<KnownRecipient[]> {
    const removed = await this.extracted.suppressed(ctx, rows.map(keyOf));
    return rows.filter((row) => !removed.has(keyOf(row)) && (!since || row.last_used_at >= since));
  }

  private async shown(ctx: RequestContext, rows: KnownRecipient[]): Promise<ExtractedAddressResponse[]> {
    const contacts = await this.extracted.known(ctx, rows.map(keyOf));
    return rows.map((row) => {
      const { contact_id = null, addressbook_id = null } = contacts.get(keyOf(row)) ?? {};
      const { address: email, name, uses: count } = row;
      return { email, name, count, last_seen_at: row.last_used_at.toISOString(), contact_id, addressbook_id };
    });
  }
}

const keyOf = ({ address }: KnownRecipient): string => emailKey(address) ?? address;
