import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { lockHeads } from '../../platform/sync/sync-heads.js';

/** A transfer of everything that one member owns to another active member of the same workspace. */
export interface ContentTransfer {
  /** The caller who transfers, for history and audit. */
  ctx: RequestContext;
  from: string;
  to: string;
}

/** A member of a workspace, as the owner of content. */
export interface ContentOwner {
  tenantId: string;
  userId: string;
}

/** One kind of content that members own, e.g. notes. Its module registers it. */
export interface OwnedContent {
  /** Plural name in responses, e.g. `note_folders`. */
  readonly kind: string;
  /**
   * Position in the lock order of a transfer: task folders 10, tasks 20, note folders 30, notes 40, forms 50, calendars 60,
   * address books 70, webhooks 80, incoming webhooks 90.
   */
  readonly order: number;
  /** Number of objects of an owner, including those in the trash. */
  count(reader: Reader, owner: ContentOwner): Promise<number>;
  /** Locks the rows that the transfer writes, except feed counters. @returns users whose feeds change, besides both members */
  lock(tx: Tx, transfer: ContentTransfer): Promise<string[]>;
  /** Changes the owner of all objects of `from`, with history, feeds and search. @returns number of objects */
  transfer(tx: Tx, transfer: ContentTransfer): Promise<number>;
}

/** Content of members by kind, across modules. */
@Injectable()
export class MemberContent {
  private registered: OwnedContent[] = [];

  register(content: OwnedContent): void {
    if (this.registered.some(({ kind }) => kind === content.kind))
      throw new Error(`content of the kind ${content.kind} is already registered`);
    this.registered = [...this.registered, content].toSorted((a, b) => a.order - b.order);
  }

  /** @returns number of objects by kind */
  async count(reader: Reader, owner: ContentOwner): Promise<Record<string, number>> {
    return this.each((content) => content.count(reader, owner));
  }

  /**
   * Locks everything in the lock order of all writes, then transfers kind by kind. The caller has locked the memberships and
   * checked both members.
   * @returns number of objects by kind
   */
  async transfer(tx: Tx, transfer: ContentTransfer): Promise<Record<string, number>> {
    const { ctx, from, to } = transfer;
    const users = [from, to];
    for (const content of this.registered) users.push(...(await content.lock(tx, transfer)));
    await lockHeads(tx, ctx.tenantId, users);
    return this.each((content) => content.transfer(tx, transfer));
  }

  private async each(of: (content: OwnedContent) => Promise<number>): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const content of this.registered) counts[content.kind] = await of(content);
    return counts;
  }
}

/** Base of one kind of content: registers itself, and counts with the function of its module. */
export abstract class RegisteredContent implements OwnedContent, OnModuleInit {
  readonly kind: string;
  readonly order: number;
  readonly count: OwnedContent['count'];

  constructor(
    private readonly contents: MemberContent,
    { kind, order, count }: Pick<OwnedContent, 'kind' | 'order' | 'count'>,
  ) {
    this.kind = kind;
    this.order = order;
    this.count = count;
  }

  onModuleInit(): void {
    this.contents.register(this);
  }

  abstract lock(tx: Tx, transfer: ContentTransfer): Promise<string[]>;
  abstract transfer(tx: Tx, transfer: ContentTransfer): Promise<number>;
}
