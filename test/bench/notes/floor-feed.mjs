// Change feed and index of notes at the floor: the repository's statements, cursors unsigned.
import { listBytes } from '../../../dist/platform/http/json-reply.js';
import { NoteFeedRepository } from '../../../dist/modules/notes/feed/note-feed.controller.js';

const NO_SIGNATURE = '0'.repeat(16);
const DEFAULT_LIMIT = '100';

const write = (position) =>
  `c1.${Buffer.from(JSON.stringify(position)).toString('base64url')}.${NO_SIGNATURE}`;
const read = (cursor) => JSON.parse(Buffer.from(cursor.split('.')[1], 'base64url').toString());

function pageOf({ rows }) {
  const given = rows.filter((row) => row.json !== null);
  const more = given.length < rows.length;
  return { items: given.map((row) => row.json), more, last: given.at(-1)?.seq ?? 0 };
}

const ending = (more, head) => `"has_more":${more},"head":${head}`;
const time = () => `"server_time":"${new Date().toISOString()}"`;

export class FloorFeed {
  #notes;

  constructor(db) {
    this.#notes = new NoteFeedRepository(db);
  }

  async changes(ctx, query) {
    const [, after, since] = read(query.get('cursor'));
    const limit = Number(query.get('limit') ?? DEFAULT_LIMIT);
    const include = query.get('include') ?? 'content';
    const found = await this.#notes.changes(ctx, { after, limit, liveOnly: false, include });
    const { items, more, last } = pageOf(found);
    const head = more ? last : found.head;
    const cursor = write([0, head, since]);
    const next = more ? `"${cursor}"` : 'null';
    return listBytes(
      ['notes'],
      items,
      `,"cursor":"${cursor}","next":${next},${ending(more, head)},${time()}}`,
    );
  }

  async index(ctx, query) {
    const cursor = query.get('cursor');
    const [, upTo = null, since] = cursor === null ? [] : read(cursor);
    const limit = Number(query.get('limit') ?? DEFAULT_LIMIT);
    const include = query.get('include') ?? 'summary';
    const found = await this.#notes.index(ctx, { upTo, limit, include });
    const { items, more, last } = pageOf(found);
    const head = since ?? found.head;
    const checkpoint = write([0, head, head]);
    const next = more ? write([1, last - 1, head]) : null;
    return listBytes(
      ['notes'],
      items,
      `,"cursor":"${next ?? checkpoint}","next":${JSON.stringify(next)},${ending(more, head)},"changes_cursor":"${checkpoint}",${time()}}`,
    );
  }
}
