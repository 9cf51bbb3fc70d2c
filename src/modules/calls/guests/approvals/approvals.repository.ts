import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../../platform/context/request-context.js';
import { Db } from '../../../../platform/database/db.js';
import { rowsOf } from '../../../../platform/database/rows.js';
import { workspace } from '../../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../../platform/database/tx.js';
import { Guest, GuestDomain } from '../guests.schema.js';
import type { ApprovalResponse } from './approvals.dto.js';

/** Rights of the caller beyond the guests of their own calls and rooms. */
export interface ReviewRights {
  guests: boolean;
  domains: boolean;
}

// $2 caller, $3 and $4 rights.
const DECIDABLE = `view.tenant_id = $1
      AND CASE view.kind WHEN 'domain' THEN $4
                         ELSE ($3 OR EXISTS (SELECT FROM guest_deciders decider WHERE decider.tenant_id = $1
                                                AND decider.guest_id = view.id AND decider.user_id = $2)) END`;

// $5 room or null for guests of calls and domains.
const VISIBLE = `${DECIDABLE}
      AND CASE WHEN $5::uuid IS NULL THEN view.target_kind IS DISTINCT FROM 'chat_room' ELSE view.room_id = $5 AND view.target_kind = 'chat_room' END`;

const list = workspace.statement<{ id: string; approval: string }>(
  'approvals.list',
  `SELECT view.id, view.approval::text AS approval FROM guest_approval_views view
    WHERE ${VISIBLE} AND view.state = $6 AND ($7::uuid IS NULL OR view.call_id = $7) AND ($8::uuid IS NULL OR view.id > $8)
    ORDER BY view.id LIMIT $9`,
);

const read = workspace.statement<{ approval: string }>(
  'approvals.read',
  `SELECT view.approval::text AS approval FROM guest_approval_views view WHERE view.tenant_id = $1 AND view.id = $2`,
);

const forSockets = workspace.statement<{ approval: ApprovalResponse; reviewers: string[] }>(
  'approvals.for_sockets',
  `SELECT view.approval, ARRAY(SELECT decider.user_id FROM guest_deciders decider
                                WHERE decider.tenant_id = $1 AND decider.guest_id = $2) AS reviewers
     FROM guest_approval_views view
    WHERE view.tenant_id = $1 AND view.id = $2`,
);

const reviewers = workspace.statement<Pick<Guest, 'call_id' | 'room_id'> & { user_id: string }>(
  'approvals.reviewers',
  `SELECT decider.user_id, guest.call_id, guest.room_id FROM guests guest
     JOIN guest_deciders decider ON decider.tenant_id = $1 AND decider.guest_id = guest.id
    WHERE guest.tenant_id = $1 AND guest.id = $2`,
);

const isVisible = workspace.statement<{ id: string }>(
  'approvals.is_visible',
  `SELECT view.id FROM guest_approval_views view WHERE ${VISIBLE} AND view.id = $6`,
);

const titles = workspace.statement<{ id: string; title: string }>(
  'approvals.titles',
  `SELECT view.id, coalesce(view.approval->'guest'->>'name', view.approval->>'domain') AS title FROM guest_approval_views view
    WHERE ${DECIDABLE} AND view.id = ANY ($5::uuid[])`,
);

const moment = workspace.statement<{ now: Date; last_seq: string | null }>(
  'approvals.moment',
  `SELECT now() AS now, (SELECT last_seq FROM chat_room_refs room WHERE room.tenant_id = $1 AND room.id = $2) AS last_seq`,
);

/** SQL of decisions about guests and domains. */
@Injectable()
export class ApprovalsRepository {
  constructor(private readonly db: Db) {}

  /** JSON of approvals, oldest first. @param roomId null: of calls, and domains */
  async list(
    { tenantId, userId }: RequestContext,
    { guests, domains }: ReviewRights,
    roomId: string | null,
    { state, call_id = null }: { state: string; call_id?: string | null },
    after: string | undefined,
    limit: number,
  ): Promise<{ id: string; approval: string }[]> {
    const values = [tenantId, userId, guests, domains, roomId, state, call_id, after ?? null, limit];
    return this.db.query(list, values);
  }

  /** JSON of an approval. */
  async read(reader: Reader, { tenantId }: RequestContext, id: string): Promise<string> {
    return (await reader.query(read, [tenantId, id]))[0]?.approval as string;
  }

  async isVisible(
    { tenantId, userId }: RequestContext,
    { guests, domains }: ReviewRights,
    roomId: string | null,
    id: string,
  ): Promise<boolean> {
    return (await this.db.query(isVisible, [tenantId, userId, guests, domains, roomId, id])).length > 0;
  }

  /** Names of guests, and domains, that the caller decides about. */
  async titles(
    reader: Reader,
    { tenantId, userId }: RequestContext,
    { guests, domains }: ReviewRights,
    ids: readonly string[],
  ): Promise<Map<string, string>> {
    const rows = await reader.query(titles, [tenantId, userId, guests, domains, ids]);
    return new Map(rows.map(({ id, title }) => [id, title]));
  }

  /** The approval of a guest, and the users who decide. */
  async forSockets(
    tenantId: string,
    guestId: string,
  ): Promise<{ approval: ApprovalResponse; reviewers: string[] } | undefined> {
    return (await this.db.query(forSockets, [tenantId, guestId]))[0];
  }

  /** The users who decide about a guest, with the call and the room of the guest. */
  async reviewers(
    reader: Reader,
    tenantId: string,
    guestId: string,
  ): Promise<{ user_id: string; call_id: string | null; room_id: string | null }[]> {
    return reader.query(reviewers, [tenantId, guestId]);
  }

  /** The guest, locked; null if the caller does not decide about them. */
  async lockGuest(
    tx: Tx,
    { tenantId, userId }: RequestContext,
    { guests: decidesAll }: ReviewRights,
    id: string,
  ): Promise<Guest | null> {
    const guest = await rowsOf(tx, Guest).lock({ tenant_id: tenantId, id, role: 'guest' });
    if (!guest || decidesAll) return guest;
    const decides = (await this.reviewers(tx, tenantId, id)).some(({ user_id }) => user_id === userId);
    return decides ? guest : null;
  }

  async lockDomain(tx: Tx, { tenantId }: RequestContext, id: string): Promise<GuestDomain | null> {
    return rowsOf(tx, GuestDomain).lock({ tenant_id: tenantId, id });
  }

  /** The time of the transaction, and the number of the last message of a room; null without a room. */
  async moment(
    tx: Tx,
    { tenantId }: RequestContext,
    roomId: string | null,
  ): Promise<{ now: Date; last_seq: string | null }> {
    return (await tx.query(moment, [tenantId, roomId]))[0]!;
  }

  async updateGuest(tx: Tx, { tenant_id, id }: Guest, change: Partial<Guest>): Promise<void> {
    await rowsOf(tx, Guest).update({ tenant_id, id }, change);
  }

  async updateDomain(tx: Tx, { tenant_id, id }: GuestDomain, change: Partial<GuestDomain>): Promise<void> {
    await rowsOf(tx, GuestDomain).update({ tenant_id, id }, change);
  }
}
