import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { AccountsRepository } from '../accounts/accounts.repository.js';
import { domainOf } from '../accounts/addresses.js';
import { Db } from '../../platform/database/db.js';
import { MailError } from '../http/mail-error.js';
import { MessageStore } from '../messages/message-store.js';
import type { ParsedMessage } from '../mime/message.js';
import { MimeWorkers } from '../mime/mime-workers.js';
import { RawMessages } from '../storage/raw-messages.js';
import { sizeOf, streamOf } from '../storage/bytes.js';
import { Spool } from '../storage/spool.js';
import { bounceMessage, HEADER_BYTES } from './bounce.js';
import { type Fate, Outward } from './outward.js';
import { type Entry, QueueRepository } from './queue.repository.js';

/** Looks for what another process submitted, or left behind. */
const IDLE_MS = 10_000;
const FIRST_PAUSE_S = 60;
const LONGEST_PAUSE_S = 4 * 3_600;
/** With these pauses, about four days. */
const MAX_ATTEMPTS = 30;
/** For somebody who has no mailbox yet: three days. */
const FIRST_WAIT_S = 5;
const LONGEST_WAIT_S = 900;
const MAX_WAITS = 300;

const NOBODY: Fate = { fate: 'never', status: '5.1.1', reason: 'There is no such mailbox on this server.' };

const UNREADABLE: Fate = { fate: 'never', status: '5.6.0', reason: 'The message cannot be read.' };

/** Somebody else delivered the entry: what this transaction did is undone. */
class AlreadyDelivered extends Error {}

interface Message {
  size: number;
  parsed: ParsedMessage;
}

/**
 * Delivers what is in the queue: at once to people of this server, exactly once, since the message and the end of its
 * entry are one transaction; to others through the outgoing server, at least once. What cannot be delivered returns to
 * its sender.
 */
