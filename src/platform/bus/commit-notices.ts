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
 * Reports rows that a transaction of this process has written, after the end of the transaction. A trigger of the table executes
 * `RAISE INFO '<topic>' USING ERRCODE = 'WB001', DETAIL = ...`, so every statement and function that writes is covered. (Its condition leaves out
 * counters that the writer returns to the process, which reports them itself: `HeadChanges.report`.) PostgreSQL sends the notice to the
 * writing connection, without a further statement and without the lock that NOTIFY holds during the commit. Transactions that roll back are reported too: listeners treat a report as a hint to read.
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
    // pg emits `drain` after a statement when its queue is empty. `I`: no transaction is open.
    client.on('drain', () => {
      if (notices.length === 0 || client.getTransactionStatus() !== 'I') return;
      const committed = notices;
      notices = [];
      for (const { message = '', detail = '' } of committed)
        for (const listener of this.listeners.get(message) ?? []) listener(detail);
    });
  }
}
