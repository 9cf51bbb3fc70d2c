// The floor: the cost of the same responses without the application. A bare HTTP server sends the statements of the
// repositories, named, over a bare `pg` pool of the same size. It trusts the tenant and user of two headers, finds its route
// by the first characters, checks nothing and returns the same bodies (a cursor is not signed).
import { v7 as uuidv7 } from 'uuid';
import { listBytes } from '../../../dist/platform/http/json-reply.js';
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
const notes = new NotesRepository(db);
const lists = new NoteListRepository(db);
const feed = new FloorFeed(db);

async function read(ctx, id) {
  const { note, role } = await notes.read(ctx, id);
  return { status: 200, json: `{"note":${note},"role":"${role}"}` };
}

async function list(ctx) {
  const rows = await lists.list(ctx, LIST);
  const given = rows.filter((row) => row.json !== null);
  const last = given.at(-1);
  const next =
    given.length < rows.length
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
  const { json } = await notes.create(db, ctx, uuidv7(), uuidv7(), body);
  return { status: 201, json: `{"note":${json}}` };
}

async function update(ctx, id, body) {
  const { base_revision: base, ...patch } = body;
  const { outcome, json } = await notes.update(db, ctx, uuidv7(), id, base, patch);
  if (outcome === 'ok') return { status: 200, json: `{"note":${json}}` };
  if (outcome !== 'conflict') throw new Error(outcome);
  // The server parses this JSON and writes it again without the spaces; so does the floor.
  return { status: 409, json: CONFLICT + JSON.stringify(JSON.parse(json)).slice(1) };
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
