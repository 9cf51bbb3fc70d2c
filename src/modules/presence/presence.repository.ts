import { Injectable } from '@nestjs/common';
import type { MemberKey, RequestContext, WorkspaceKey } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { type Statement, workspace } from '../../platform/database/statement.js';
import type { PresenceChoice } from './presence.entity.js';
import type { PresenceResponse } from './presence.response.js';

/** A change that other users see. */
export interface PresenceChange extends PresenceResponse {
  tenant_id: string;
}

/** The socket of a user. */
export interface DeviceKey {
  tenant_id: string;
  user_id: string;
  id: string;
}

export interface Device extends DeviceKey {
  active: boolean;
  rooms: string[];
  /** Null for tokens of an external issuer. */
  session_id: string | null;
}

export interface ChoiceRow {
  choice: Exclude<PresenceChoice, 'online'> | null;
  text: string;
  choice_until: Date | null;
}

const COLUMNS = `member.user_id, coalesce(presence.status, 'offline') AS status, coalesce(presence.text, '') AS text,
          rfc3339(presence.last_active_at) AS last_active_at`;

const ofUsers = workspace.statement<PresenceResponse>(
  'presence.of_users',
  `SELECT ${COLUMNS} FROM member_profiles member
     LEFT JOIN presence_views presence ON presence.tenant_id = $1 AND presence.user_id = member.user_id
    WHERE member.tenant_id = $1 AND member.user_id = ANY ($2::uuid[]) AND member.status = 'active'
    ORDER BY member.user_id`,
);

// Index: presence_users_shown.
const list = workspace.statement<PresenceResponse>(
  'presence.list',
  `SELECT presence.user_id, presence.status, presence.text,
          rfc3339(presence.last_active_at) AS last_active_at
     FROM presence_views presence
     JOIN member_profiles member ON member.tenant_id = $1 AND member.user_id = presence.user_id AND member.status = 'active'
    WHERE presence.tenant_id = $1 AND presence.is_shown AND ($2::uuid IS NULL OR presence.user_id > $2)
    ORDER BY presence.user_id LIMIT $3`,
);

const choice = workspace.statement<ChoiceRow>(
  'presence.choice',
  `SELECT choice, text, choice_until FROM presence_users
    WHERE tenant_id = $1 AND user_id = $2 AND (choice_until IS NULL OR choice_until > now())`,
);

const CHANGED = 'tenant_id, user_id, status, text, rfc3339(last_active_at) AS last_active_at';

const choose = workspace.statement<PresenceChange>(
  'presence.choose',
  `SELECT ${CHANGED} FROM presence_choose($1, $2, $3, $4, $5, $6)`,
);

const join = workspace.statement<PresenceChange>(
  'presence.join',
  `SELECT ${CHANGED} FROM presence_join($1, $2)`,
  { reach: 'cell' },
);

const beat = workspace.statement<{ id: string }>(
  'presence.beat',
  `SELECT id FROM presence_beat($1, $2, $3, $4) AS id`,
  { reach: 'cell' },
);

const leave = workspace.statement<never>('presence.leave', `SELECT presence_leave($1, $2, $3, $4)`, {
  reach: 'cell',
});

const sweep = workspace.statement<PresenceChange>(
  'presence.sweep',
  `SELECT ${CHANGED} FROM presence_sweep($1, $2)`,
  { reach: 'cell' },
);

const hasDevice = workspace.statement<{ has_device: boolean }>(
  'presence.has_device',
  `SELECT EXISTS (
     SELECT FROM presence_devices
      WHERE tenant_id = $1 AND user_id = $2 AND session_id = $3 AND expires_at > now()) AS has_device`,
);

// Indexes: presence_devices_expired, presence_users_due.
const isSweepDue = workspace.statement<{ is_due: boolean }>(
  'presence.is_sweep_due',
  `SELECT EXISTS (SELECT FROM presence_devices WHERE expires_at <= now())
       OR EXISTS (SELECT FROM presence_users WHERE due_at <= now()) AS is_due`,
  { reach: 'cell' },
);

/** SQL of presence. A process collects the writes of its sockets, so one statement writes devices of several workspaces. */
@Injectable()
export class PresenceRepository {
  constructor(private readonly db: Db) {}

  /** Active members among the users, by id. */
  async of({ tenantId }: WorkspaceKey, userIds: readonly string[]): Promise<PresenceResponse[]> {
    return this.db.query(ofUsers, [tenantId, userIds]);
  }

  /** Users who are not offline, by id. */
  async list(
    { tenantId }: RequestContext,
    after: string | undefined,
    limit: number,
  ): Promise<PresenceResponse[]> {
    return this.db.query(list, [tenantId, after ?? null, limit]);
  }

  async choice({ tenantId, userId }: RequestContext): Promise<ChoiceRow> {
    const [row] = await this.db.query(choice, [tenantId, userId]);
    return row ?? { choice: null, text: '', choice_until: null };
  }

  /** @returns changes that other users see now */
  async choose(
    { tenantId, userId }: RequestContext,
    { choice: chosen, text, choice_until: until }: ChoiceRow,
    graceSeconds: number,
  ): Promise<PresenceChange[]> {
    return this.write(choose, [tenantId, userId, chosen, text, until, graceSeconds]);
  }

  /** Adds or changes devices of one cell. @returns changes that other users see */
  async join(devices: readonly Device[], lifetimeSeconds: number): Promise<PresenceChange[]> {
    return this.write(join, [JSON.stringify(devices), lifetimeSeconds]);
  }

  /** Extends the life of devices of one cell. @returns the ids of existing devices */
  async beat(devices: readonly DeviceKey[], lifetimeSeconds: number): Promise<Set<string>> {
    const rows = await this.write(beat, [...columnsOf(devices), lifetimeSeconds]);
    return new Set(rows.map(({ id }) => id));
  }

  /** Lets disconnected devices of one cell expire. */
  async leave(devices: readonly DeviceKey[], graceSeconds: number): Promise<void> {
    await this.write(leave, [...columnsOf(devices), graceSeconds]);
  }

  /** Removes expired devices and applies due changes. @returns changes that other users see */
  async sweep(limit: number, lifetimeSeconds: number): Promise<PresenceChange[]> {
    return this.write(sweep, [limit, lifetimeSeconds]);
  }

  /** Whether a session of the user has an open socket, or had one a few seconds ago. */
  async hasDevice({ tenantId, userId }: MemberKey, sessionId: string): Promise<boolean> {
    return (await this.db.query(hasDevice, [tenantId, userId, sessionId]))[0]?.has_device ?? false;
  }

  /** Whether devices have expired or changes are due. */
  async isSweepDue(): Promise<boolean> {
    return (await this.db.query(isSweepDue, [])).some(({ is_due }) => is_due);
  }

  private async write<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    return this.db.single((tx) => tx.query(statement, values));
  }
}

const columnsOf = (devices: readonly DeviceKey[]): unknown[] => [
  devices.map((device) => device.tenant_id),
  devices.map((device) => device.user_id),
  devices.map((device) => device.id),
];
