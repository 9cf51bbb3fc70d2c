import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Bus } from '../../platform/bus/bus.js';
import type { Connection } from '../../platform/realtime/connection.js';
import { defineServerEvent } from '../../platform/realtime/event-declarations.js';
import { UserConnections } from '../../platform/realtime/user-connections.js';
import type { PresenceChange } from './presence-writes.js';
import { OwnPresenceResponse, PresenceResponse } from './presence.dto.js';

const PRESENCE = defineServerEvent(
  'presence',
  'The presence of a user that the socket subscribes to has changed.',
  PresenceResponse,
);
const PRESENCE_OWN = defineServerEvent(
  'presence.own',
  'You have chosen a status on one of your devices.',
  OwnPresenceResponse,
);

const CHANGED = 'presence.changed';
const CHOSEN = 'presence.chosen';
/** Maximum number of changes in one message of the bus. A change has at most 700 bytes. */
const MAX_CHANGES = 10;

interface ChangedMessage {
  tenant: string;
  presence: PresenceResponse[];
}

interface ChosenMessage {
  tenant: string;
  user: string;
  own: OwnPresenceResponse;
}

const keyOf = (tenantId: string | null, userId: string): string => `${tenantId} ${userId}`;

/** Sends changes of presence to the sockets that subscribe to their users, in every process. */
@Injectable()
export class PresenceEvents implements OnModuleInit {
  private readonly subscribers = new Map<string, Set<Connection>>();
  private readonly subscriptions = new Map<Connection, readonly string[]>();

  constructor(
    private readonly connections: UserConnections,
    private readonly bus: Bus,
  ) {}

  onModuleInit(): void {
    this.connections.onRemove((connection) => this.subscribe(connection, []));
    this.bus.subscribe(CHANGED, (message) => this.deliver(message as unknown as ChangedMessage));
    this.bus.subscribe(CHOSEN, (message) => {
      const { tenant, user, own } = message as unknown as ChosenMessage;
      for (const connection of this.connections.connectionsOf(tenant, user))
        connection.send(PRESENCE_OWN, own);
    });
  }

  /** Replaces the users whose changes a socket receives. */
  subscribe(connection: Connection, userIds: readonly string[]): void {
    for (const key of this.subscriptions.get(connection) ?? []) {
      const own = this.subscribers.get(key);
      own?.delete(connection);
      if (own?.size === 0) this.subscribers.delete(key);
    }
    const keys = userIds.map((userId) => keyOf(connection.ctx.tenantId, userId));
    for (const key of keys)
      this.subscribers.set(key, (this.subscribers.get(key) ?? new Set()).add(connection));
    if (keys.length === 0) this.subscriptions.delete(connection);
    else this.subscriptions.set(connection, keys);
  }

  /** Reports changes to all processes, after their commit. */
  publish(changes: readonly PresenceChange[]): void {
    const byTenant = Map.groupBy(changes, ({ tenant_id }) => tenant_id);
    for (const [tenant, own] of byTenant)
      for (let at = 0; at < own.length; at += MAX_CHANGES)
        this.bus.publish(CHANGED, {
          tenant,
          presence: own.slice(at, at + MAX_CHANGES).map(({ tenant_id: _tenant, ...presence }) => presence),
        });
  }

  /** Reports the choice of a user to their own devices. */
  reportChoice({ tenantId: tenant, userId: user }: RequestContext, own: OwnPresenceResponse): void {
    this.bus.publish(CHOSEN, { tenant, user, own });
  }

  private deliver({ tenant, presence }: ChangedMessage): void {
    for (const change of presence)
      for (const connection of this.subscribers.get(keyOf(tenant, change.user_id)) ?? [])
        connection.send(PRESENCE, change);
  }
}
