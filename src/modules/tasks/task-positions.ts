import { Injectable } from '@nestjs/common';
import { generateKeyBetween } from 'fractional-indexing';
import type { RequestContext } from '../../platform/context/request-context.js';
import { isUuid } from '../../platform/http/id.pipe.js';
import { fieldError } from './task-outcome.js';
import { TasksRepository } from './tasks.repository.js';

/** Longer keys come of thousands of moves into one gap; PostgreSQL could not index them without end. */
const MAX_KEY = 1_000;

/**
 * Manual order by fractional keys: a task is put between two others by a key between theirs, and nothing else is
 * written. Neighbours are read before the write: two moves into one gap at once get keys in that gap, in some order.
 */
@Injectable()
export class TaskPositions {
  constructor(private readonly tasks: TasksRepository) {}

  /**
   * @param position as the client sent it
   * @param folder where the task is, or will be
   * @returns a key, or undefined for the end of the list, which the write works out
   * @throws ApiError 422
   */
  async resolve(
    ctx: RequestContext,
    position: unknown,
    folder: () => Promise<string | null>,
  ): Promise<string | undefined> {
    if (position === 'last') return undefined;
    if (position === 'first')
      return bounded(generateKeyBetween(null, await this.tasks.firstPosition(ctx, await folder())));
    if (typeof position === 'string') return givenKey(position);
    const { before, after } = (position ?? {}) as { before?: unknown; after?: unknown };
    if (isUuid(before) && after === undefined) return this.beside(ctx, before, 'before');
    if (isUuid(after) && before === undefined) return this.beside(ctx, after, 'after');
    throw wrong('must be first, last, { before: id }, { after: id } or the position of a task');
  }

  private async beside(ctx: RequestContext, id: string, side: 'before' | 'after'): Promise<string> {
    const found = await this.tasks.neighbours(ctx, id.toLowerCase(), side);
    if (!found) throw wrong(`names a task you do not see: ${side}`);
    return bounded(
      side === 'before'
        ? generateKeyBetween(found.beyond, found.position)
        : generateKeyBetween(found.position, found.beyond),
    );
  }
}

function givenKey(key: string): string {
  if (!/^[A-Za-z0-9]+$/.test(key)) throw wrong('is no key of the manual order');
  try {
    generateKeyBetween(bounded(key), null);
    return key;
  } catch (error) {
    throw error instanceof Error && error.name === 'ApiError'
      ? error
      : wrong('is no key of the manual order');
  }
}

function bounded(key: string): string {
  if (key.length > MAX_KEY) throw wrong('cannot be made between these two any more; move one of them first');
  return key;
}

const wrong = (what: string) => fieldError('position', 'invalid_position', `position ${what}`);
