import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import { isStorable } from '../../platform/http/storable-text.js';
import { recipientKey } from './dialect/recipients.js';
import { type KnownRecipient, RecipientsRepository } from './mail-recipients.repository.js';

const MAX_PAGE = 500;

/** Whom a person writes to: what other domains may ask for autocomplete and for lists of addresses. */
@Injectable()
export class RecipientsApi {
  constructor(private readonly recipients: RecipientsRepository) {}

  /** Those whose address, or a word of whose name, begins with `text`; the most and latest used first. */
  async suggest(ctx: RequestContext, text: string, limit = 10): Promise<KnownRecipient[]> {
    const beginning = recipientKey(text);
    if (beginning === '' || !isStorable(beginning)) return [];
    return this.recipients.suggest(ctx, beginning, Math.min(limit, MAX_PAGE));
  }

  /** All of them, a page at a time. @param after the last one of the page before; null: from the beginning */
  async list(
    ctx: RequestContext,
    after: Pick<KnownRecipient, 'rank' | 'address_key'> | null,
    limit: number,
  ): Promise<KnownRecipient[]> {
    return this.recipients.list(ctx, after, Math.min(limit, MAX_PAGE));
  }
}
