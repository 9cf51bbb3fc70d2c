import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { Db } from '../database/db.js';

/** SQLSTATE of the notices. */
const NOTICE_CODE = 'WB001';

type Listener = (detail: string) => void;

interface Notice {
  code?: string;
  message?: string;
  detail?: string;
}

/**
 * Reports rows that a transaction of this process has written, after its commit, whatever statement or function wrote them. A
 * trigger raises `RAISE INFO '<topic>' USING ERRCODE = 'WB001', DETAIL = ...`: PostgreSQL sends it to the writing connection at
 * once, without the lock that NOTIFY holds during the commit and without a further statement. A transaction that rolls back
 * reports as well: listeners take a report as a hint to read.
 */
@Injectable()
export class CommitNotices implements OnModuleInit {
  private readonly listeners = new Map<string, Listener[]>();
  private readonly watched = new WeakSet<PoolClient>();

  constructor(private readonly db: Db) {}

  onModuleInit(): void {
    this.db.onPool((pool) => pool.on('acquire', (client) => this.watch(client)));
  }

  on(topic: string, listener: Listener): void {
    this.listeners.set(topic, [...(this.listeners.get(topic) ?? []), listener]);
  }

  private watch(client: PoolClient): void {
    if (this.watched.has(client)) return;
    this.watched.add(client);
    let notices: Notice[] = [];
    client.on('notice', (notice: Notice) => {
      if (notice.code === NOTICE_CODE) notices.push(notice);
    });
    // Each end of a statement without a further one in the queue; `I`: outside a transaction.
    client.on('drain', () => {
      if (notices.length === 0 || client.getTransactionStatus() !== 'I') return;
      const committed = notices;
      notices = [];
      for (const { message = '', detail = '' } of committed)
        for (const listener of this.listeners.get(message) ?? []) listener(detail);
    });
  }
}
