import { Injectable } from '@nestjs/common';
import type Joi from 'joi';
import { boundedPage, jsonBytes, PAGE_BYTES } from '../../platform/bounded-pages/page-bytes.js';
import { Db } from '../../platform/database/db.js';
import { StatementVariants } from '../../platform/database/statement.js';
import { SerializedJson } from '../http/replies.js';
import { ID } from '../ids.js';
import { mailErrors } from '../mail-error.js';
import { mailService } from '../mail-service.schema.js';
import { specialUseOf } from '../mailboxes/mailboxes.service.js';

/** A position in a list: after the message with this time and id. */
export interface ListPosition {
  date: string;
  id: string;
}

export interface ListQuery {
  ascending: boolean;
  unseen: boolean;
  threadCounters: boolean;
  metaData: boolean;
  /** Lower-case names of headers to include. */
  headers: string[] | null;
  /** True means the page before `from`. */
  backwards: boolean;
  from: ListPosition | null;
  limit: number;
}

/** A message of a list: its position and its response JSON. */
export interface ListRow extends ListPosition {
  json: string;
}

/** The mailbox of a list; int8 columns are text. */
export interface ListedMailbox {
  total: string;
  unseen: string;
  special_use: string | null;
}

/** An empty mailbox gives one row without a message; messages beyond the page have no JSON. */
type Row = ListedMailbox & { [Member in keyof ListRow]: ListRow[Member] | null };

const TIME = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const FIELDS = `jsonb_build_object(
  'id', message.uid, 'mailbox', message.mailbox_id, 'thread', message.thread,
  'from', coalesce(nullif(message.summary->'from', 'null'), '{"address":"","name":""}'),
  'to', message.summary->'to', 'cc', message.summary->'cc', 'bcc', message.summary->'bcc',
  'messageId', message.message_id, 'subject', message.subject, 'date', ${TIME('message.hdate')}, 'idate', ${TIME('message.idate')},
  'attachments', jsonb_array_length(message.summary->'attachments') > 0, 'attachmentsList', message.summary->'attachments',
  'size', message.size, 'seen', message.seen, 'unseen', NOT message.seen, 'deleted', message.deleted,
  'flagged', message.flagged, 'draft', message.draft,
  'answered', message.answered, 'forwarded', message.forwarded,
  'references', message.summary->'references', 'contentType', message.summary->'contentType')`;

/** Optional members. */
const INTRO = `jsonb_strip_nulls(jsonb_build_object('intro', message.intro))`;
const META_DATA = `jsonb_build_object('metaData', message.meta_data)`;
const THREAD_COUNT = `jsonb_build_object('threadMessageCount',
  (SELECT count(*) FROM messages AS other WHERE other.user_id = message.user_id AND other.thread = message.thread))`;
const HEADERS = `jsonb_build_object('headers',
  coalesce((SELECT jsonb_object_agg(header, message.headers->header) FROM unnest($5::text[]) AS header
    WHERE message.headers ? header), '{}'))`;

const STATEMENTS = new StatementVariants<Row>('messages.list', mailService);

function listing({ ascending, unseen, threadCounters, metaData, headers, backwards, from }: ListQuery) {
  const up = ascending !== backwards;
  const variant = [up, unseen, threadCounters, metaData, headers !== null, from !== null].join();
  return STATEMENTS.of(variant, () => {
    const order = up ? 'ASC' : 'DESC';
    const members = [FIELDS, INTRO];
    if (threadCounters) members.push(THREAD_COUNT);
    if (metaData) members.push(META_DATA);
    if (headers) members.push(HEADERS);
    const place = headers ? '$6::timestamptz, $7' : '$5::timestamptz, $6';
    const content = ['message.summary', 'message.meta_data', ...(headers ? ['message.headers'] : [])];
    const page = boundedPage({
      keys: `SELECT message.uid, message.id, message.idate, 1024 + ${jsonBytes(...content)} AS bytes
         FROM messages AS message
        WHERE message.user_id = $1 AND message.mailbox_id = $2 ${unseen ? 'AND NOT message.seen' : ''}
          ${from ? `AND (message.idate, message.id) ${up ? '>' : '<'} (${place})` : ''}
        ORDER BY message.idate ${order}, message.id ${order} LIMIT $3 + 1`,
      order: `sized.idate ${order}, sized.id ${order}`,
      limit: '$3',
      bytes: '$4',
      columns: `sized.id, to_char(sized.idate AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date, shown.json`,
      shown: {
        columns: `(${members.join(' || ')})::text AS json`,
        from: 'messages AS message WHERE message.user_id = $1 AND message.mailbox_id = $2 AND message.uid = sized.uid',
      },
    });
    return `SELECT mailbox.total, mailbox.unseen, mailbox.special_use, page.id, page.date, page.json
       FROM mailboxes AS mailbox LEFT JOIN LATERAL (${page}) page ON true
       WHERE mailbox.user_id = $1 AND mailbox.id = $2
       ORDER BY page.date ${order}, page.id ${order}`;
  });
}

/** Lists of messages. */
@Injectable()
export class MessageListRepository {
  constructor(private readonly db: Db) {}

  /**
   * Reads a page in one round trip.
   * @returns the rows in the requested direction, and whether more follow; undefined for an unknown mailbox
   */
  async list(
    userId: string,
    mailbox: string,
    query: ListQuery,
  ): Promise<{ box: ListedMailbox; rows: ListRow[]; isMore: boolean } | undefined> {
    const { from, limit, headers } = query;
    const values: unknown[] = [userId, mailbox, limit, PAGE_BYTES];
    if (headers) values.push(headers);
    if (from) values.push(from.date, from.id);
    const found = await this.db.query(listing(query), values);
    const [box] = found;
    const rows = found.filter((row): row is ListedMailbox & ListRow => row.json !== null);
    return box && { box, rows, isMore: found.some(({ id, json }) => id !== null && json === null) };
  }
}

/** A position in a list and the number of the page that begins there. */
export interface ListCursor {
  place: ListPosition;
  page: number;
}

const DATE = /^[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,6}Z$/;

/** WildDuck's format: base64url of `["[{\"$date\":…},{\"$oid\":…}]", page]`. Opaque to clients. */
export function writeCursor({ date, id }: ListPosition, page: number): string {
  const place = JSON.stringify([{ $date: date }, { $oid: id }]);
  return Buffer.from(JSON.stringify([place, page])).toString('base64url');
}

/** Joi validator: parses a cursor. */
export const cursorField: Joi.CustomValidator<string, ListCursor> = (text, helpers) => {
  try {
    const [place, page] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [string, number];
    const [{ $date: date }, { $oid: id }] = JSON.parse(place) as [{ $date: string }, { $oid: string }];
    const valid =
      DATE.test(date) && !Number.isNaN(Date.parse(date)) && ID.test(id) && Number.isSafeInteger(page);
    if (valid && page > 0) return { place: { date, id }, page };
  } catch {
    // Reported below.
  }
  return helpers.error('any.invalid');
};

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
