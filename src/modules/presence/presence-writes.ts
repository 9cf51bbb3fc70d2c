import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { MemberKey } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';
import {
  type Choice,
  choose,
  type OpenDevices,
  type PresenceRow,
  refresh,
  sweep,
} from './model/presence-rules.js';
import type { PresenceResponse } from './presence.dto.js';
import type { PresenceDevice } from './presence.schema.js';

/** Times of presence in one process. Tests shorten them. */
@Injectable()
export class PresenceOptions {
  /** Seconds after the last disconnect, or after the choice of `invisible`, until the status becomes `offline`. */
  graceSeconds = 10;
  /** Seconds between the heartbeats of a process. */
  heartbeatSeconds = 30;
  /** Seconds after which the sockets of a process without heartbeat expire. */
  lifetimeSeconds = 75;
  /** Milliseconds in which changes of sockets are collected: one statement writes them. */
  collectMs = 50;
}

/** A change that other users see. */
export interface PresenceChange extends PresenceResponse {
  tenant_id: string;
}

interface UserKey {
  tenant_id: string;
  user_id: string;
}

/** The socket of a user. */
export interface DeviceKey extends UserKey {
  id: string;
}

export interface Device extends DeviceKey, Pick<PresenceDevice, 'active' | 'rooms' | 'session_id'> {}

/** A locked user with their open devices. */
interface Facts extends OpenDevices {
  key: UserKey;
  row: PresenceRow;
  /** Time of the transaction. */
  now: Date;
}

const CELL = { reach: 'cell' } as const;

const lock = workspace.statement<UserKey>(
  'presence.lock',
  `SELECT member.tenant_id, member.user_id FROM presence_users member
    WHERE (member.tenant_id, member.user_id) IN (
      SELECT given.tenant_id, given.user_id FROM unnest($1::uuid[], $2::uuid[]) AS given (tenant_id, user_id))
    ORDER BY member.tenant_id, member.user_id FOR NO KEY UPDATE`,
  CELL,
);

const addUsers = workspace.statement<never>(
  'presence.add_users',
  `INSERT INTO presence_users (tenant_id, user_id)
   SELECT given.tenant_id, given.user_id FROM unnest($1::uuid[], $2::uuid[]) AS given (tenant_id, user_id)
    ORDER BY given.tenant_id, given.user_id ON CONFLICT DO NOTHING`,
  CELL,
);

const facts = workspace.statement<UserKey & PresenceRow & OpenDevices & { now: Date }>(
  'presence.facts',
  `SELECT member.tenant_id, member.user_id, member.choice, member.text, member.choice_until, member.hidden_at, member.due_at,
          member.status, member.shown_text, member.shown_until, member.last_active_at, now() AS now,
          device."isConnected", device."isActive", device."activeAt"
     FROM unnest($1::uuid[], $2::uuid[]) AS given (tenant_id, user_id)
     JOIN presence_users member ON member.tenant_id = given.tenant_id AND member.user_id = given.user_id
    CROSS JOIN LATERAL (
      SELECT count(*) > 0 AS "isConnected", coalesce(bool_or(open.active), false) AS "isActive", max(open.active_at) AS "activeAt"
        FROM presence_devices open
       WHERE open.tenant_id = member.tenant_id AND open.user_id = member.user_id AND open.expires_at > now()) device`,
  CELL,
);

const store = workspace.statement<never>(
  'presence.store',
  `UPDATE presence_users member
      SET choice = next.choice, text = next.text, choice_until = next.choice_until, hidden_at = next.hidden_at, due_at = next.due_at,
          status = next.status, shown_text = next.shown_text, shown_until = next.shown_until, last_active_at = next.last_active_at
     FROM jsonb_to_recordset($1::jsonb) AS next (
       tenant_id uuid, user_id uuid, choice text, text text, choice_until timestamptz, hidden_at timestamptz, due_at timestamptz,
       status text, shown_text text, shown_until timestamptz, last_active_at timestamptz)
    WHERE member.tenant_id = next.tenant_id AND member.user_id = next.user_id`,
  CELL,
);

