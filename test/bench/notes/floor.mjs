// The floor: the cost of the same responses without the application. A bare HTTP server sends the statements of the
// repositories, named, over a bare `pg` pool of the same size. It trusts the tenant and user of two headers, finds its route
// by the first characters, checks nothing and returns the same bodies (a cursor is not signed).
import { v7 as uuidv7 } from 'uuid';
import { listBytes } from '../../../dist/platform/http/json-reply.js';
import { NoteEditsRepository } from '../../../dist/modules/notes/changes/note-edits.js';
import { NoteRowsRepository } from '../../../dist/modules/notes/changes/note-rows.repository.js';
import { editOf, EDITORS, newNote } from '../../../dist/modules/notes/model/edit-rules.js';
import { NoteErrors } from '../../../dist/modules/notes/notes.dto.js';
import { NoteListRepository } from '../../../dist/modules/notes/lists/note-lists.service.js';
import { NotesRepository } from '../../../dist/modules/notes/notes.repository.js';
import { FloorFeed } from './floor-feed.mjs';
import { floorDatabase, serveFloor } from '../support/floor-server.mjs';

const NOTES = '/apis/v1/notes';
const CONFLICT = `{"error":${JSON.stringify(NoteErrors.conflict.code)},"message":${JSON.stringify(NoteErrors.conflict.message)},`;
const LIST = {
  sort: 'updated_at',
  order: 'desc',
  state: 'active',
  scope: 'all',
  include: 'content',
  limit: 50,
};

const db = floorDatabase();
/** Each statement is a transaction of its own. Nobody waits for the feed. */
const tx = { ...db, afterCommit: () => undefined };
const notes = new NotesRepository(db);
const edits = new NoteEditsRepository();
const rows = new NoteRowsRepository();
const lists = new NoteListRepository(db);
const feed = new FloorFeed(db);

async function read(ctx, id) {
  const { note, role } = await notes.read(ctx, id);
  return { status: 200, json: `{"note":${note},"role":"${role}"}` };
}

async function list(ctx) {
  const found = await lists.list(ctx, LIST);
  const given = found.filter((row) => row.json !== null);
  const last = given.at(-1);
  const next =
    given.length < found.length
      ? Buffer.from(JSON.stringify([last.key, last.id])).toString('base64url')
      : null;
  return {
    status: 200,
    json: listBytes(
      ['notes'],
      given.map((row) => row.json),
      `,"next":${JSON.stringify(next)}}`,
    ),
  };
}

async function create(ctx, body) {
  const edit = {
    isNew: true,
    row: newNote(ctx.userId, body),
    content: body.content ?? '',
    event: 'note.created',
  };
  const { note } = await edits.store(tx, ctx, uuidv7(), edit);
  return { status: 201, json: `{"note":${note}}` };
}

async function update(ctx, id, { base_revision: revision, ...patch }) {
  const { columns: row, content } = editOf(patch);
  const edit = { row, content, event: 'note.updated', assumed: { revision, roles: EDITORS } };
  const stored = await edits.store(tx, ctx, id, edit);
  return stored === 'outdated' ? conflict(ctx, id) : { status: 200, json: `{"note":${stored.note}}` };
}

async function conflict({ tenantId }, id) {
  const [note] = await rows.lock(tx, tenantId, [id]);
  const { revision, title, updated_at, updated_by } = note;
  const content = await rows.content(tx, tenantId, note);
  const current = { note_id: id, revision, title, content, updated_at, updated_by };
  return { status: 409, json: CONFLICT + JSON.stringify(current).slice(1) };
}

async function feedPage(ctx, url) {
  const [which, query] = url.split('?');
  return { status: 200, json: await feed[which](ctx, new URLSearchParams(query)) };
}

function route(request, body) {
  const { method, url, headers } = request;
  const ctx = { tenantId: headers['x-tenant'], userId: headers['x-user'] };
  if (method === 'POST') return create(ctx, JSON.parse(body));
  const id = url.slice(NOTES.length + 1);
  if (method === 'PATCH') return update(ctx, id, JSON.parse(body));
  if (url.charCodeAt(NOTES.length) !== 47) return list(ctx);
  if (id.startsWith('changes?') || id.startsWith('index?')) return feedPage(ctx, id);
  return read(ctx, id);
}

serveFloor(route);
