// The minimal floor: `node:http` and `pg`, named statements, the HS256 check of a token, and nothing else.
// Environment: PORT, DATABASE_URL, DATABASE_POOL_MAX, MODE (objects or json), TOKEN_KEY.
import { createHmac, timingSafeEqual } from 'node:crypto';
import http from 'node:http';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { STATEMENTS } from './statements.mjs';

const NOTES = '/apis/v1/notes';
const { MODE, TOKEN_KEY } = process.env;
const statements = STATEMENTS[MODE];
const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: Number(process.env.DATABASE_POOL_MAX),
});

const run = async (name, values) => (await pool.query({ name, text: statements[name], values })).rows;

function caller({ authorization = '' }) {
  const [header, payload, signature = ''] = authorization.slice('Bearer '.length).split('.');
  const expected = createHmac('sha256', TOKEN_KEY).update(`${header}.${payload}`).digest('base64url');
  if (signature.length !== expected.length) return null;
  if (!timingSafeEqual(Buffer.from(signature), Buffer.from(expected))) return null;
  const claims = JSON.parse(Buffer.from(payload, 'base64url'));
  return claims.exp > Date.now() / 1000 ? claims : null;
}

const one = (note) => (MODE === 'json' ? `{"note":${note.json}}` : JSON.stringify({ note }));

async function list({ tenant, user }) {
  const rows = await run('list', [tenant, user]);
  return MODE === 'json'
    ? { status: 200, body: `{"notes":[${rows[0].json}],"next":null}` }
    : { status: 200, body: JSON.stringify({ notes: rows, next: null }) };
}

async function changes({ tenant, user }, query) {
  const [xid, id] = query.get('cursor').split('.');
  const rows = await run('feed', [tenant, user, xid, id]);
  const last = rows.at(-1);
  const cursor = last ? `${last.xid}.${last.id}` : `${xid}.${id}`;
  return { status: 200, body: JSON.stringify({ changes: rows, cursor }) };
}

/** The cursor of a client that has all changes; used in the preparation only. */
async function head({ tenant }) {
  const [{ xid, id }] = await run('head', [tenant]);
  return { status: 200, body: JSON.stringify({ cursor: `${xid}.${id}` }) };
}

async function respond({ method, url }, me, text) {
  const [path, query] = url.split('?');
  if (path === NOTES && method === 'GET') return list(me);
  if (path === `${NOTES}/changes`) return changes(me, new URLSearchParams(query));
  if (path === `${NOTES}/head`) return head(me);
  const id = path.slice(NOTES.length + 1);
  const { tenant, user } = me;
  if (method === 'GET') {
    const [note] = await run('read', [tenant, user, id]);
    if (!note) return { status: 404, body: '{"error":"not_found"}' };
    return { status: 200, body: one(note), etag: `"note:${id}:r${note.revision}"` };
  }
  const { base_revision: base, title, content, labels } = JSON.parse(text);
  const [note] =
    method === 'POST'
      ? await run('create', [tenant, user, uuidv7(), title, content, labels])
      : await run('update', [tenant, user, id, base, content]);
  if (!note) return { status: 409, body: '{"error":"conflict"}' };
  return {
    status: method === 'POST' ? 201 : 200,
    body: one(note),
    etag: `"note:${note.id}:r${note.revision}"`,
  };
}

async function serve(request, response) {
  const send = ({ status, body, etag }) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    response.writeHead(status, etag === undefined ? headers : { ...headers, etag }).end(body);
  };
  try {
    const me = caller(request.headers);
    if (!me) return send({ status: 401, body: '{"error":"unauthorized"}' });
    const chunks = [];
    if (request.method !== 'GET') for await (const chunk of request) chunks.push(chunk);
    send(await respond(request, me, Buffer.concat(chunks).toString()));
  } catch (error) {
    console.error(error);
    send({ status: 500, body: '{"error":"internal"}' });
  }
}

const server = http.createServer((request, response) => void serve(request, response));
server.keepAliveTimeout = 65_000;
server.listen(Number(process.env.PORT), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
