import { Injectable } from '@nestjs/common';
import type { MemberKey } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { ReceivedAddress, ReceivedAddressScan } from '../contacts.entity.js';

/** An address with its use in one source. */
export type SeenAddress = Omit<ReceivedAddress, 'tenant_id' | 'user_id' | 'address_key'>;

/** The counted part of an inbox; null for one that was never read. */
export interface InboxScan extends Pick<ReceivedAddressScan, 'tenant_id' | 'user_id'> {
  mailbox: string | null;
  newest: number | null;
}

/** Maximum number of addresses of one user; the oldest ones above it are deleted. */
const MAX_KEPT = 2_000;

const due = workspace.statement<InboxScan>(
  'contacts.inboxes_due',
  `SELECT member.tenant_id, member.user_id, scan.mailbox, scan.newest::float8 AS newest
     FROM member_profiles member
     LEFT JOIN received_address_scans scan ON scan.tenant_id = member.tenant_id AND scan.user_id = member.user_id
    WHERE member.status = 'active' AND (scan.scanned_at IS NULL OR scan.scanned_at <= now() - make_interval(secs => $1))
    ORDER BY scan.scanned_at NULLS FIRST, member.user_id LIMIT $2`,
  { reach: 'cell' },
);

// Keeps the counted part of an inbox that was read before.
const postpone = workspace.statement<never>(
  'contacts.postpone_inbox_scan',
  `INSERT INTO received_address_scans AS scan (tenant_id, user_id, mailbox, newest) VALUES ($1, $2, '', 0)
   ON CONFLICT (tenant_id, user_id) DO UPDATE SET scanned_at = now()`,
);

// There is no row if another scan counted the same messages.
const saveScan = workspace.statement<Pick<ReceivedAddressScan, 'newest'>>(
  'contacts.save_inbox_scan',
  `INSERT INTO received_address_scans AS scan (tenant_id, user_id, mailbox, newest)
   SELECT $1, $2, $3, $4 WHERE $5::bigint IS NULL
      OR EXISTS (SELECT FROM received_address_scans known WHERE known.tenant_id = $1 AND known.user_id = $2)
   ON CONFLICT (tenant_id, user_id) DO UPDATE SET mailbox = excluded.mailbox, newest = excluded.newest, scanned_at = now()
    WHERE scan.newest = $5
   RETURNING newest::text AS newest`,
);

const count = workspace.statement<never>(
  'contacts.count_received',
  `INSERT INTO received_addresses AS known (tenant_id, user_id, address_key, address, name, count, last_seen_at)
   SELECT $1, $2, seen.key, seen.address, seen.name, seen.count, seen.last_seen_at
     FROM unnest($3::text[], $4::text[], $5::text[], $6::int[], $7::timestamptz[]) AS seen (key, address, name, count, last_seen_at)
    ORDER BY seen.key
   ON CONFLICT (tenant_id, user_id, address_key) DO UPDATE
     SET address = excluded.address, name = CASE WHEN excluded.name = '' THEN known.name ELSE excluded.name END,
         count = known.count + excluded.count, last_seen_at = greatest(known.last_seen_at, excluded.last_seen_at)`,
);

const trim = workspace.statement<never>(
  'contacts.trim_received',
  `DELETE FROM received_addresses known USING (
     SELECT address_key FROM received_addresses WHERE tenant_id = $1 AND user_id = $2
      ORDER BY last_seen_at DESC, address_key OFFSET $3) AS old
    WHERE known.tenant_id = $1 AND known.user_id = $2 AND known.address_key = old.address_key`,
);

const received = workspace.statement<SeenAddress>(
  'contacts.received_addresses',
  `SELECT address, name, count, last_seen_at FROM received_addresses WHERE tenant_id = $1 AND user_id = $2`,
);

const invited = workspace.statement<SeenAddress>(
  'contacts.event_addresses',
  `SELECT seen.email AS address, max(seen.name) AS name, count(DISTINCT seen.event_id)::int AS count, max(seen.seen_at) AS last_seen_at
     FROM event_addresses seen
    WHERE seen.tenant_id = $1 AND seen.user_id = $2 AND seen.email <> (
      SELECT lower(own.email) FROM member_profiles own WHERE own.tenant_id = $1 AND own.user_id = $2)
    GROUP BY seen.email ORDER BY max(seen.seen_at) DESC, seen.email LIMIT $3`,
);

/** SQL of the addresses of received messages and of events. */
@Injectable()
export class ReceivedRepository {
  constructor(private readonly db: Db) {}

  /**
   * The inboxes of active members that were not read for some time, longest ago first.
   * @param seconds between two reads of an inbox
   */
  async listDue(seconds: number, limit: number): Promise<InboxScan[]> {
    return this.db.query(due, [seconds, limit]);
  }

  /** Records a failed read, so that other inboxes come first. */
  async postpone({ tenantId, userId }: MemberKey): Promise<void> {
    await this.db.single((tx) => tx.query(postpone, [tenantId, userId]));
  }

  /**
   * Counts the senders of messages and records the scan.
   * @param seen by key of the address
   * @param before the scan that this one continues
   */
  async count(
    { tenantId, userId }: MemberKey,
    seen: ReadonlyMap<string, SeenAddress>,
    scan: { mailbox: string; newest: number },
    before: InboxScan,
  ): Promise<void> {
    const owner = [tenantId, userId];
    const rows = [...seen.values()];
    await this.db.tx(async (tx: Tx) => {
      const saved = await tx.query(saveScan, [...owner, scan.mailbox, scan.newest, before.newest]);
      if (saved.length === 0 || rows.length === 0) return;
      await tx.query(count, [
        ...owner,
        [...seen.keys()],
        rows.map(({ address }) => address),
        rows.map(({ name }) => name),
        rows.map((row) => row.count),
        rows.map(({ last_seen_at }) => last_seen_at),
      ]);
      await tx.query(trim, [...owner, MAX_KEPT]);
    });
  }

  async readReceived({ tenantId, userId }: MemberKey): Promise<SeenAddress[]> {
    return this.db.query(received, [tenantId, userId]);
  }

  /** Organizers and attendees of the events in the user's own calendars. */
  async readInvited({ tenantId, userId }: MemberKey): Promise<SeenAddress[]> {
    return this.db.query(invited, [tenantId, userId, MAX_KEPT]);
  }
}
