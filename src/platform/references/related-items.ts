import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../context/request-context.js';
import type { Reader } from '../database/tx.js';

/** Kinds of items in a list of related items. */
export const RELATED_KINDS = ['events', 'notes', 'tasks', 'messages', 'contacts', 'rooms'] as const;
export type RelatedKind = (typeof RELATED_KINDS)[number];

/** The subject to which items are related. */
export interface RelatedQuery {
  /** Search texts, the most specific one first. */
  texts: readonly string[];
  /** Addresses of users, lower case. */
  emails: readonly string[];
  /** Maximum number of items of each kind. */
  limit: number;
}

/** An item that the caller can read. */
export interface RelatedItem {
  id: string;
  title: string;
  reason: 'link' | 'title' | 'attendee' | 'time';
  /** 0 to 1. */
  score: number;
  /** RFC 3339: the start of an event; otherwise the last change. */
  date: string | null;
}

type RelatedSource = (ctx: RequestContext, query: RelatedQuery) => Promise<RelatedItem[]>;

/** Sources of related items. Each domain registers one for its kind; a kind without a source has no items. */
@Injectable()
export class RelatedItems {
  private readonly sources = new Map<RelatedKind, RelatedSource>();

  register(kind: RelatedKind, source: RelatedSource): void {
    this.sources.set(kind, source);
  }

  /** @returns the items of one kind, best first */
  async findRelated(ctx: RequestContext, kind: RelatedKind, query: RelatedQuery): Promise<RelatedItem[]> {
    const found = (await this.sources.get(kind)?.(ctx, query)) ?? [];
    return bestOf(found, query.limit);
  }
}

/** Items without repetitions, best first. */
export function bestOf(items: readonly RelatedItem[], limit: number): RelatedItem[] {
  const best = new Map<string, RelatedItem>();
  for (const item of items) if ((best.get(item.id)?.score ?? -1) < item.score) best.set(item.id, item);
  return [...best.values()]
    .toSorted((a, b) => b.score - a.score || ((a.date ?? '') < (b.date ?? '') ? 1 : -1))
    .slice(0, limit);
}

/** @returns counts by container id; containers without content may be missing */
type CountSource = (
  reader: Reader,
  ctx: RequestContext,
  ids: readonly string[],
) => Promise<Map<string, number>>;

/**
 * Counts the content of containers, such as the notes of a folder. The domain of the containers must not import the domain of
 * the content, so the domain of the content registers a source for the kind of container. A page reads each source once.
 */
@Injectable()
export class ContentCounts {
  private readonly sources = new Map<string, CountSource>();

  register(kind: string, source: CountSource): void {
    this.sources.set(kind, source);
  }

  /** @returns counts by container id, as the caller sees the content; empty for a kind without a source */
  async countContent(
    reader: Reader,
    ctx: RequestContext,
    kind: string,
    ids: readonly string[],
  ): Promise<Map<string, number>> {
    const source = this.sources.get(kind);
    return source && ids.length > 0 ? source(reader, ctx, ids) : new Map();
  }
}
