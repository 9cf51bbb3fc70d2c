import { Injectable } from '@nestjs/common';
import { mailErrors } from '../mail-error.js';
import { SerializedJson } from '../http/reply.js';
import { specialUseOf } from '../mailboxes/mailbox.presenter.js';
import { type ListCursor, writeCursor } from './list-cursor.js';
import { MessageListRepository } from './message-list.repository.js';

export interface ListRequest {
  user: string;
  mailbox: string;
  unseen: boolean;
  threadCounters: boolean;
  metaData: boolean;
  limit: number;
  order?: string;
  next?: ListCursor;
  previous?: ListCursor;
  includeHeaders?: string;
}

/** Pages of a mailbox, ordered by arrival. A page ends at a number of messages and of bytes. */
@Injectable()
export class MessageListService {
  constructor(private readonly messages: MessageListRepository) {}

  /** @throws MailError 404 */
  async page(request: ListRequest): Promise<SerializedJson> {
    const { user, mailbox, unseen, threadCounters, metaData, limit, next, previous } = request;
    const cursor = next ?? previous;
    const backwards = next === undefined && previous !== undefined;
    const found = await this.messages.list(user, mailbox, {
      ascending: request.order === 'asc',
      unseen,
      threadCounters,
      metaData,
      headers: headerNames(request.includeHeaders),
      backwards,
      from: cursor?.place ?? null,
      limit,
    });
    if (!found) throw mailErrors.noMailbox();
    const { box, rows, isMore } = found;
    const shown = backwards ? rows.toReversed() : rows;
    const page = cursor?.page ?? 1;
    const hasPrevious = backwards ? isMore : cursor !== undefined;
    const hasNext = backwards || isMore;
    const [first, last] = [shown[0], shown.at(-1)];
    const head = JSON.stringify({
      success: true,
      total: Number(unseen ? box.unseen : box.total),
      page,
      previousCursor: hasPrevious && first ? writeCursor(first, Math.max(1, page - 1)) : false,
      nextCursor: hasNext && last ? writeCursor(last, page + 1) : false,
      ...specialUseOf(box.special_use),
    });
    return new SerializedJson(`${head.slice(0, -1)},"results":[${shown.map(({ json }) => json).join(',')}]}`);
  }
}

function headerNames(list: string | undefined): string[] | null {
  if (list === undefined) return null;
  const names = list.split(',').map((name) => name.trim().toLowerCase());
  return [...new Set(names.filter(Boolean))].slice(0, 100);
}
