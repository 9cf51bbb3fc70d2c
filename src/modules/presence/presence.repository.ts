import { Injectable } from '@nestjs/common';
import type { RequestContext, WorkspaceKey } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Choice } from './model/presence-rules.js';
import type { PresenceResponse } from './presence.dto.js';

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

const choice = workspace.statement<Choice>(
  'presence.choice',
  `SELECT choice, text, choice_until FROM presence_users
    WHERE tenant_id = $1 AND user_id = $2 AND (choice_until IS NULL OR choice_until > now())`,
);

const connected = workspace.statement<{ session_id: string }>(
  'presence.connected',
  `SELECT DISTINCT session_id FROM presence_devices
    WHERE tenant_id = $1 AND user_id = ANY ($2::uuid[]) AND session_id = ANY ($3::uuid[]) AND expires_at > now()`,
);

// Indexes: presence_devices_expired, presence_users_due.
const isSweepDue = workspace.statement<{ is_due: boolean }>(
  'presence.is_sweep_due',
  `SELECT EXISTS (SELECT FROM presence_devices WHERE expires_at <= now())
       OR EXISTS (SELECT FROM presence_users WHERE due_at <= now()) AS is_due`,
  { reach: 'cell' },
);

/** Reads of presence. */
@Injectable()
export class PresenceRepository {
  constructor(private readonly db: Db) {}

  /** Active members among the users, by id. */
  async readPresence({ tenantId }: WorkspaceKey, userIds: readonly string[]): Promise<PresenceResponse[]> {
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

  async choice({ tenantId, userId }: RequestContext): Promise<Choice> {
    const [row] = await this.db.query(choice, [tenantId, userId]);
    return row ?? { choice: null, text: '', choice_until: null };
  }

  /** Those of the sessions of the users that have an open socket, or had one a few seconds ago. */
  async findConnected(
    { tenantId }: WorkspaceKey,
    userIds: readonly string[],
    sessionIds: readonly string[],
  ): Promise<string[]> {
    const rows = await this.db.query(connected, [tenantId, userIds, sessionIds]);
    return rows.map(({ session_id }) => session_id);
  }

  /** Whether devices have expired or changes are due. */
  async isSweepDue(): Promise<boolean> {
    return (await this.db.query(isSweepDue, [])).some(({ is_due }) => is_due);
  }
}
