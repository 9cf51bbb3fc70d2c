import { randomUUID } from 'node:crypto';
import sharp from 'sharp';
import { Config } from '../../../src/config/config.js';
import { IdentityApi } from '../../../src/modules/identity/index.js';
import type { TestApp, TestUser } from '../app.ts';
import type { Client, RequestOptions } from '../network/client.ts';
import { form } from '../network/multipart.ts';
import { Browser, RelyingParty } from '../sign-in/relying-party.ts';
import { until } from '../until.ts';

const SAVES = 3;
const PIXELS = { width: 60, height: 60, channels: 3, background: 'teal' } as const;

/** What two members do in a month. They delete everything that they create. */
export class Month {
  private photo: Buffer | undefined;
  private ann!: Client;
  private ben!: Client;

  constructor(
    private readonly app: TestApp,
    private readonly users: { ann: TestUser; ben: TestUser },
    private readonly afterwards: () => Promise<unknown>,
  ) {}

  async live(): Promise<void> {
    this.photo ??= await sharp({ create: PIXELS }).png().toBuffer();
    await this.signIn();
    for (const part of [
      () => this.notes(),
      () => this.tasks(),
      () => this.events(),
      () => this.contacts(),
      () => this.chat(),
      () => this.forms(),
      () => this.workspace(),
    ])
      await part();
    await this.afterwards();
  }

  /** Starts new sessions, because those of the last month have expired, and ends some of them. */
  private async signIn(): Promise<void> {
    const { ann, ben } = this.users;
    const requests = [ann, ann, ben].map(({ id, tenantId }) => ({ accountId: id, tenantId }));
    const tokens = await this.app.get<IdentityApi>(IdentityApi).issueTokens(requests, 'browser');
    const [first, second, third] = tokens.map((token) => this.app.as(token));
    [this.ann, this.ben] = [first as Client, third as Client];
    await sent(second as Client, 'POST', '/auth/sign-out');
    const typed = { email: ann.email, password: 'not the password' };
    const { publicUrl: base } = this.app.get(Config);
    const party = await RelyingParty.discover(this.app, 'ours', { base });
    const browser = new Browser(base);
    const page = await browser.submit(await browser.open((await party.begin()).url), {
      ...typed,
      step: 'password',
    });
    if (page.status !== 422) throw new Error(`not rejected: ${page.status}`);
    await sent(this.ann, 'POST', '/auth/socket/token');
    await sent(this.ann, 'POST', '/settings/security/passkeys/options');
  }

  private async notes(): Promise<void> {
    const note = await made(this.ann, '/notes', { title: 'Plan', content: '<p>one</p>' }, 'note');
    for (let revision = 1; revision <= SAVES; revision += 1)
      await sent(this.ann, 'PATCH', `/notes/${note.id}`, {
        body: { content: `<p>${revision}</p>`, base_revision: revision },
      });
    const folder = await made(this.ann, '/note_folders', { name: 'Work' }, 'folder');
    await removed(this.ann, `/note_folders/${folder.id}`);
    await removed(this.ann, `/notes/${note.id}`, { base_revision: SAVES + 1 });
  }

  private async tasks(): Promise<void> {
    const folder = await made(this.ann, '/task_folders', { name: 'Work' }, 'folder');
    const task = await made(this.ann, '/tasks', { title: 'Paint', folder_id: folder.id }, 'task');
    await uploaded(this.ann, `/tasks/${task.id}/attachments`);
    await removed(this.ann, `/tasks/${task.id}`);
    await removed(this.ann, `/task_folders/${folder.id}`);
  }

  private async events(): Promise<void> {
    const { calendars } = (await this.ann.get('/calendar')).body;
    const { id } = calendars.find((each: any) => each.is_default);
    const start = { date_time: '2030-05-06T10:00:00', time_zone: 'Europe/Berlin' };
    const series = {
      title: 'Stand-up',
      start,
      duration: 'PT15M',
      recurrence: { rules: ['FREQ=DAILY;COUNT=5'] },
    };
    const attendees = [this.users.ben.email, 'out@side.example'];
    const event = await made(this.ann, `/calendar/${id}/events`, { ...series, attendees }, 'event');
    const path = `/calendar/${id}/events/${event.id}`;
    const instance = { ...start, date_time: '2030-05-07T10:00:00' };
    await sent(this.ann, 'PUT', path, { body: { scope: 'this', recurrence_id: instance, title: 'Later' } });
    await this.afterwards();
    await removed(this.ann, path);
    const calendar = await made(this.ann, '/calendar', { name: 'Team' }, 'calendar');
    await removed(this.ann, `/calendar/${calendar.id}`);
  }

