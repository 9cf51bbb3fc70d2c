import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Statement } from '../../platform/database/statement.js';
import { mailService } from '../mail-service.schema.js';

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
  /** Page towards the beginning of the list. */
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

/** An empty mailbox gives one row without a message. */
type Row = ListedMailbox & { [Member in keyof ListRow]: ListRow[Member] | null };

const TIME = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const FIELDS = `jsonb_build_object(
  'id', m.uid, 'mailbox', m.mailbox_id, 'thread', m.thread,
  'from', coalesce(nullif(m.summary->'from', 'null'), '{"address":"","name":""}'),
  'to', m.summary->'to', 'cc', m.summary->'cc', 'bcc', m.summary->'bcc',
  'messageId', m.message_id, 'subject', m.subject, 'date', ${TIME('m.hdate')}, 'idate', ${TIME('m.idate')},
  'attachments', jsonb_array_length(m.summary->'attachments') > 0, 'attachmentsList', m.summary->'attachments',
  'size', m.size, 'seen', m.seen, 'unseen', NOT m.seen, 'deleted', m.deleted, 'flagged', m.flagged, 'draft', m.draft,
  'answered', m.answered, 'forwarded', m.forwarded,
  'references', m.summary->'references', 'contentType', m.summary->'contentType')`;

/** Optional members. */
const INTRO = `jsonb_strip_nulls(jsonb_build_object('intro', m.intro))`;
const META_DATA = `jsonb_build_object('metaData', m.meta_data)`;
const THREAD_COUNT = `jsonb_build_object('threadMessageCount',
  (SELECT count(*) FROM messages t WHERE t.user_id = m.user_id AND t.thread = m.thread))`;
const HEADERS = `jsonb_build_object('headers',
  coalesce((SELECT jsonb_object_agg(k, m.headers->k) FROM unnest($4::text[]) k WHERE m.headers ? k), '{}'))`;

/** One statement per combination of options, so that each is planned with its own index. */
const statements = new Map<string, Statement<Row>>();

function listing(query: ListQuery): Statement<Row> {
  const { ascending, unseen, threadCounters, metaData, headers, backwards, from } = query;
  const key = [ascending, unseen, threadCounters, metaData, headers !== null, backwards, from !== null]
    .map((flag) => (flag ? '1' : '0'))
    .join('');
  let made = statements.get(key);
  if (!made) {
    const up = ascending !== backwards;
    const order = up ? 'ASC' : 'DESC';
    const members = [FIELDS, INTRO];
    if (threadCounters) members.push(THREAD_COUNT);
    if (metaData) members.push(META_DATA);
    if (headers) members.push(HEADERS);
    const place = headers ? ['$5::timestamptz', '$6'] : ['$4::timestamptz', '$5'];
    made = mailService.statement<Row>(
      `messages.list_${key}`,
      `SELECT b.total, b.unseen, b.special_use, page.id, page.date, page.json
       FROM mailboxes b LEFT JOIN LATERAL (
         SELECT m.id, to_char(m.idate AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date,
           (${members.join(' || ')})::text AS json
         FROM messages m
         WHERE m.user_id = $1 AND m.mailbox_id = $2 ${unseen ? 'AND NOT m.seen' : ''}
           ${from ? `AND (m.idate, m.id) ${up ? '>' : '<'} (${place.join(', ')})` : ''}
         ORDER BY m.idate ${order}, m.id ${order} LIMIT $3
       ) page ON true
       WHERE b.user_id = $1 AND b.id = $2
       ORDER BY page.date ${order}, page.id ${order}`,
    );
    statements.set(key, made);
  }
  return made;
}

/** Lists of messages. */
@Injectable()
export class MessageListRepository {
  constructor(private readonly db: Db) {}

  /**
   * Reads a page in one round trip.
   * @returns the rows in the requested direction, one more than `limit` when there are more; undefined for an unknown mailbox
   */
  async list(
    userId: string,
    mailbox: string,
    query: ListQuery,
  ): Promise<{ box: ListedMailbox; rows: ListRow[] } | undefined> {
    const { from, limit, headers } = query;
    const values: unknown[] = [userId, mailbox, limit + 1];
    if (headers) values.push(headers);
    if (from) values.push(from.date, from.id);
    const found = await this.db.query(listing(query), values);
    const [box] = found;
    return box && { box, rows: found.filter((row): row is ListedMailbox & ListRow => row.json !== null) };
  }
}
