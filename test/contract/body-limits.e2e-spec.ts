import { CLIENT_EVENTS } from '../../src/platform/realtime/event-declarations.js';
import { MAX_EVENT_VALUES, MAX_QUERY_PARAMETERS } from '../../src/platform/http/body/body-limits.js';
import { type TestUser, TestApp } from '../support/app.ts';
import { describedOperations, fillPath } from '../support/contract/operations.ts';
import { TestSocket } from '../support/network/socket.ts';
import { ScimClient } from '../support/sign-in/scim.ts';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const MAIL_ID = '65a1b2c3d4e5f60718293a4b';
const JSON_TYPE = /^application\/(?:scim\+)?json$/;

/** Every operation with a JSON body, once. */
const OPERATIONS = describedOperations().flatMap(({ method, path, spec }) => {
  const type = Object.keys(spec.requestBody?.content ?? {}).find((name) => JSON_TYPE.test(name));
  return type ? [{ method, path, type, limits: spec['x-body-limits'] }] : [];
});

/** JSON with this number of values in one list, and two more. */
const manyValues = (count: number): string => `{"list":[${'0,'.repeat(count - 1)}0]}`;

describe('bodies that no operation accepts', () => {
  let app: TestApp;
  let alice: TestUser;
  let scim: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('acme', 'alice');
    scim = (await ScimClient.of(app, alice, 'acme.example')).token;
  });
  afterAll(() => app?.stop());

  /** Sends it again as another user when a rate limit rejects it, or when it may have ended the session. */
  const send = async ({ method, path, type }: (typeof OPERATIONS)[number], raw: string) => {
    const target = fillPath(path.replace('/apis/v1', ''), path.includes('/mail/') ? MAIL_ID : ID);
    const request = () => {
      const api = path.includes('/scim/v2/') ? app.as(scim) : alice.api;
      return api.request(method, target, { raw, headers: { 'content-type': type } });
    };
    const first = await request();
    if (![401, 429].includes(first.status)) return first;
    [alice] = await app.tenant('acme', 'alice');
    return request();
  };

  it('are tried at more than a hundred operations', () => expect(OPERATIONS.length).toBeGreaterThan(100));

  test('more values than the documented maximum: 413, before the body is parsed', async () => {
    const wrong = [];
    for (const operation of OPERATIONS) {
      const { status, text } = await send(operation, manyValues((operation.limits?.values ?? NaN) + 1));
      if (status !== 413 || !/body_too_large|"status":"413"/.test(text))
        wrong.push(`${operation.method} ${operation.path}: ${status} ${text.slice(0, 200)}`);
    }
    expect(wrong).toEqual([]);
  });

  test.each(['null', '[]', '"x"', '1'])('%s: a typed error', async (raw) => {
    const wrong = [];
    for (const operation of OPERATIONS) {
      const { status, body, text } = await send(operation, raw);
      const isTyped = typeof body?.error === 'string' || Array.isArray(body?.schemas);
      if (status < 400 || status >= 500 || !isTyped)
        wrong.push(`${operation.method} ${operation.path}: ${status} ${text.slice(0, 200)}`);
    }
    expect(wrong).toEqual([]);
  });

  test('values are counted outside of texts', async () => {
    const content = `<p>${'[{,"\\'.repeat(30_000)}</p>`;
    expect((await alice.api.post('/notes', { title: 'Text', content })).status).toBe(201);
    const escaped = `{"title":"\\\\","list":[${'0,'.repeat(20_000)}0]}`;
    const { status, body } = await alice.api.post('/notes', undefined, { raw: escaped });
    expect([status, body.error, body.details[0].code]).toEqual([413, 'body_too_large', 'too_many_values']);
  });

  test('a request of a batch has the limit of its operation', async () => {
    const large = { title: 'Large', list: Array.from({ length: 20_001 }, () => 0) };
    const requests = [large, { title: 'Small' }].map((body) => ({
      method: 'POST',
      path: '/apis/v1/notes',
      body,
    }));
    const { body } = await alice.api.post('/batch', { mode: 'independent', requests });
    expect(body.responses.map(({ status }: { status: number }) => status)).toEqual([413, 201]);
  });

  test('more parameters than a query may have: 422', async () => {
    const query = 'limit=1&'.repeat(MAX_QUERY_PARAMETERS);
    const { status, body } = await alice.api.get(`/notes?${query}limit=1`);
    expect([status, body.details[0].code]).toEqual([422, 'too_many_parameters']);
  });

  test('more values than an event of a socket may have: 413, for every event', async () => {
    const socket = await TestSocket.open(app, alice);
    const list = Array.from({ length: MAX_EVENT_VALUES }, () => 0);
    expect(CLIENT_EVENTS.length).toBeGreaterThan(5);
    for (const { name } of CLIENT_EVENTS) {
      const { ok, status, error } = await socket.send(name, { list });
      expect([name, ok, status, error]).toEqual([name, false, 413, 'body_too_large']);
    }
    socket.close();
  });
});
