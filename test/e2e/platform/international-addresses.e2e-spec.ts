import { provision } from '../../../src/provision/provision.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { newCalendar } from '../../support/domains/calendars.ts';

const UNICODE = 'bücher.example';
const ASCII = 'xn--bcher-kva.example';

describe('an address with an internationalised domain is the same in ASCII and in its own script', () => {
  let app: TestApp;
  let ann: TestUser;
  let calendar: string;
  const members: Record<string, string> = {};

  beforeAll(async () => {
    app = await TestApp.start();
    const named = [
      { name: 'Ann', email: 'ann@plain.example', role: 'owner' as const },
      { name: 'Uma', email: `Uma@${UNICODE}`, role: 'member' as const },
      { name: 'Abe', email: `abe@${ASCII}`, role: 'member' as const },
    ];
    const { users } = await provision(app.served.nest, { tenants: [{ slug: 'idn', users: named }] }, true);
    const [first] = users as [(typeof users)[0]];
    ann = { ...first, tenantId: first.tenant_id, token: first.token!, api: app.as(first.token!) };
    for (const [n, { name }] of named.entries()) members[name] = users[n]!.id;
    calendar = await newCalendar(ann, 'Work');
  });
  afterAll(() => app?.stop());

  const created = async (path: string, body: object) => {
    const response = await ann.api.post(path, body);
    expect([path, response.status, response.body]).toEqual([
      path,
      201,
      expect.not.objectContaining({ error: expect.anything() }),
    ]);
    return response.body;
  };
  const event = async (...attendees: object[]) =>
    (
      await created(`/calendar/${calendar}/events`, {
        title: 'Plan',
        start: '2026-05-04T10:00:00Z',
        end: '2026-05-04T11:00:00Z',
        send_updates: 'none',
        attendees,
      })
    ).event;
  /** Spellings of the addresses of the two members that are not those of the members. */
  const others = [
    ['Uma', `uma@${ASCII}`],
    ['Abe', `abe@${UNICODE}`],
    ['Abe', `ABE@Bücher.Example`],
  ] as const;

  test('free/busy, attendees, polls and shares find the members', async () => {
    for (const [name, email] of others) {
      const { body } = await ann.api.post('/calendar/scheduling/free_busy', {
        from: '2026-05-04T00:00:00Z',
        to: '2026-05-05T00:00:00Z',
        attendees: [email],
      });
      expect([email, body.free_busy]).toEqual([
        email,
        [expect.objectContaining({ status: 'ok', user_id: members[name] })],
      ]);
      const { attendees } = await event({ email });
      expect(attendees.map(({ user_id }: any) => user_id)).toEqual([members[name]]);
      const { note } = await created('/notes', { title: 'Shared', content: '' });
      const shared = await ann.api.put(`/notes/${note.id}/invited`, { invited: [{ email, role: 'viewer' }] });
      expect(shared.body.note.invited).toMatchObject([{ user_id: members[name] }]);
      const { poll } = await created('/calendar/polls', {
        title: 'When',
        time_zone: 'UTC',
        options: ['10', '12'].map((hour) => ({
          start: `2026-05-04T${hour}:00:00Z`,
          end: `2026-05-04T${hour}:30:00Z`,
        })),
        participants: [{ email }],
      });
      expect(JSON.stringify(poll)).toContain(members[name]);
    }
  });

  test('the directory and the users of the chat are found by their addresses', async () => {
    for (const [name, email] of others)
      for (const [path, list] of [
        ['/directory/search?', 'results'],
        ['/chat/users?', 'users'],
      ] as const) {
        const { body } = await ann.api.get(`${path}q=${encodeURIComponent(email)}`);
        expect([path, email, body[list].map(({ id }: any) => id)]).toEqual([path, email, [members[name]]]);
      }
  });

  test('a guest who is named in both spellings is one, and is found by each', async () => {
    const made = await event({ email: `zoe@${UNICODE}` }, { email: `zoe@${ASCII}` });
    expect(made.attendees).toHaveLength(1);
    const path = `/calendar/${calendar}/events`;
    const changed = await ann.api.put(`${path}/${made.id}`, {
      attendees: [{ email: `zoe@${ASCII}` }],
      send_updates: 'none',
    });
    expect(changed.body.event.attendees).toMatchObject([{ email: `zoe@${UNICODE}` }]);
    for (const domain of [UNICODE, ASCII]) {
      const { events } = (await ann.api.get(`${path}?attendee=${encodeURIComponent(`zoe@${domain}`)}`)).body;
      expect(events.map(({ id }: any) => id)).toEqual([made.id]);
      const { related } = (
        await ann.api.get(`/calendar/related?email=${encodeURIComponent(`zoe@${domain}`)}`)
      ).body;
      expect(related.events.map(({ id }: any) => id)).toEqual([made.id]);
    }
  });

  test('contacts are found by both spellings', async () => {
    const books = (await ann.api.get('/contact/addressbooks')).body.addressbooks;
    const contacts = `/contact/addressbooks/${books.find(({ kind }: any) => kind !== 'global').id}/contacts`;
    for (const [n, domain] of [UNICODE, ASCII].entries())
      await created(contacts, { full_name: `Maria ${n}`, emails: [`maria${n}@${domain}`] });
    for (const n of [0, 1])
      for (const domain of [UNICODE, ASCII])
        for (const filter of ['email', 'q']) {
          const address = encodeURIComponent(`maria${n}@${domain}`);
          const { body } = await ann.api.get(`${contacts}?${filter}=${address}`);
          expect([filter, domain, body.contacts.map(({ full_name }: any) => full_name)]).toEqual([
            filter,
            domain,
            [`Maria ${n}`],
          ]);
        }
  });
});
