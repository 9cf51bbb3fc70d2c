import { Injectable } from '@nestjs/common';
import type { RequestContext, MemberKey } from '../../../../platform/context/request-context.js';
import { isStorable } from '../../../../platform/http/storable-text.js';
import { recipientKey } from './recipients.js';
import { type KnownRecipient, RecipientsRepository } from './recipients.repository.js';

const MAX_PAGE = 500;

/** The recipients of a user's messages, for autocomplete and address lists in other domains. */
@Injectable()
export class RecipientsApi {
  constructor(private readonly recipients: RecipientsRepository) {}

  /** Finds recipients whose address, or a word of whose name, starts with `text`; frequent and recent ones first. */
  async suggest(ctx: RequestContext, text: string, limit = 10): Promise<KnownRecipient[]> {
    const prefix = recipientKey(text);
    if (prefix === '' || !isStorable(prefix)) return [];
    return this.recipients.suggest(ctx, prefix, Math.min(limit, MAX_PAGE));
  }

  /** Lists all recipients in pages. @param after the last entry of the previous page; null for the first page */
  async list(
    ctx: MemberKey,
    after: Pick<KnownRecipient, 'rank' | 'address_key'> | null,
    limit: number,
  ): Promise<KnownRecipient[]> {
    return this.recipients.list(ctx, after, Math.min(limit, MAX_PAGE));
  }
}
