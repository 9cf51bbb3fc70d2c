import { setTimeout as delay } from 'node:timers/promises';
import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { DeliveryOutcome } from '../../platform/smtp/smtp-relay.js';
import { type Account, AccountsRepository } from '../accounts/accounts.repository.js';
import { AccountCreations } from '../accounts/accounts.service.js';
import { domainOf } from '../accounts/addresses.js';
import { LocalDelivery } from './local-delivery.js';
import {
  INTERNAL_ERROR,
  NO_RELAY,
  OutgoingRelay,
  RELAY_CONNECTIONS,
  UNKNOWN_RECIPIENT,
  UNREADABLE,
} from './outgoing-relay.js';
import { type Entries, type Entry, QueueLease, QueueRepository } from './queue.repository.js';

/** Maximum interval between polls, which find entries of other processes and of workers that have ended. */
const POLL_MS = 10_000;
const MINIMUM_POLL_MS = 50;
/**
 * While due entries cannot be claimed, because messages to their domains and recipients are in flight. The end of one in this process wakes
 * the loop.
 */
const BUSY_POLL_MS = 1_000;

interface Options<Claim> {
  /** Maximum number of concurrent deliveries. */
  concurrency: number;
  claim: () => Promise<Claim | undefined>;
  deliver: (claim: Claim) => Promise<void>;
  /** Milliseconds until the next entry is due. */
  untilNext: () => Promise<number | undefined>;
}

/** Claims and delivers due entries with bounded concurrency. */
export class DeliveryLoop<Claim> {
  private readonly logger = new Logger('QueueWorker');
  private readonly running = new Set<Promise<void>>();
  private timer: NodeJS.Timeout | undefined;
  private filling: Promise<void> | undefined;
  private again = false;
  private stopped = true;

  constructor(private readonly options: Options<Claim>) {}

  start(): void {
    this.stopped = false;
    this.wake();
  }

  /** Stops claiming and waits for running deliveries. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.filling;
    await Promise.all(this.running);
  }

  /** Looks for due entries now. */
  wake(): void {
    if (this.stopped) return;
    this.again = true;
    this.filling ??= this.fill()
      .catch((error: unknown) => this.logger.error({ err: error }, 'the queue could not be read'))
      .then(() => this.schedule());
  }

  private async fill(): Promise<void> {
    clearTimeout(this.timer);
    while (this.again && !this.stopped) {
      this.again = false;
      while (!this.stopped && this.running.size < this.options.concurrency) {
        const claimed = await this.options.claim();
        if (claimed === undefined) break;
        this.run(claimed);
      }
    }
  }

  private run(claimed: Claim): void {
    const delivery = this.options.deliver(claimed).finally(() => {
      this.running.delete(delivery);
      this.wake();
    });
    this.running.add(delivery);
  }

  private async schedule(): Promise<void> {
    const due = await this.options.untilNext().catch(() => undefined);
    this.filling = undefined;
    if (this.stopped) return;
    if (this.again) this.wake();
    else {
      const isBlocked = due !== undefined && due <= 0;
      const pause = isBlocked ? BUSY_POLL_MS : Math.max(MINIMUM_POLL_MS, due ?? POLL_MS);
      this.timer = setTimeout(() => this.wake(), Math.min(POLL_MS, pause)).unref();
    }
  }
}

/** Concurrent local deliveries, and concurrent messages of the relay per destination domain. */
const LOCAL_DELIVERIES = 4;
const PER_DOMAIN = 2;
const FIRST_PAUSE_S = 60;
const LONGEST_PAUSE_S = 4 * 3_600;
/** With these pauses, the attempts take about four days. */
const MAX_ATTEMPTS = 30;
/** Pauses for local recipients without a mailbox. The attempts take 35 s: the account of a new member is created within seconds. */
const FIRST_WAIT_S = 5;
const LONGEST_WAIT_S = 20;
const MAX_WAITS = 3;
/** Time for deliveries to the relay at shutdown. */
const DRAIN_MS = 5_000;

/**
 * Delivers the queue: to local recipients exactly once, to others through the relay at least once. Two loops keep a slow
 * relay from delaying local delivery. Permanent failures return to the sender.
 */
