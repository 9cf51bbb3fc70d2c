import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../context/request-context.js';
import type { Statement } from '../database/statement.js';
import type { Reader } from '../database/tx.js';

/** @returns titles by id of the objects that the caller can read */
type TitleSource = (
  reader: Reader,
  ctx: RequestContext,
  ids: readonly string[],
) => Promise<Map<string, string>>;

/** A source of the rows of a statement. @param statement its parameters: the workspace, the caller, the ids */
export const titlesBy =
  (statement: Statement<{ id: string; title: string }>): TitleSource =>
  async (reader, { tenantId, userId }, ids) => {
    const rows = await reader.query(statement, [tenantId, userId, ids]);
    return new Map(rows.map(({ id, title }) => [id, title]));
  };

/** @returns the ids of the objects that the caller may edit */
type EditableSource = (reader: Reader, ctx: RequestContext, ids: readonly string[]) => Promise<string[]>;

/**
 * Titles and access of objects of other domains, for a domain that stores only their ids: a task refers to a note, and tasks must
 * not import notes. Each domain registers sources for its kind. A page reads each source once.
 */
@Injectable()
export class ReferenceTitles {
  private readonly sources = new Map<string, { titles: TitleSource; editable?: EditableSource }>();

  register(kind: string, titles: TitleSource, editable?: EditableSource): void {
    this.sources.set(kind, { titles, editable });
  }

  /** @returns titles by id; empty for a kind without a source */
  async readTitles(
    reader: Reader,
    ctx: RequestContext,
    kind: string,
    ids: readonly string[],
  ): Promise<Map<string, string>> {
    const source = this.sources.get(kind);
    return source && ids.length > 0 ? source.titles(reader, ctx, [...new Set(ids)]) : new Map();
  }

  /** @returns ids of the objects that the caller may edit; empty for a kind without a source */
  async findEditable(
    reader: Reader,
    ctx: RequestContext,
    kind: string,
    ids: readonly string[],
  ): Promise<string[]> {
    const source = this.sources.get(kind)?.editable;
    return source && ids.length > 0 ? source(reader, ctx, [...new Set(ids)]) : [];
  }
}
