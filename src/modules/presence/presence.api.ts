import { Injectable } from '@nestjs/common';
import type { RequestContext, WorkspaceKey } from '../../platform/context/request-context.js';
import type { Connection } from '../../platform/realtime/connection.js';
import type { PresenceStatus } from './presence.schema.js';
import { PresenceDevices } from './devices/presence-devices.js';
import { PresenceOptions } from './presence-writes.js';
import { PresenceRepository } from './presence.repository.js';

/** Presence for other modules. Their SQL may also join the views `presence_views` and `presence_viewers`. */
@Injectable()
export class PresenceApi {
  constructor(
    private readonly repository: PresenceRepository,
    private readonly devices: PresenceDevices,
    private readonly options: PresenceOptions,
  ) {}

  /** Seconds after which a dead socket no longer counts as open, whether its client or its process has ended. */
  get staleSeconds(): number {
    return this.options.lifetimeSeconds;
  }

  /** The presence of active members by user id; deactivated and unknown users are missing. */
  async readPresence(
    ctx: WorkspaceKey,
    userIds: readonly string[],
  ): Promise<Map<string, { status: PresenceStatus; text: string }>> {
    if (userIds.length === 0) return new Map();
    const rows = await this.repository.readPresence(ctx, userIds);
    return new Map(rows.map(({ user_id, status, text }) => [user_id, { status, text }]));
  }

  /** Whether the caller has chosen to be invisible. */
  async isInvisible(ctx: RequestContext): Promise<boolean> {
    return (await this.repository.choice(ctx)).choice === 'invisible';
  }

  /** Those of the sessions of the users that have an open socket, or had one a few seconds ago. */
  async findConnected(
    ctx: WorkspaceKey,
    userIds: readonly string[],
    sessionIds: readonly string[],
  ): Promise<Set<string>> {
    return sessionIds.length === 0
      ? new Set()
      : new Set(await this.repository.findConnected(ctx, userIds, sessionIds));
  }

  /** Records that a socket shows a room, or no longer shows it. The caller checks the membership. */
  view(connection: Connection, roomId: string, isOpen: boolean): void {
    this.devices.view(connection, roomId, isOpen);
  }
}
