import { type TestUser, TestApp } from '../support/app.ts';
import { afterChange } from '../support/database/locks.ts';
import { newCalendar } from '../support/domains/calendars.ts';
import { definitionOf, published } from '../support/domains/forms.ts';
import type { ApiResponse } from '../support/network/client.ts';
import { upload } from '../support/network/multipart.ts';

/** A collection of limited size. */
interface Limited {
  name: string;
  /** The error of a creation above the limit. */
  error: string;
  table: string;
  /** Creates items until two more fit. @returns the creation of one item */
  fill: () => Promise<(n: number) => Promise<ApiResponse>>;
}

const AT_ONCE = 8;
const FREE = 2;

describe('limits of collections, with creations at the same time', () => {
  let app: TestApp;
  let ann: TestUser;

  beforeAll(async () => {
    // A connection for each request, with workspaces in further databases too.
    app = await TestApp.start({ CELL_POOL_MAX: `${AT_ONCE + FREE}` });
    [ann] = await app.tenant('acme', 'ann');
  });
  afterAll(() => app?.stop());

  /** Tables of the directory are in the first database. */
  const databaseOf = (table: string): string | Promise<string> =>
    ['tenant_domains', 'oidc_clients'].includes(table) ? app.databaseUrl : app.databaseOf(ann.tenantId!);
  const filled = async (count: number, create: (n: number) => Promise<ApiResponse>) => {
    for (let n = 0; n < count; n += 1) {
      const { status, text } = await create(n);
      if (status !== 201) throw new Error(`not created: ${text}`);
    }
    return (n: number) => create(count + n);
  };

  const newBook = async (): Promise<string> =>
    (await ann.api.post('/contact/addressbooks', { name: 'Partners' })).body.addressbook.id;
  const nearlyFullBook = async () => {
    const id = await newBook();
    await app.sql('UPDATE addressbooks SET contacts_count = $2 WHERE id = $1', [id, 100_000 - FREE]);
    return id;
  };

  const collections: Limited[] = [
    {
      name: 'feeds of a calendar',
      error: 'too_many_feeds',
      table: 'calendar_feeds',
      fill: async () => {
        const calendar = await newCalendar(ann, 'Published');
        return filled(20 - FREE, () => ann.api.post(`/calendar/${calendar}/feeds`, {}));
      },
    },
    {
      name: 'calendars of a user',
      error: 'too_many_calendars',
      table: 'calendars',
      fill: async () => {
        const { calendars } = (await ann.api.get('/calendar')).body;
        const own = calendars.filter(({ kind }: any) => kind === 'own').length;
        return filled(100 - FREE - own, (n) => ann.api.post('/calendar', { name: `Calendar ${n}` }));
      },
    },
    {
      name: 'SCIM tokens of a workspace',
      error: 'too_many_scim_tokens',
      table: 'scim_tokens',
      fill: () => filled(10 - FREE, (n) => ann.api.post('/tenant/scim/tokens', { name: `Token ${n}` })),
    },
    {
      name: 'domains of a workspace',
      error: 'too_many_domains',
      table: 'tenant_domains',
      fill: () => filled(50 - FREE, (n) => ann.api.post('/tenant/domains', { domain: `d${n}.example.com` })),
    },
    {
      name: 'clients of a workspace',
      error: 'too_many_clients',
      table: 'oidc_clients',
      fill: async () => {
        await app.sql(
          `INSERT INTO oidc_clients (id, kind, name, first_party, redirect_uris, logout_uris, owner_tenant_id, created_by)
           SELECT gen_random_uuid(), 'public', 'x', false, '{}', '{}', $1, $2 FROM generate_series(1, $3::int)`,
          [ann.tenantId, ann.id, 200 - FREE],
        );
        const input = { kind: 'public', redirect_uris: ['https://app.example.com/'] };
        return (n) => ann.api.post('/tenant/clients', { ...input, name: `Client ${n}` });
      },
    },
    {
      name: 'unsent files of a user in the chat',
      error: 'too_many_unsent_attachments',
      table: 'chat_attachments',
      fill: () => filled(50 - FREE, (n) => upload(ann.api, '/chat/attachments', `${n}`)),
    },
    {
      name: 'rooms of a user in the chat',
      error: 'too_many_rooms',
      table: 'chat_members',
      fill: async () => {
        await app.sql(
          `WITH made AS (
             INSERT INTO chat_rooms (tenant_id, id, type, name, created_by, members_count)
             SELECT $1, gen_random_uuid(), 'group', 'x', $2, 1 FROM generate_series(1, $3::int) RETURNING id)
           INSERT INTO chat_members (tenant_id, room_id, user_id, role) SELECT $1, id, $2, 'owner' FROM made`,
          [ann.tenantId, ann.id, 2_000 - FREE],
        );
        return (n) => ann.api.post('/chat/rooms', { type: 'group', name: `Room ${n}` });
      },
    },
    {
      name: 'contacts of an address book, by creations',
      error: 'addressbook_full',
      table: 'contacts',
      fill: async () => {
        const book = await nearlyFullBook();
        return (n) => ann.api.post(`/contact/addressbooks/${book}/contacts`, { full_name: `Person ${n}` });
      },
    },
    {
      name: 'contacts of an address book, by moves',
      error: 'addressbook_full',
      table: 'contacts',
      fill: async () => {
        const [from, to] = [await newBook(), await nearlyFullBook()];
        const path = `/contact/addressbooks/${from}/contacts`;
        for (let n = 0; n < AT_ONCE; n += 1)
          await ann.api.post(path, { external_id: `c${n}`, full_name: `Person ${n}` });
        return (n) => ann.api.post(`${path}/c${n}/move`, { target_addressbook_id: to });
      },
    },
    {
      name: 'contacts of an address book, by changes of devices',
      error: 'addressbook_full',
      table: 'contacts',
      fill: async () => {
        const book = await nearlyFullBook();
        return async (n) => {
          const changes = [{ op: 'upsert', external_id: `c${n}`, contact: { full_name: `Person ${n}` } }];
          const response = await ann.api.post(`/contact/addressbooks/${book}/contacts/sync`, { changes });
          const [{ status, error }] = response.body.results;
          return { ...response, status, body: { error } };
        };
      },
    },
    {
      name: 'contacts of an address book, by imports',
      error: 'addressbook_full',
      table: 'contacts',
      fill: async () => {
        const book = await nearlyFullBook();
        return async (n) => {
          const contacts = [{ full_name: `Person ${n}` }];
          const body = { addressbook_id: book, contacts };
          const response = await ann.api.post('/contact/phone-sync/import', body);
          const [problem] = response.body.import.errors;
          return problem ? { ...response, status: 422, body: problem } : response;
        };
      },
    },
    {
      name: 'files of a user that wait for the submission of a form',
      error: 'too_many_uploads',
      table: 'form_uploads',
      fill: async () => {
        const question = { id: 'cv', type: 'file', title: 'CV' };
        const { id } = await published(ann, definitionOf([question]));
        const path = `/forms/${id}/attachments?question_id=cv`;
        return filled(50 - FREE, (n) => upload(ann.api, path, `${n}`, { filename: 'cv.txt' }));
      },
    },
  ];

  test.each(collections)('$name: no request exceeds it', async ({ fill, table, error }) => {
    const create = await fill();
    const responses = await afterChange(
      await databaseOf(table),
      // Rows can be counted, but none is added before all requests wait.
      (other) => other.query(`LOCK TABLE ${table} IN SHARE MODE`),
      () => Promise.all(Array.from({ length: AT_ONCE }, (_, n) => create(n))),
      { waits: AT_ONCE },
    );
    const outcomes = responses.map(({ status, body }) => (status < 300 ? 'created' : body.error));
    const expected = [...Array(FREE).fill('created'), ...Array(AT_ONCE - FREE).fill(error)];
    expect(outcomes.toSorted()).toEqual(expected.toSorted());
  });
});
