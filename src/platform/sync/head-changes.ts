import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Bus } from '../bus/bus.js';
import { CommitNotices } from '../bus/commit-notices.js';

const TOPIC = 'sync.heads';
/** Milliseconds in which changes are collected, so that one statement of the bus sends them. */
const COLLECT_MS = 20;
/** Counters in one message of the bus. */
const MAX_HEADS = 80;

type Listener = (tenantId: string, userId: string, head: number) => void;

interface HeadsMessage {
  tenant: string;
  /** Pairs of a user and the new head. */
  heads: [string, number][];
}

/** Reports counters of change feeds that have grown in any process, within about 30 ms. The bus may lose reports. */
@Injectable()
export class HeadChanges implements OnModuleInit, OnModuleDestroy {
  /** New heads by workspace and user. */
  private collected = new Map<string, Map<string, number>>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly bus: Bus,
    private readonly notices: CommitNotices,
  ) {}

  onModuleInit(): void {
    this.notices.on(TOPIC, (detail) => {
      const [tenant = '', user = '', head = ''] = detail.split(' ');
      this.report(tenant, user, Number(head));
    });
  }

  onModuleDestroy(): void {
    this.send();
  }

  onChange(listener: Listener): void {
    this.bus.subscribe(TOPIC, (message) => {
      const { tenant, heads } = message as unknown as HeadsMessage;
      for (const [user, head] of heads) listener(tenant, user, head);
    });
  }

  /** Reports a counter that a committed write has returned, in place of a notice. */
  report(tenant: string, user: string, head: number): void {
    const heads = this.collected.get(tenant) ?? new Map<string, number>();
    heads.set(user, Math.max(heads.get(user) ?? 0, head));
    this.collected.set(tenant, heads);
    this.timer ??= setTimeout(() => this.send(), COLLECT_MS).unref();
  }

  private send(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { collected } = this;
    this.collected = new Map();
    for (const [tenant, heads] of collected) {
      const all = [...heads];
      for (let at = 0; at < all.length; at += MAX_HEADS)
        this.bus.publish(TOPIC, { tenant, heads: all.slice(at, at + MAX_HEADS) });
    }
  }
}