@Injectable()
export class QueueWorker implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(QueueWorker.name);
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private again = false;
  private stopped = true;

  constructor(
    private readonly queue: QueueRepository,
    private readonly accounts: AccountsRepository,
    private readonly raws: RawMessages,
    private readonly mime: MimeWorkers,
    private readonly store: MessageStore,
    private readonly outward: Outward,
    private readonly db: Db,
    private readonly spool: Spool,
  ) {}

  onApplicationBootstrap(): void {
    this.stopped = false;
    this.wake();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  /** Something may be due. */
  wake(): void {
    if (this.stopped) return;
    if (this.running) {
      this.again = true;
      return;
    }
    clearTimeout(this.timer);
    this.running = this.drain()
      .catch((error: unknown) => this.logger.error({ err: error }, 'the queue cannot be worked on'))
      .then(() => this.rest());
  }

  /** Somebody has this address from now on; mail may have been waiting for them. */
  async appeared(address: string): Promise<void> {
    await this.queue.hurry(address);
    this.wake();
  }

  /** Delivers all that is due now. */
  private async drain(): Promise<void> {
    do {
      this.again = false;
      for (;;) {
        const entries = await this.queue.claim();
        if (entries.length === 0) break;
        const messages = Map.groupBy(entries, ({ id }) => id);
        await Promise.all([...messages.values()].map((group) => this.deliver(group as [Entry, ...Entry[]])));
        if (this.stopped) return;
      }
    } while (this.again);
  }

  private async rest(): Promise<void> {
    const due = await this.queue.untilNext().catch(() => undefined);
    this.running = undefined;
    if (this.stopped) return;
    if (this.again) this.wake();
    else this.timer = setTimeout(() => this.wake(), Math.min(IDLE_MS, Math.max(50, due ?? IDLE_MS))).unref();
  }

  /** One message, to those of its recipients that are due. */
  private async deliver(entries: [Entry, ...Entry[]]): Promise<void> {
    try {
      const owners = await this.accounts.owners(entries.map(({ recipient }) => recipient));
      const here = entries.filter(({ recipient }) => owners.has(recipient));
      const away = entries.filter(({ recipient }) => !owners.has(recipient));
      if (here.length > 0) {
        const message = await this.parsed(here[0]!.raw_id);
        for (const entry of here) {
          const { id } = owners.get(entry.recipient)!;
          await this.conclude(entry, message ? await this.deliverHere(entry, id, message) : UNREADABLE);
        }
      }
      const rest = this.outward.available ? away : await this.keepWaiting(away);
      const fates = rest.length > 0 ? await this.outward.send(rest as [Entry, ...Entry[]]) : [];
      for (const [n, entry] of rest.entries()) await this.conclude(entry, fates[n]);
    } catch (error) {
      // The lease runs out and it is tried again, by whoever is there then.
      this.logger.error({ err: error, queue: entries[0].id }, 'a message could not be delivered yet');
    }
  }

  /** @returns undefined when it cannot be read, e.g. since its headers grew beyond their limit: no retry would help */
  private parsed(rawId: string): Promise<Message | undefined> {
    return this.spool.during(async (scratch) => {
      const raw = await this.raws.read(rawId, scratch);
      try {
        return { size: sizeOf(raw), parsed: await this.mime.parse(raw) };
      } catch (error) {
        if (error instanceof MailError && error.status === 400) return undefined;
        throw error;
      }
    });
  }

  /**
   * Accounts are made when people first use mail: what is for a domain of ours waits for its recipient for a while.
   * @returns the entries that are for nobody of ours
   */
  private async keepWaiting(entries: readonly Entry[]): Promise<Entry[]> {
    const ours = await this.accounts.ownDomains(entries.map(({ recipient }) => domainOf(recipient)));
    const others: Entry[] = [];
    for (const entry of entries) {
      if (!ours.has(domainOf(entry.recipient))) others.push(entry);
      else if (entry.attempts > MAX_WAITS) await this.conclude(entry, NOBODY);
      else await this.queue.later(entry, pause(entry, FIRST_WAIT_S, LONGEST_WAIT_S));
    }
    return others;
  }

  private async deliverHere(
    entry: Entry,
    userId: string,
    { size, parsed }: Message,
  ): Promise<Fate | undefined> {
    const { sender, recipient } = entry;
    try {
      await this.db.tx(async (tx) => {
        await this.store.addIn(tx, {
          userId,
          mailbox: '\\Inbox',
          rawId: entry.raw_id,
          size,
          parsed,
          domain: domainOf(sender),
          seen: false,
          flagged: false,
          draft: false,
          envelope: { from: sender, rcpt: [{ value: recipient, formatted: recipient }] },
        });
        if (!(await this.queue.finishIn(tx, entry))) throw new AlreadyDelivered();
      });
    } catch (error) {
      if (error instanceof AlreadyDelivered) return undefined;
      if (!(error instanceof MailError)) throw error;
      return { fate: 'never', status: '5.2.2', reason: 'The mailbox of the recipient is full.' };
    }
    return undefined;
  }

  /** @param fate undefined: everything is done */
  private async conclude(entry: Entry, fate: Fate | undefined): Promise<void> {
    if (!fate) return;
    if (fate.fate === 'sent') {
      await this.db.tx((tx) => this.queue.finishIn(tx, entry));
    } else if (fate.fate === 'later' && entry.attempts < MAX_ATTEMPTS) {
      const seconds = pause(entry, FIRST_PAUSE_S, LONGEST_PAUSE_S);
      this.logger.warn({ queue: entry.id, reason: fate.reason, seconds }, 'a message is to be tried again');
      await this.queue.later(entry, seconds);
    } else await this.bounce(entry, fate);
  }

  private async bounce(entry: Entry, failure: { reason: string; status: string }): Promise<void> {
    const raw = await bounceMessage(entry, failure, await this.raws.head(entry.raw_id, HEADER_BYTES));
    const parsed = await this.mime.parse(raw);
    const rawId = await this.raws.put(streamOf(raw));
    await this.db.tx(async (tx) => {
      await this.store.addIn(tx, {
        userId: entry.user_id,
        mailbox: '\\Inbox',
        rawId,
        size: raw.length,
        parsed,
        domain: domainOf(entry.sender),
        seen: false,
        flagged: false,
        draft: false,
        // Nobody is told that this could not be delivered.
        envelope: { from: '', rcpt: [{ value: entry.sender, formatted: entry.sender }] },
        unlimited: true,
      });
      if (!(await this.queue.finishIn(tx, entry))) throw new AlreadyDelivered();
    });
  }
}

/** Twice as long after each attempt. */
const pause = ({ attempts }: Entry, first: number, longest: number): number =>
  Math.min(first * 2 ** Math.min(attempts - 1, 30), longest);
