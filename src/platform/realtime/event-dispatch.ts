import { Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { inWorkOf } from '../current-work/current-work.js';
import { growingTo } from '../memory/cache-size.js';
import { Errors } from '../http/errors.js';
import { validated } from '../http/input.pipe.js';
import { asApiError } from '../http/server/exception.filter.js';
import { assertFewEventValues } from '../http/body/body-limits.js';
import { assertStorable, removeInheritedKeys } from '../http/storable-text.js';
import type { Connection } from './connection.js';
import { RealtimeOptions } from './realtime-options.js';
import { SocketEvents } from './socket-events.js';

interface Bucket {
  tokens: number;
  at: number;
}

const MAX_BUCKETS = 100_000;

type Acknowledge = (response: object) => void;

/** Validates and limits the events of sockets, and acknowledges each with `{ok: true, ...}` or `{ok: false, status, error}`. */
@Injectable()
export class EventDispatch {
  private readonly logger = new Logger(EventDispatch.name);
  private readonly buckets = new LRUCache<string, Bucket>(growingTo(MAX_BUCKETS));

  constructor(
    private readonly events: SocketEvents,
    private readonly options: RealtimeOptions,
  ) {}

  async handle(connection: Connection, name: string, values: unknown[]): Promise<void> {
    const last = values.at(-1);
    const acknowledge: Acknowledge = typeof last === 'function' ? (last as Acknowledge) : () => undefined;
    const wait = this.take(connection);
    if (wait > 0) return this.reject(connection, acknowledge, wait);
    connection.rejected = 0;
    try {
      const { tenantId: workspace, userId: user } = connection.ctx;
      const run = () => this.run(connection, name, values[0]);
      acknowledge({ ok: true, ...(await inWorkOf({ workspace, user }, run)) });
    } catch (error) {
      const { kind, body } = asApiError(error);
      if (kind.status >= 500) this.logger.error({ err: error, event: name }, 'event of a socket failed');
      acknowledge({ ok: false, status: kind.status, ...body });
    }
  }

  private async run(connection: Connection, name: string, input: unknown): Promise<object> {
    const event = this.events.find(name);
    if (!event) throw Errors.notFound.with({ message: 'There is no such event.' });
    assertFewEventValues(input);
    assertStorable(input);
    removeInheritedKeys(input);
    return event.handle(connection, validated(event.input, input));
  }

  /** A client that ignores the limit is disconnected. */
  private reject(connection: Connection, acknowledge: Acknowledge, wait: number): void {
    connection.rejected += 1;
    const { status, code, message } = Errors.tooManyRequests;
    acknowledge({ ok: false, status, error: code, message, retry_after: Math.ceil(wait) });
    if (connection.rejected > this.options.maxRejected) connection.close('flood');
  }

  /** Counts one event of the user. @returns 0, or seconds until the next event is accepted */
  private take({ ctx }: Connection): number {
    const { perSecond, burst } = this.options;
    const key = `${ctx.tenantId} ${ctx.userId}`;
    const now = performance.now();
    const { tokens, at } = this.buckets.get(key) ?? { tokens: burst, at: now };
    const left = Math.min(burst, tokens + ((now - at) / 1_000) * perSecond);
    this.buckets.set(key, { tokens: left >= 1 ? left - 1 : left, at: now });
    return left >= 1 ? 0 : (1 - left) / perSecond;
  }
}
