import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../context/request-context.js';
import type { Reader } from '../database/tx.js';

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
  async of(
    reader: Reader,
    ctx: RequestContext,
    kind: string,
    ids: readonly string[],
  ): Promise<Map<string, number>> {
    const source = this.sources.get(kind);
    return source && ids.length > 0 ? source(reader, ctx, ids) : new Map();
  }
}