const join = workspace.statement<never>(
  'presence.join',
  `INSERT INTO presence_devices AS device (tenant_id, user_id, id, active, active_at, rooms, session_id, expires_at)
   SELECT given.tenant_id, given.user_id, given.id, given.active, now(), given.rooms, given.session_id,
          now() + make_interval(secs => $2)
     FROM jsonb_to_recordset($1::jsonb) AS given (
       tenant_id uuid, user_id uuid, id text, active boolean, rooms uuid[], session_id uuid)
   ON CONFLICT (tenant_id, user_id, id) DO UPDATE
      SET active = excluded.active, rooms = excluded.rooms, expires_at = excluded.expires_at,
          active_at = CASE WHEN device.active OR excluded.active THEN now() ELSE device.active_at END`,
  CELL,
);

const extend = (name: string, set: string) =>
  workspace.statement<{ id: string }>(
    name,
    `UPDATE presence_devices device
        SET expires_at = now() + make_interval(secs => $4), ${set}
            active_at = CASE WHEN device.active THEN now() ELSE device.active_at END
       FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS given (tenant_id, user_id, id)
      WHERE device.tenant_id = given.tenant_id AND device.user_id = given.user_id AND device.id = given.id
     RETURNING device.id`,
    CELL,
  );
const beat = extend('presence.beat', '');
const leave = extend('presence.leave', `rooms = '{}',`);

// Devices may be missing for $2 seconds after a start of PostgreSQL: until then users without a device keep their status.
// Indexes: presence_devices_expired, presence_users_due, presence_users_shown.
const due = workspace.statement<UserKey>(
  'presence.sweep',
  `(SELECT tenant_id, user_id FROM presence_devices WHERE expires_at <= now() ORDER BY expires_at LIMIT $1)
   UNION
   (SELECT tenant_id, user_id FROM presence_users WHERE due_at <= now() ORDER BY due_at LIMIT $1)
   UNION
   (SELECT member.tenant_id, member.user_id FROM presence_users member
     WHERE member.status <> 'offline' AND pg_postmaster_start_time() < now() - make_interval(secs => $2)
       AND NOT EXISTS (
         SELECT FROM presence_devices device WHERE device.tenant_id = member.tenant_id AND device.user_id = member.user_id)
     LIMIT $1)`,
  CELL,
);

const deleteExpired = workspace.statement<UserKey & { active_at: Date }>(
  'presence.delete_expired',
  `WITH expired AS (
     DELETE FROM presence_devices device
      WHERE device.expires_at <= now() AND (device.tenant_id, device.user_id) IN (
        SELECT given.tenant_id, given.user_id FROM unnest($1::uuid[], $2::uuid[]) AS given (tenant_id, user_id))
     RETURNING device.tenant_id, device.user_id, device.active_at)
   SELECT tenant_id, user_id, max(active_at) AS active_at FROM expired GROUP BY tenant_id, user_id`,
  CELL,
);

/**
 * Writes of presence: each one locks the rows of the users, in the order of their ids, so that the rules (`model/presence-rules.ts`)
 * get all committed devices. A process collects the writes of its sockets: one statement writes devices of several workspaces of a cell.
 */
@Injectable()
export class PresenceWrites {
  constructor(private readonly db: Db) {}

  /** Stores the choice of a user for all devices. @returns changes that other users see now */
  async choose(
    { tenantId, userId }: MemberKey,
    choice: Choice,
    graceSeconds: number,
  ): Promise<PresenceChange[]> {
    const user = { tenant_id: tenantId, user_id: userId };
    const graceMs = graceSeconds * 1_000;
    return this.db.byCell(
      [user],
      ({ tenant_id }) => tenant_id,
      (users) =>
        this.db.tx(async (tx) => {
          await this.lockOrAdd(tx, users);
          return this.write(tx, users, ({ row, now, ...devices }) =>
            choose(row, devices, choice, { now, graceMs }),
          );
        }),
    );
  }

