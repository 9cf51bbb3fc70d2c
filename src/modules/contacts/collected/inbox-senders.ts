import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { emailKey } from '../../../lib/contact-card/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { ReceivedMailApi, type Sender } from '../../mail/index.js';
import { ReceivedRepository, type SeenAddress } from './received.repository.js';

/** Seconds between two reads of one inbox. */
const INTERVAL_SECONDS = 60;
/** Time that a list of addresses waits for the mail service, milliseconds. */
const WAIT_MS = 3_000;

/**
 * Counts the senders of received messages. The inbox is read when its user lists addresses, from the newest message of the last
 * time on: this works with each mail service and costs nothing for users who never list them.
 */
@Injectable()
export class InboxSenders {
  private readonly logger = new Logger('Contacts');

  constructor(
    private readonly mail: ReceivedMailApi,
    private readonly repository: ReceivedRepository,
  ) {}

  /** Without a mail service, and when it is slow, the addresses stay as they are. */
  async refresh(ctx: RequestContext): Promise<void> {
    const waited = new AbortController();
    await Promise.race([
      this.read(ctx),
      delay(WAIT_MS, undefined, { signal: waited.signal, ref: false }).catch(() => undefined),
    ]);
    waited.abort();
  }

  private async read(ctx: RequestContext): Promise<void> {
    try {
      const scan = await this.repository.scan(ctx, INTERVAL_SECONDS);
      if (scan?.isRecent) return;
      const { tenantId, userId } = ctx;
      const part = await this.mail.senders({ tenantId, userId }, scan?.mailbox ?? null, scan?.newest ?? 0);
      await this.repository.count(ctx, counted(part.senders), part, scan);
    } catch (error) {
      this.logger.debug({ err: error }, 'the inbox was not read; the next list of addresses reads it again');
    }
  }
}

/** @param senders newest message first */
function counted(senders: readonly Sender[]): Map<string, SeenAddress> {
  const seen = new Map<string, SeenAddress>();
  for (const { address, name, date } of senders) {
    const key = emailKey(address);
    if (key === null) continue;
    const known = seen.get(key) ?? { address, name, count: 0, last_seen_at: date };
    const last_seen_at = known.last_seen_at > date ? known.last_seen_at : date;
    seen.set(key, { ...known, name: known.name || name, count: known.count + 1, last_seen_at });
  }
  return seen;
}
