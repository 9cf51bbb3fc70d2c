import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { RequestContext } from '../context/request-context.js';
import { SyncState } from '../sync/state/sync-state.service.js';
import type { SyncStateResponse } from '../sync/state/sync-state.dto.js';
import { CHANGED } from './gateway-events.js';
import { UserConnections } from './user-connections.js';

/** Seconds of one wait. */
const WAIT_SECONDS = 3_600;
/** Pause after a failure, and when the process has too many waiting requests. */
const PAUSE_MS = 5_000;

/**
 * Sends `changed {collection, head}` to the sockets of a user when one of their change feeds has grown, in any process.
 * Each user with a socket has one wait of `SyncState`; one query reads the counters of all waits.
 */
@Injectable()
export class FeedChanges implements OnModuleInit {
  private readonly logger = new Logger(FeedChanges.name);
  private readonly watched = new Map<string, AbortController>();

  constructor(
    private readonly connections: UserConnections,
    private readonly state: SyncState,
  ) {}

  onModuleInit(): void {
    this.connections.onAdd(({ ctx }, isFirst) => {
      if (!isFirst) return;
      const end = new AbortController();
      this.watched.set(keyOf(ctx), end);
      void this.watch(ctx, end.signal);
    });
    this.connections.onRemove(({ ctx }, isLast) => {
      if (!isLast) return;
      this.watched.get(keyOf(ctx))?.abort();
      this.watched.delete(keyOf(ctx));
    });
  }

  private async watch(ctx: RequestContext, signal: AbortSignal): Promise<void> {
    let known: SyncStateResponse | undefined;
    while (!signal.aborted) {
      const started = performance.now();
      try {
        const query = { head: known?.head, wait: known ? WAIT_SECONDS : 0 };
        const next = await this.state.read(ctx, query, signal);
        if (known && next.head !== known.head) this.send(ctx, known, next);
        else if (known && performance.now() - started < PAUSE_MS) await pause(signal);
        known = next;
      } catch (error) {
        this.logger.warn({ err: error }, 'heads of feeds not read; they will be read again');
        await pause(signal);
      }
    }
  }

  private send(ctx: RequestContext, before: SyncStateResponse, after: SyncStateResponse): void {
    const grown = Object.entries(after.collections).filter(
      ([name, head]) => head > (before.collections[name] ?? 0),
    );
    for (const connection of this.connections.connectionsOf(ctx.tenantId, ctx.userId))
      for (const [collection, head] of grown) connection.send(CHANGED, { collection, head });
  }
}

const keyOf = ({ tenantId, userId }: RequestContext): string => `${tenantId} ${userId}`;

const pause = (signal: AbortSignal): Promise<void> =>
  delay(PAUSE_MS, undefined, { signal, ref: false }).catch(() => undefined);