  private async contacts(): Promise<void> {
    const { addressbooks } = (await this.ann.get('/contact/addressbooks')).body;
    const { id } = addressbooks.find((each: any) => each.is_default) ?? addressbooks[0];
    const path = `/contact/addressbooks/${id}/contacts`;
    const people = [];
    for (const name of ['Cy', 'Cyd']) people.push(await made(this.ann, path, { full_name: name }, 'contact'));
    const [first, second] = people.map((each) => each.external_id as string);
    const photo = { raw: this.photo, headers: { 'content-type': 'image/png' } };
    await sent(this.ann, 'PUT', `${path}/${first}/photo`, photo);
    const merge = { addressbook_id: id, external_ids: [first, second] };
    await sent(this.ann, 'POST', '/contact/merges', { body: merge });
    const card = {
      raw: 'BEGIN:VCARD\nVERSION:4.0\nFN:Ivo\nEND:VCARD\n',
      headers: { 'content-type': 'text/vcard' },
    };
    await sent(this.ann, 'POST', '/contact/phone-sync/import', card);
    for (const { external_id } of (await this.ann.get(path)).body.contacts)
      await removed(this.ann, `${path}/${external_id}`);
    const book = await made(this.ann, '/contact/addressbooks', { name: 'Friends' }, 'addressbook');
    await made(this.ann, `/contact/addressbooks/${book.id}/contacts`, { full_name: 'Cy' }, 'contact');
    await removed(this.ann, `/contact/addressbooks/${book.id}`);
  }

  private async chat(): Promise<void> {
    const group = { type: 'group', name: 'Talk', member_ids: [this.users.ben.id] };
    const room = await made(this.ann, '/chat/rooms', group, 'room');
    await uploaded(this.ann, '/chat/attachments');
    for (const user of [this.ann, this.ben]) {
      const message = { client_msg_id: randomUUID(), body: 'hello' };
      await made(user, `/chat/rooms/${room.id}/messages`, message, 'message');
    }
    await this.afterwards();
    await removed(this.ann, `/chat/rooms/${room.id}`);
  }

  private async forms(): Promise<void> {
    const definition = { sections: [{ id: 's', questions: [{ id: 'q', type: 'short_text', title: 'Q' }] }] };
    const survey = await made(this.ann, '/forms', { title: 'Survey', definition }, 'form');
    await sent(this.ann, 'POST', `/forms/${survey.id}/publish`);
    await sent(this.ann, 'POST', `/forms/${survey.id}/submit`, { body: { answers: { q: 'x' } } });
    await removed(this.ann, `/forms/${survey.id}`);
  }

  private async workspace(): Promise<void> {
    const email = `guest@${this.users.ann.email.split('@')[1]}`;
    const invitation = await made(this.ann, '/tenant/invitations', { email }, 'invitation');
    await removed(this.ann, `/tenant/invitations/${invitation.id}`);
    const logo = { raw: this.photo, headers: { 'content-type': 'image/png' } };
    await sent(this.ann, 'PUT', '/tenant/logo', logo);
    await this.afterwards();
    await removed(this.ann, '/tenant/logo');
    await sent(this.ann, 'POST', '/settings/export');
    // The export runs in the background and must end in this month.
    await until(
      'the export',
      async () => (await sent(this.ann, 'GET', '/settings/export')).export.state === 'done',
    );
  }
}

/** @throws Error for a failure */
async function sent(api: Client, method: string, path: string, options: RequestOptions = {}): Promise<any> {
  const { status, text, body } = await api.request(method, path, options);
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
  return body;
}

/** @returns the created item, which the response has under this name */
async function made(api: Client, path: string, body: object, member: string): Promise<any> {
  const headers = { 'idempotency-key': randomUUID() };
  return (await sent(api, 'POST', path, { body, headers }))[member];
}

const removed = (api: Client, path: string, body?: object): Promise<unknown> =>
  sent(api, 'DELETE', path, body && { body });

const uploaded = (api: Client, path: string): Promise<unknown> =>
  sent(api, 'POST', path, form({ filename: 'plan.txt', content: `file ${randomUUID()}` }));