@Injectable()
export class QueueWorker implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(QueueWorker.name);
  /** Messages in flight at the relay by domain. */
  private readonly domains = new Map<string, number>();
  private readonly localLoop = new DeliveryLoop<Entries>({
    concurrency: LOCAL_DELIVERIES,
    claim: () => this.queue.claim(false),
    deliver: (entries) => this.guarded(entries, () => this.deliverLocally(entries)),
    untilNext: () => this.queue.untilNext(false),
  });
  private readonly relayLoop = new DeliveryLoop<Entries>({
    concurrency: RELAY_CONNECTIONS,
    claim: () => this.queue.claim(true, this.saturatedDomains()),
    deliver: (entries) => this.guarded(entries, () => this.relayEntries(entries)),
    untilNext: () => this.queue.untilNext(true),
  });

  constructor(
    private readonly queue: QueueRepository,
    private readonly lease: QueueLease,
    private readonly accounts: AccountsRepository,
    private readonly local: LocalDelivery,
    private readonly relay: OutgoingRelay,
    private readonly creations: AccountCreations,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.creations.listen((address) => this.accountCreated(address));
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.lease.start();
    this.localLoop.start();
    this.relayLoop.start();
  }

  async onModuleDestroy(): Promise<void> {
    const relayed = this.relayLoop.stop();
    await this.localLoop.stop();
    await Promise.race([relayed, delay(DRAIN_MS, undefined, { ref: false })]);
    await this.lease.stop();
  }

  /** Looks for due entries now. */
  wake(): void {
    this.localLoop.wake();
    this.relayLoop.wake();
  }

  /** Delivers mail that waits for a new account. */
  private async accountCreated(address: string): Promise<void> {
    await this.queue.retryNow(address);
    this.wake();
  }

  private saturatedDomains(): string[] {
    return [...this.domains].filter(([, count]) => count >= PER_DOMAIN).map(([domain]) => domain);
  }

  /** Schedules a retry when `work` fails unexpectedly. */
  private async guarded(entries: readonly Entry[], work: () => Promise<void>): Promise<void> {
    this.lease.inProgress.add(entries);
    try {
      await work();
    } catch (error) {
      this.logger.error({ err: error, queue: entries[0]?.id }, 'a message could not be delivered');
      // If this fails too, the entry is due again when its lease ends.
      for (const entry of entries) await this.conclude(entry, INTERNAL_ERROR).catch(() => undefined);
    } finally {
      this.lease.inProgress.delete(entries);
    }
  }

  private async deliverLocally(entries: Entries): Promise<void> {
    const owners = await this.accounts.owners(entries.map(({ recipient }) => recipient));
    const localEntries = entries.filter(({ recipient }) => owners.has(recipient));
    const [first, ...others] = entries.filter(({ recipient }) => !owners.has(recipient));
    if (first && this.relay.isConfigured) {
      await this.queue.toRelay([first, ...others]);
      this.relayLoop.wake();
    } else if (first) await this.deferOrFail([first, ...others]);
    // Only local entries are guarded here: another worker may already work on the other ones.
    await this.guarded(localEntries, () => this.storeEntries(localEntries, owners));
  }

  private async storeEntries(entries: readonly Entry[], owners: ReadonlyMap<string, Account>): Promise<void> {
    const message = entries[0] && (await this.local.read(entries[0].raw_id));
    for (const entry of entries) {
      const { id } = owners.get(entry.recipient) as Account;
      const outcome = message ? await this.local.deliver(entry, id, message) : UNREADABLE;
      if (outcome) await this.conclude(entry, outcome);
    }
  }

  /** Without a relay: mail for a local domain waits for its recipient's account, other mail fails. */
  private async deferOrFail(entries: Entries): Promise<void> {
    const own = await this.accounts.ownDomains(entries.map(({ recipient }) => domainOf(recipient)));
    for (const entry of entries) {
      if (!own.has(domainOf(entry.recipient))) await this.conclude(entry, NO_RELAY);
      else if (entry.attempts > MAX_WAITS) await this.conclude(entry, UNKNOWN_RECIPIENT);
      else await this.queue.retry(entry, pause(entry, FIRST_WAIT_S, LONGEST_WAIT_S));
    }
  }

  private async relayEntries(entries: Entries): Promise<void> {
    const domains = new Set(entries.map(({ recipient }) => domainOf(recipient)));
    for (const domain of domains) this.domains.set(domain, (this.domains.get(domain) ?? 0) + 1);
    try {
      const outcomes = await this.relay.send(entries);
      for (const [n, entry] of entries.entries()) await this.conclude(entry, outcomes[n] as DeliveryOutcome);
    } finally {
      for (const domain of domains) {
        const left = (this.domains.get(domain) ?? 1) - 1;
        if (left > 0) this.domains.set(domain, left);
        else this.domains.delete(domain);
      }
    }
  }

  private async conclude(entry: Entry, outcome: DeliveryOutcome): Promise<void> {
    if (outcome.kind === 'sent') {
      await this.db.tx((tx) => this.queue.finishIn(tx, entry));
    } else if (outcome.kind === 'retry' && entry.attempts < MAX_ATTEMPTS) {
      const seconds = pause(entry, FIRST_PAUSE_S, LONGEST_PAUSE_S);
      this.logger.warn({ queue: entry.id, reason: outcome.reason, seconds }, 'a delivery will be retried');
      await this.queue.retry(entry, seconds);
    } else await this.local.bounce(entry, outcome);
  }
}

/** Doubles with each attempt. */
const pause = ({ attempts }: Entry, first: number, longest: number): number =>
  Math.min(first * 2 ** Math.min(attempts - 1, 30), longest);
