import { TestApp, type TestUser } from '../../support/app.ts';
import { at, newCalendar } from '../../support/domains/calendars.ts';

/** An address with a zero-width space, marks of direction, a link, a name. */
const FORMS = [
  (email: string) => `${email}\u200b`,
  (email: string) => `\u202a${email}\u202c`,
  (email: string) => `mailto:${email}`,
  (email: string) => `Bob Stone <${email}>`,
];

describe('an e-mail address as users paste it is the address', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(() => app?.stop());

  const created = async (path: string, body: object) => {
    const { status, body: response } = await alice.api.post(path, body);
    expect([status, response]).toEqual([201, expect.anything()]);
    return response;
  };

  test.each(FORMS.map((form) => [form('bob@acme.example'), form] as const))('%j', async (_, form) => {
    const email = form(bob.email);
    const calendar = await newCalendar(alice, 'Work');
    const { event } = await created(`/calendar/${calendar}/events`, {
      title: 'Planning',
      start: at('2027-03-02T09:00:00'),
      attendees: [email],
    });
    expect(event.attendees).toMatchObject([{ email: bob.email, user_id: bob.id }]);
    const found = await alice.api.get(`/calendar/${calendar}/events?attendee=${encodeURIComponent(email)}`);
    expect(found.body.events).toHaveLength(1);

    const { poll } = await created('/calendar/polls', {
      title: 'Planning',
      time_zone: 'Europe/Berlin',
      options: [{ start: '2027-03-02T09:00:00' }, { start: '2027-03-03T09:00:00' }],
      participants: [{ email }],
    });
    expect(poll.participants).toMatchObject([{ user_id: alice.id }, { user_id: bob.id }]);

    const window = { from: '2027-03-02T00:00:00Z', to: '2027-03-03T00:00:00Z' };
    const busy = await alice.api.post('/calendar/scheduling/free_busy', { ...window, attendees: [email] });
    expect(busy.body.free_busy).toMatchObject([{ status: 'ok', email: bob.email }]);

    const { task } = await created('/tasks', { title: 'Plan', assignees: [{ email }] });
    expect(task.assignees).toMatchObject([{ id: bob.id }]);

    const { note } = await created('/notes', { title: 'Plan' });
    const invited = await alice.api.put(`/notes/${note.id}/invited`, { invited: [email] });
    expect(invited.body.note.invited).toHaveLength(1);

    const { addressbook } = await created('/contact/addressbooks', { name: 'Sales', shares: [{ email }] });
    expect(addressbook.shares).toMatchObject([{ user_id: bob.id }]);

    const contacts = `/contact/addressbooks/${addressbook.id}/contacts`;
    const { contact } = await created(contacts, { full_name: 'Bob', emails: [email] });
    expect(contact.emails).toMatchObject([{ value: bob.email }]);
    const { body } = await alice.api.get(`${contacts}?email=${encodeURIComponent(email)}`);
    expect(body.contacts).toMatchObject([{ id: contact.id }]);
  });
});
