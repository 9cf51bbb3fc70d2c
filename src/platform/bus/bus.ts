import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import type pg from 'pg';
import { outsideRequests } from '../current-work/current-work.js';
import { Db } from '../database/db.js';
import { PrimaryClient } from '../database/connections/primary-client.js';
import { directory } from '../database/statement.js';

const CHANNEL = 'workspace_bus';
/** PostgreSQL rejects payloads of 8,000 bytes. */
const MAX_BYTES = 7_900;
/** Messages of one statement. */
const BATCH = 500;
/** Limit of queued messages. Further ones are dropped and reported as a loss. */
const MAX_QUEUED = 10_000;
const MIN_RETRY_MS = 100;
const MAX_RETRY_MS = 5_000;
/** A listening connection without a response for this time is dead. */
const CHECK_MS = 10_000;

type Handler = (message: Record<string, unknown>) => void;

const notify = directory.statement<never>(
  'bus.notify',
  `SELECT pg_notify('${CHANNEL}', payload) FROM unnest($1::text[]) WITH ORDINALITY AS queued (payload, position) ORDER BY position`,
);

/**
 * Sends small messages between processes, in the order of each sender, by LISTEN and NOTIFY of PostgreSQL. A message may be lost or,
 * rarely, repeated. Senders use statements of their own: NOTIFY within a transaction holds a lock of the whole database during its
 * commit. The listening connection reconnects by itself and reports one loss afterwards.
 */
@Injectable()
export class Bus implements OnModuleDestroy {
  private readonly logger = new Logger(Bus.name);
  private readonly handlers = new Map<string, Handler[]>();
  private readonly lossHandlers: (() => void)[] = [];
  private queue: string[] = [];
  private sending: Promise<void> | undefined;
  private client: pg.Client | undefined;
  private listening: Promise<void> | undefined;
  private retry: NodeJS.Timeout | undefined;
  private check: NodeJS.Timeout | undefined;
  private retryMs = MIN_RETRY_MS;
  private since: number | undefined;
  private closed = false;
  private hasLost = false;

  constructor(private readonly db: Db) {
    // A sender that could not send reports it to every process.
    this.subscribe('bus.loss', () => this.reportLoss());
  }

  /** `performance.now()` since which this process receives messages; undefined while it does not. */
  get listeningSince(): number | undefined {
    return this.since;
  }

  /**
   * Sends a message to every process, this one included. Call it after the commit: the message contains ids, and receivers
   * read the rows that it does not contain.
   * @throws RangeError for a message of more than 7,900 bytes
   */
  publish(topic: string, message: Record<string, unknown>): void {
    const payload = JSON.stringify({ ...message, topic });
    if (Buffer.byteLength(payload) > MAX_BYTES) throw new RangeError(`message of ${topic} is too long`);
    if (this.closed) return;
    if (this.queue.length >= MAX_QUEUED) this.hasLost = true;
    else this.queue.push(payload);
    this.sending ??= this.send().finally(() => (this.sending = undefined));
  }

  subscribe(topic: string, handler: Handler): void {
    this.handlers.set(topic, [...(this.handlers.get(topic) ?? []), handler]);
  }

  /** @param handler called when messages may have been lost */
  onLoss(handler: () => void): void {
    this.lossHandlers.push(handler);
  }

  /** Starts to receive. Messages sent before are not received. */
  listen(): Promise<void> {
    // Handlers of messages are not part of the request that starts to receive.
    this.listening ??= outsideRequests(() => this.connect());
    return this.listening;
  }

  async onModuleDestroy(): Promise<void> {
    this.closed = true;
    clearTimeout(this.retry);
    clearInterval(this.check);
    await this.sending;
    if (this.client) await end(this.client);
  }

  private async send(): Promise<void> {
    // Messages of the same turn of the event loop share a statement.
    await Promise.resolve();
    while (this.queue.length > 0 || this.hasLost) {
      const batch = this.queue.splice(0, BATCH);
      if (this.hasLost) batch.push(JSON.stringify({ topic: 'bus.loss' }));
      // A loss during the statement is reported by the next one.
      this.hasLost = false;
      try {
        await this.notify(batch);
      } catch (error) {
        this.logger.warn(
          { err: error, messages: batch.length },
          'messages between processes could not be sent; they are reported as lost',
        );
        this.hasLost = true;
        if (this.closed) return;
        await delay(MAX_RETRY_MS / 5, undefined, { ref: false });
      }
    }
  }

  /** Uses the listening connection, so that messages do not queue behind the requests of this process for the pool. */
  private async notify(batch: readonly string[]): Promise<void> {
    if (this.client && this.since !== undefined) {
      const { name, text } = notify;
      try {
        await this.client.query({ name, text, values: [batch] });
        return;
      } catch (error) {
        // The messages are sent again through the pool: receivers accept repeated messages.
        this.logger.warn(
          { err: error, messages: batch.length },
          'the listening connection failed to send messages',
        );
      }
    }
    await this.db.queryAlways(notify, [batch]);
  }

  /** @returns when the connection listens, or when the first attempt failed and further ones are scheduled */
  private async connect(): Promise<void> {
    if (this.closed) return;
    const { url } = this.db.dataSource.options as { url?: string };
    const client = new PrimaryClient({
      connectionString: url,
      application_name: 'workspace bus',
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
    });
    this.client = client;
    let isOver = false;
    const over = (error?: unknown): void => {
      if (isOver) return;
      isOver = true;
      void end(client);
      this.disconnected(error);
    };
    client.on('error', over);
    client.on('end', () => over());
    client.on('notification', ({ payload }) => this.deliver(payload ?? ''));
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      this.connected(client, over);
    } catch (error) {
      over(error);
    }
  }

  private connected(client: pg.Client, over: (error?: unknown) => void): void {
    const isReconnected = this.retryMs > MIN_RETRY_MS;
    this.retryMs = MIN_RETRY_MS;
    this.since = performance.now();
    clearInterval(this.check);
    this.check = setInterval(() => {
      client.query('SELECT 1').catch(over);
    }, CHECK_MS);
    this.check.unref();
    if (isReconnected) this.reportLoss();
  }

  private disconnected(error: unknown): void {
    this.since = undefined;
    clearInterval(this.check);
    if (this.closed) return;
    this.logger.warn({ err: error }, 'connection of the bus lost; it reconnects');
    this.retry = setTimeout(() => void this.connect(), this.retryMs);
    this.retry.unref();
    this.retryMs = Math.min(this.retryMs * 2, MAX_RETRY_MS);
  }

  private deliver(payload: string): void {
    const message = JSON.parse(payload) as Record<string, unknown>;
    for (const handler of this.handlers.get(message['topic'] as string) ?? []) {
      try {
        handler(message);
      } catch (error) {
        this.logger.error({ err: error }, 'handler of a message between processes failed');
      }
    }
  }

  private reportLoss(): void {
    for (const handler of this.lossHandlers) handler();
  }
}

/** Ends a connection, also one that is broken already. */
async function end(client: pg.Client): Promise<void> {
  await client.end().catch(() => undefined);
}
