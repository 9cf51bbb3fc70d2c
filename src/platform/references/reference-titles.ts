import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../context/request-context.js';
import type { Reader } from '../database/tx.js';

/** @returns titles by id of the objects that the caller may read; the others are missing */
export type TitleSource = (
  reader: Reader,
  ctx: RequestContext,
  ids: readonly string[],
) => Promise<Map<string, string>>;

/**
 * Titles of objects that other domains own, by id: a task refers to a note and must not import notes. Each domain registers
 * a source for its kind; a page reads each source once.
 */
@Injectable()
export class ReferenceTitles {
  private readonly sources = new Map<string, TitleSource>();

  register(kind: string, source: TitleSource): void {
    this.sources.set(kind, source);
  }

  /** @returns titles by id; empty for a kind without a source */
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
