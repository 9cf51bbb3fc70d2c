import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../context/request-context.js';
import type { Reader } from '../database/tx.js';

/** @returns titles by id of those the caller may read; the others are missing */
export type TitleSource = (
  reader: Reader,
  ctx: RequestContext,
  ids: readonly string[],
) => Promise<Map<string, string>>;

/**
 * Titles of things that other domains own, for those who only hold their ids: a task refers to a note and must not import
 * notes. Each domain registers a source for its kind; a page asks each source once.
 */
@Injectable()
export class ReferenceTitles {
  private readonly sources = new Map<string, TitleSource>();

  register(kind: string, source: TitleSource): void {
    this.sources.set(kind, source);
  }

  /** @returns titles by id; nothing for a kind nobody has registered */
  async of(
    reader: Reader,
    ctx: RequestContext,
    kind: string,
    ids: readonly string[],
  ): Promise<Map<string, string>> {
    const source = this.sources.get(kind);
    return source && ids.length > 0 ? source(reader, ctx, [...new Set(ids)]) : new Map();
  }
}
