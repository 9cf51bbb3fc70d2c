import { Injectable } from '@nestjs/common';
import type { AccessChange } from '../context/access-changes.js';
import { concerns } from '../context/access-changes.js';
import type { Connection } from './connection.js';

const NONE: ReadonlySet<Connection> = new Set();

/** The authenticated sockets of this process, by user. */
@Injectable()
export class UserConnections {
  /** The keys are the workspace, then the user: a recipient of an event is looked up without a combined key. */
  private readonly byTenant = new Map<string, Map<string, Set<Connection>>>();
  private count = 0;
  private readonly added: ((connection: Connection, isFirst: boolean) => void)[] = [];
  private readonly removed: ((connection: Connection, isLast: boolean) => void)[] = [];

  /** @param listener `isFirst`: of the user in this process */
  onAdd(listener: (connection: Connection, isFirst: boolean) => void): void {
    this.added.push(listener);
  }

  /** @param listener `isLast`: of the user in this process */
  onRemove(listener: (connection: Connection, isLast: boolean) => void): void {
    this.removed.push(listener);
  }

  connectionsOf(tenantId: string, userId: string): ReadonlySet<Connection> {
    return this.byTenant.get(tenantId)?.get(userId) ?? NONE;
  }

  /** The sockets of several users. */
  ofUsers(tenantId: string, userIds: Iterable<string>): Connection[] {
    const users = this.byTenant.get(tenantId);
    const found: Connection[] = [];
    if (users)
      for (const user of userIds) for (const connection of users.get(user) ?? NONE) found.push(connection);
    return found;
  }

  /** Number of all sockets. */
  get size(): number {
    return this.count;
  }

  /** Ids of the workspaces with sockets. */
  get tenants(): string[] {
    return [...this.byTenant.keys()];
  }

  /** Whether a user of the workspace has a socket in this process. */
  hasTenant(tenantId: string): boolean {
    return this.byTenant.has(tenantId);
  }

  get all(): Connection[] {
    return [...this.byTenant.values()].flatMap((users) => [...users.values()].flatMap((own) => [...own]));
  }

  add(connection: Connection): void {
    const { tenantId, userId } = connection.ctx;
    const users = this.byTenant.get(tenantId) ?? new Map<string, Set<Connection>>();
    const own = users.get(userId) ?? new Set();
    this.byTenant.set(tenantId, users.set(userId, own.add(connection)));
    this.count += 1;
    for (const listener of this.added) listener(connection, own.size === 1);
  }

  remove(connection: Connection): void {
    const { tenantId, userId } = connection.ctx;
    const users = this.byTenant.get(tenantId);
    const own = users?.get(userId);
    if (!users || !own?.delete(connection)) return;
    if (own.size === 0) users.delete(userId);
    if (users.size === 0) this.byTenant.delete(tenantId);
    this.count -= 1;
    for (const listener of this.removed) listener(connection, own.size === 0);
  }

  /** Closes the sockets that a change of access concerns: their clients verify their access with a new token. */
  closeFor(change: AccessChange): void {
    for (const connection of this.all)
      if (concerns(change, connection.ctx)) connection.close('access_changed');
  }
}
