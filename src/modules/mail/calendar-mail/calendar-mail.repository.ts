import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { WalkProgress, WalkRow } from '../inbox-walk.js';
import type { MailOwner } from '../mail-client.js';
import { MailAccount } from '../mail.schema.js';

/** An account whose mail is due to be searched. */
export interface ScanRow extends WalkRow {
  tenant_id: string;
  user_id: string;
}

// Index mail_accounts_mail_user. An account may be linked to users of several workspaces.
const owners = workspace.statement<Pick<MailAccount, 'tenant_id' | 'user_id'>>(
  'mail.calendar_owners',
  `SELECT tenant_id, user_id FROM mail_accounts WHERE mail_user_id = $1`,
  { reach: 'all' },
);

const due = workspace.statement<ScanRow>(
  'mail.calendar_scans_due',
  `SELECT account.tenant_id, account.user_id, scan.mailbox, scan.last_message, scan.next_page, scan.newest_message
     FROM mail_accounts account
     JOIN member_profiles member
       ON member.tenant_id = account.tenant_id AND member.user_id = account.user_id AND member.status = 'active'
     LEFT JOIN mail_calendar_scans scan ON scan.tenant_id = account.tenant_id AND scan.user_id = account.user_id
    WHERE account.mail_user_id IS NOT NULL
    ORDER BY scan.scanned_at NULLS FIRST LIMIT $1`,
  { reach: 'cell' },
);

const saveScan = workspace.statement<never>(
  'mail.calendar_scan_save',
  `INSERT INTO mail_calendar_scans (tenant_id, user_id, mailbox, last_message, next_page, newest_message, scanned_at)
   VALUES ($1, $2, $3, $4, $5, $6, now())
   ON CONFLICT (tenant_id, user_id) DO UPDATE
     SET mailbox = excluded.mailbox, last_message = excluded.last_message,
         next_page = excluded.next_page, newest_message = excluded.newest_message, scanned_at = now()`,
);

/** SQL of calendars in mail. */
@Injectable()
export class CalendarMailRepository {
  constructor(private readonly db: Db) {}

  /** The users of an account of the mail service. */
  async owners(mailUserId: string): Promise<MailOwner[]> {
    const rows = await this.db.query(owners, [mailUserId]);
    return rows.map(({ tenant_id, user_id }) => ({ tenantId: tenant_id, userId: user_id }));
  }

  /** The accounts that have waited longest. */
  async listDue(limit: number): Promise<ScanRow[]> {
    return this.db.query(due, [limit]);
  }

  async saveScan(tx: Tx, owner: MailOwner, { mailbox, lastMessage, walk }: WalkProgress): Promise<void> {
    const { nextPage = null, newest = null } = walk ?? {};
    await tx.query(saveScan, [owner.tenantId, owner.userId, mailbox, lastMessage, nextPage, newest]);
  }

  /** The address of an account that the workspace created; null for others. */
  async address({ tenantId, userId }: MailOwner): Promise<string | null> {
    return (
      (await rowsOf(this.db, MailAccount).one({ tenant_id: tenantId, user_id: userId }))?.address ?? null
    );
  }
}
