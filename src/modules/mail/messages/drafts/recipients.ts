import { Injectable } from '@nestjs/common';
import { addressForms, cutText } from '../../../../lib/text/index.js';
import type { MemberKey, RequestContext } from '../../../../platform/context/request-context.js';
import { Db } from '../../../../platform/database/db.js';
import { workspace } from '../../../../platform/database/statement.js';
import type { Tx } from '../../../../platform/database/tx.js';
import { isStorable } from '../../../../platform/http/storable-text.js';
import { isFields } from '../../input/fields.js';
import type { MailRecipient } from '../../mail.schema.js';

/** A recipient of a message. */
export interface Recipient {
  address: string;
  name: string;
}

/** The local part may be quoted (RFC 5321 4.1.2). */
const ADDRESS = /^(?:[^\s@<>,;"]+|"(?:[^"\\\p{Cc}]|\\[^\p{Cc}])+")@[^\s@<>,;"]+$/u;
const MAX_ADDRESS = 320;
const MAX_NAME = 200;
/** WildDuck accepts 400 per message. */
const MAX_RECIPIENTS = 500;

/** The recipients of a message in the shape of a request or a response; invalid addresses are skipped. */
export function recipientsOf(message: Record<string, unknown>): Recipient[] {
  const found = new Map<string, Recipient>();
  for (const field of ['to', 'cc', 'bcc'] as const) {
    const list: unknown = message[field];
    for (const item of Array.isArray(list) ? (list as unknown[]) : []) {
      const recipient = recipientOf(item);
      if (!recipient) continue;
      const key = recipientKey(recipient.address);
      if (found.size < MAX_RECIPIENTS && !found.get(key)?.name) found.set(key, recipient);
    }
  }
  return [...found.values()];
}

/** A recipient or sender as the mail service writes it; undefined without a valid address. */
export function recipientOf(item: unknown): Recipient | undefined {
  if (!isFields(item) || typeof item['address'] !== 'string') return undefined;
  const address = item['address'].trim();
  if (address.length > MAX_ADDRESS || !ADDRESS.test(address)) return undefined;
  const name = typeof item['name'] === 'string' ? cutText(item['name'].trim(), MAX_NAME) : '';
  return { address, name };
}

/** The key of an address: addresses that differ in case only are equal. */
export const recipientKey = (address: string): string => address.trim().normalize('NFKC').toLowerCase();

/** Addresses kept per user. */
const MAX_KEPT = 2_000;

export interface KnownRecipient
  extends Recipient, Pick<MailRecipient, 'uses' | 'last_used_at' | 'rank' | 'address_key'> {}

const COLUMNS = 'address, name, uses, last_used_at, rank, address_key';

const record = workspace.statement<never>(
  'mail.recipients_record',
  `SELECT mail_recipients_record($1, $2, $3, $4, $5, $6, $7, $8)`,
);

const suggest = workspace.statement<KnownRecipient>(
  'mail.recipients_suggest',
  `SELECT ${COLUMNS} FROM mail_recipients
    WHERE tenant_id = $1 AND user_id = $2
      AND (EXISTS (SELECT FROM unnest($5::text[]) AS form WHERE starts_with(address_key, form)) OR position(' ' || $3 IN ' ' || lower(name)) > 0)
    ORDER BY rank DESC, address_key LIMIT $4`,
);

const list = workspace.statement<KnownRecipient>(
  'mail.recipients_list',
  `SELECT ${COLUMNS} FROM mail_recipients
    WHERE tenant_id = $1 AND user_id = $2 AND (rank < $3 OR (rank = $3 AND address_key > $4))
    ORDER BY rank DESC, address_key LIMIT $5`,
);

/** SQL of the recipients of a user's messages. */
@Injectable()
export class RecipientsRepository {
  constructor(private readonly db: Db) {}

  /**
   * Counts the recipients of a message.
   * @param cause identifies the message: each message counts once
   * @param previous identifies the draft that the message replaces, which was counted before
   */
  async record(
    tx: Tx,
    ctx: RequestContext,
    recipients: Recipient[],
    cause: string,
    previous: string | null,
  ): Promise<void> {
    const values = [
      ctx.tenantId,
      ctx.userId,
      recipients.map(({ address }) => recipientKey(address)),
      recipients.map(({ address }) => address),
      recipients.map(({ name }) => name),
      cause,
      previous,
      MAX_KEPT,
    ];
    await tx.query(record, values);
  }

  /** @param prefix of the address or of a word of the name; lower case, not empty */
  async suggest(ctx: RequestContext, prefix: string, limit: number): Promise<KnownRecipient[]> {
    return this.db.query(suggest, [ctx.tenantId, ctx.userId, prefix, limit, addressForms(prefix)]);
  }

  /** @param after the last entry of the previous page */
  async list(
    ctx: MemberKey,
    after: { rank: number; address_key: string } | null,
    limit: number,
  ): Promise<KnownRecipient[]> {
    const from = after ?? { rank: Number.POSITIVE_INFINITY, address_key: '' };
    return this.db.query(list, [ctx.tenantId, ctx.userId, from.rank, from.address_key, limit]);
  }
}

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
