import { Injectable } from '@nestjs/common';
import type { AccessChange } from '../context/access-changes.js';
import { concerns } from '../context/access-changes.js';
import type { Connection } from './connection.js';

const keyOf = (tenantId: string, userId: string): string => `${tenantId} ${userId}`;

/** The authenticated sockets of this process, by user. */
@Injectable()
export class UserConnections {
  private readonly perTenant = new Map<string, number>();
  private readonly byUser = new Map<string, Set<Connection>>();
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

  of(tenantId: string, userId: string): ReadonlySet<Connection> {
    return this.byUser.get(keyOf(tenantId, userId)) ?? new Set();
  }

  /** The sockets of several users. */
  ofUsers(tenantId: string, userIds: Iterable<string>): Connection[] {
    const found: Connection[] = [];
    for (const user of userIds) {
      const own = this.byUser.get(keyOf(tenantId, user));
      if (own) found.push(...own);
    }
    return found;
  }

  /** Number of all sockets. */
  get size(): number {
    return this.count;
  }

  /** Ids of the workspaces with sockets. */
  get tenants(): string[] {
    return [...this.perTenant.keys()];
  }

  /** Whether a user of the workspace has a socket in this process. */
  hasTenant(tenantId: string): boolean {
    return this.perTenant.has(tenantId);
  }

  get all(): Connection[] {
    return [...this.byUser.values()].flatMap((connections) => [...connections]);
  }

  add(connection: Connection): void {
    const key = keyOf(connection.ctx.tenantId, connection.ctx.userId);
    const own = this.byUser.get(key) ?? new Set();
    this.byUser.set(key, own.add(connection));
    this.counted(connection.ctx.tenantId, 1);
    for (const listener of this.added) listener(connection, own.size === 1);
  }

  remove(connection: Connection): void {
    const key = keyOf(connection.ctx.tenantId, connection.ctx.userId);
    const own = this.byUser.get(key);
    if (!own?.delete(connection)) return;
    if (own.size === 0) this.byUser.delete(key);
    this.counted(connection.ctx.tenantId, -1);
    for (const listener of this.removed) listener(connection, own.size === 0);
  }

  private counted(tenantId: string, change: 1 | -1): void {
    this.count += change;
    const left = (this.perTenant.get(tenantId) ?? 0) + change;
    if (left === 0) this.perTenant.delete(tenantId);
    else this.perTenant.set(tenantId, left);
  }

  /** Closes the sockets that a change of access concerns: their clients verify their access with a new token. */
  closeFor(change: AccessChange): void {
    for (const connection of this.all)
      if (concerns(change, connection.ctx)) connection.close('access_changed');
  }
}
