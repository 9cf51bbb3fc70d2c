import { Injectable } from '@nestjs/common';
import type { RequestContext, MemberKey } from '../../../../platform/context/request-context.js';
import { Db } from '../../../../platform/database/db.js';
import { workspace } from '../../../../platform/database/statement.js';
import type { Tx } from '../../../../platform/database/tx.js';
import { type Recipient, recipientKey } from './recipients.js';
import type { MailRecipient } from '../../mail.entity.js';

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
      AND (starts_with(address_key, $3) OR position(' ' || $3 IN ' ' || lower(name)) > 0)
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
    return this.db.query(suggest, [ctx.tenantId, ctx.userId, prefix, limit]);
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