  /** Adds or changes devices of one cell. @returns changes that other users see */
  async join(devices: readonly Device[], lifetimeSeconds: number): Promise<PresenceChange[]> {
    const users = [...new Map(devices.map((device) => [keyOf(device), device])).values()];
    return this.db.tx(async (tx) => {
      await this.lockOrAdd(tx, users);
      await tx.query(join, [JSON.stringify(devices), lifetimeSeconds]);
      return this.write(tx, users, ({ row, now, ...open }) => refresh(row, open, now));
    });
  }

  /** Extends the life of devices of one cell. @returns the ids of existing devices */
  async beat(devices: readonly DeviceKey[], lifetimeSeconds: number): Promise<Set<string>> {
    const values = [...columnsOf(devices), devices.map(({ id }) => id), lifetimeSeconds];
    const rows = await this.db.single((tx) => tx.query(beat, values));
    return new Set(rows.map(({ id }) => id));
  }

  /** Lets disconnected devices of one cell expire. Until then the status of their users does not change. */
  async leave(devices: readonly DeviceKey[], graceSeconds: number): Promise<void> {
    const values = [...columnsOf(devices), devices.map(({ id }) => id), graceSeconds];
    await this.db.single((tx) => tx.query(leave, values));
  }

  /**
   * Removes expired devices and applies due changes of up to about 3 * `limit` users. Processes that sweep at the same time return
   * each change once.
   * @returns changes that other users see
   */
  async sweep(limit: number, lifetimeSeconds: number): Promise<PresenceChange[]> {
    return this.db.tx(async (tx) => {
      const users = await tx.query(due, [limit, lifetimeSeconds]);
      if (users.length === 0) return [];
      await tx.query(lock, columnsOf(users));
      const expired = await tx.query(deleteExpired, columnsOf(users));
      const activity = new Map(expired.map((each) => [keyOf(each), each.active_at]));
      return this.write(tx, users, ({ key, row, now, ...open }) =>
        sweep(row, open, activity.get(keyOf(key)) ?? null, now),
      );
    });
  }

  private async lockOrAdd(tx: Tx, users: readonly UserKey[]): Promise<void> {
    const locked = new Set((await tx.query(lock, columnsOf(users))).map(keyOf));
    const missing = users.filter((user) => !locked.has(keyOf(user)));
    if (missing.length === 0) return;
    await tx.query(addUsers, columnsOf(missing));
    // Another transaction may have added them.
    await tx.query(lock, columnsOf(missing));
  }

  /** Stores the rows of locked users that `next` changes. @returns what other users see of them, where it changed */
  private async write(
    tx: Tx,
    users: readonly UserKey[],
    next: (facts: Facts) => PresenceRow,
  ): Promise<PresenceChange[]> {
    const found = await tx.query(facts, columnsOf(users));
    const changed = found.flatMap(({ tenant_id, user_id, now, isConnected, isActive, activeAt, ...row }) => {
      const key = { tenant_id, user_id };
      const after = next({ key, row, now, isConnected, isActive, activeAt });
      return isDeepStrictEqual(after, row) ? [] : [{ key, before: row, after }];
    });
    if (changed.length > 0)
      await tx.query(store, [JSON.stringify(changed.map(({ key, after }) => ({ ...key, ...after })))]);
    return changed
      .filter(({ before, after }) => before.status !== after.status || before.shown_text !== after.shown_text)
      .map(({ key, after: { status, shown_text: text, last_active_at: active } }) => ({
        ...key,
        status,
        text,
        last_active_at: active?.toISOString() ?? null,
      }));
  }
}

const keyOf = ({ tenant_id, user_id }: UserKey): string => `${tenant_id} ${user_id}`;

const columnsOf = (users: readonly UserKey[]): unknown[] => [
  users.map((user) => user.tenant_id),
  users.map((user) => user.user_id),
];
