// The floor of the contacts bench: a bare HTTP server with the repositories' statements, without token, checks and normalisation.
import { contactInsert, contactUpdate } from '../../../dist/modules/contacts/model/contact-values.js';
import { cardOf, contactJson } from '../../../dist/modules/contacts/responses/contact.presenter.js';
import { emptyCard, identityKeys, queryTerms } from '../../../dist/lib/contact-card/index.js';
import { ContactsRepository } from '../../../dist/modules/contacts/contacts.repository.js';
import { ContactFeedRepository } from '../../../dist/modules/contacts/sync/contact-feed.repository.js';
import { floorDatabase, serveFloor } from '../support/floor-server.mjs';

const db = floorDatabase();
const contacts = new ContactsRepository(db);
const access = { reading: (_ctx, _id, read) => read(), roleOf: (_ctx, role) => role };
const feed = new ContactFeedRepository(db, access, undefined);

async function list(ctx, bookId, query) {
  const filter = { prefixes: queryTerms(query.get('q') ?? ''), keys: [], kind: null };
  const rows = await contacts.list(ctx, { accessId: bookId, bookId }, filter, 'name', undefined, 51);
  const given = rows.filter((row) => row.id !== null).slice(0, 50);
  return `{"contacts":[${given.map((row) => contactJson(row, row.role)).join(',')}],"next":null}`;
}

async function poll(ctx, bookId, query) {
  const after = Number(query.get('after'));
  const { head, rows } = await feed
    .of(ctx, bookId)
    .source.changes(ctx, { after, limit: 100, liveOnly: false });
  return `{"changes":[${rows.map((row) => row.json).join(',')}],"cursor":"${head}"}`;
}

async function create(ctx, bookId, body) {
  const card = { ...emptyCard(), ...body };
  const values = contactInsert(card);
  await contacts.withKeys(db, ctx, bookId, identityKeys(card), 20);
  const [row] = await contacts.insert(db, ctx, bookId, [values]);
  return `{"contact":${contactJson(row, 'owner')},"possible_duplicates":[]}`;
}

async function update(ctx, bookId, externalId, body) {
  const row = await contacts.read(ctx, bookId, externalId);
  const card = { ...cardOf(row), ...body };
  const [after] = await contacts.update(db, ctx, bookId, [contactUpdate(row, card, Object.keys(body))]);
  return `{"contact":${contactJson(after, 'owner')}}`;
}

async function route({ method, url, headers }, body) {
  const ctx = { tenantId: headers['x-tenant'], userId: headers['x-user'] };
  const { pathname, searchParams } = new URL(url, 'http://floor');
  const [, , , , , bookId, , externalId] = pathname.split('/');
  if (method === 'POST') return create(ctx, bookId, JSON.parse(body));
  if (method === 'PUT') return update(ctx, bookId, externalId, JSON.parse(body));
  if (externalId === 'sync') return poll(ctx, bookId, searchParams);
  if (externalId === undefined) return list(ctx, bookId, searchParams);
  const row = await contacts.read(ctx, bookId, externalId);
  return `{"contact":${contactJson(row, row.role)}}`;
}

serveFloor(async (request, body) => ({
  status: request.method === 'POST' ? 201 : 200,
  json: await route(request, body),
}));
