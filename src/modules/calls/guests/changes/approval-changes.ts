import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { RequestContext } from '../../../../platform/context/request-context.js';
import type { Tx } from '../../../../platform/database/tx.js';
import { Bus } from '../../../../platform/bus/bus.js';
import { Connection } from '../../../../platform/realtime/connection.js';
import { defineServerEvent } from '../../../../platform/realtime/event-declarations.js';
import { UserConnections } from '../../../../platform/realtime/user-connections.js';
import { Notifications } from '../../../../platform/notifications/notifications.js';
import { DOMAIN_REQUESTED, GUEST_APPROVAL, GUEST_WAITING } from './guests.notifications.js';
import { ApprovalEnvelope } from '../approvals/approvals.dto.js';
import { ApprovalsRepository } from '../approvals/approvals.repository.js';

const EVENTS = {
  waiting: defineServerEvent('guest.waiting', 'A guest waits for your decision.', ApprovalEnvelope),
  updated: defineServerEvent('guest.updated', 'The approval of a guest changed.', ApprovalEnvelope),
};

const APPROVAL_CHANGED = 'calls.approval_changed';

interface ApprovalMessage {
  tenant: string;
  guest: string;
  event: keyof typeof EVENTS;
}

/**
 * Reports guests in the queue to the hosts, by a notification and to their sockets in all processes. Notifies administrators of
 * requested domains.
 */
@Injectable()
export class ApprovalChanges implements OnModuleInit {
  private readonly logger = new Logger('Guests');

  constructor(
    private readonly bus: Bus,
    private readonly connections: UserConnections,
    private readonly approvals: ApprovalsRepository,
    private readonly notifications: Notifications,
  ) {}

  onModuleInit(): void {
    this.notifications.register(GUEST_WAITING, DOMAIN_REQUESTED);
    this.bus.subscribe(APPROVAL_CHANGED, (message) => {
      this.deliver(message as unknown as ApprovalMessage).catch((error: unknown) =>
        this.logger.warn({ err: error }, 'a guest in the queue was not reported to sockets'),
      );
    });
  }

  /** A guest has joined the queue. */
  async reportWaiting(tx: Tx, tenant: string, guest: string): Promise<void> {
    const found = await this.approvals.reviewers(tx, tenant, guest);
    const recipients = found.map(({ user_id }) => user_id);
    const data = {
      approval_id: guest,
      call_id: found[0]?.call_id ?? null,
      room_id: found[0]?.room_id ?? null,
    };
    await this.notifications.notify(tx, tenant, GUEST_WAITING, {
      recipients,
      actorId: null,
      subject: { kind: GUEST_APPROVAL, id: guest },
      data,
    });
    tx.afterCommit(() => this.bus.publish(APPROVAL_CHANGED, { tenant, guest, event: 'waiting' }));
  }

  /** A member has requested that guests of a domain are allowed. */
  async domainRequested(
    tx: Tx,
    { tenantId, userId: actorId }: RequestContext,
    id: string,
    recipients: string[],
  ): Promise<void> {
    const data = { approval_id: id };
    await this.notifications.notify(tx, tenantId, DOMAIN_REQUESTED, {
      recipients,
      actorId,
      subject: { kind: GUEST_APPROVAL, id },
      data,
    });
  }

  /** The state of a guest in the queue has changed. Call it after the commit. */
  reportChange(tenant: string, guest: string): void {
    this.bus.publish(APPROVAL_CHANGED, { tenant, guest, event: 'updated' });
  }

  private async deliver({ tenant, guest, event }: ApprovalMessage): Promise<void> {
    if (!this.connections.hasTenant(tenant)) return;
    const found = await this.approvals.forSockets(tenant, guest);
    if (!found) return;
    const hosts = this.connections.ofUsers(tenant, found.reviewers);
    Connection.sendAll(hosts, EVENTS[event], { approval: found.approval });
  }
}
