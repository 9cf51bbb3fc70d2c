import { createTransport } from 'nodemailer';
import { SmtpReceiver } from '../../../src/mail-service/smtp/smtp-receiver.js';
import { type MailClient, mailboxesOf, TestMailService } from '../../support/mail/mail-service.ts';
import { until } from '../../support/until.ts';

/** Calendars of arrived mail, for the workspace. */
describe('calendar parts', () => {
  let mail: TestMailService;
  let alice: MailClient;
  let port: number;

  beforeAll(async () => {
    mail = await TestMailService.start();
    port = await mail.get(SmtpReceiver).listen(0);
    alice = await mail.person('alice');
  });
  afterAll(() => mail?.stop());

  const ICS = 'BEGIN:VCALENDAR\r\nMETHOD:REPLY\r\nEND:VCALENDAR\r\n';
  const send = async (message: object) => {
    const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true });
    await transport.sendMail({
      from: 'Zoe <zoe@far.example>',
      to: 'alice@example.com',
      text: 'x',
      ...message,
    });
    transport.close();
  };
  const parts = async () => (await mail.root.get('/calendar-parts')).body.results;
  const remove = (ids: number[]) => mail.root.delete(`/calendar-parts/${ids.join(',')}`);

  test('a message with text/calendar is listed until it is deleted, also after it has moved', async () => {
    await send({
      subject: 'Accepted',
      messageId: '<1@far.example>',
      alternatives: [{ contentType: 'text/calendar; method=reply; charset=utf-8', content: ICS }],
      attachments: [{ filename: 'invite.ics', contentType: 'application/ics', content: 'other' }],
    });
    const boxes = await mailboxesOf(alice);
    await alice.put(`/users/me/mailboxes/${boxes['INBOX']}/messages`, {
      message: '1',
      moveTo: boxes['Trash'],
    });
    const [part, ...others] = await parts();
    expect(others).toEqual([]);
    expect(part).toMatchObject({
      user: alice.id,
      mailbox: boxes['INBOX'],
      message: 1,
      messageId: '<1@far.example>',
      from: 'zoe@far.example',
      method: 'REPLY',
    });
    expect(Buffer.from(part.content, 'base64').toString()).toBe(ICS);
    expect((await mail.root.get(`/calendar-parts?after=${part.id}`)).body.results).toEqual([]);
    expect((await remove([part.id])).body).toEqual({ success: true, deleted: 1 });
    expect(await parts()).toEqual([]);
  });

  test('TNEF is listed without content; calendars over 1 MiB, plain mail and uploads are not listed', async () => {
    await send({
      attachments: [{ filename: 'winmail.dat', contentType: 'application/ms-tnef', content: 'x' }],
    });
    await send({
      attachments: [{ filename: 'a.ics', contentType: 'text/calendar', content: 'x'.repeat(1_048_577) }],
    });
    await send({});
    const boxes = await mailboxesOf(alice);
    await alice.post(`/users/me/mailboxes/${boxes['INBOX']}/messages`, {
      raw: `Content-Type: text/calendar; method=REPLY\r\n\r\n${ICS}`,
    });
    const found = await parts();
    expect(found.map(({ content, method }: any) => [content, method])).toEqual([[null, null]]);
    await remove(found.map(({ id }: any) => id));
  });

  test('mail between local users is listed', async () => {
    const bob = await mail.person('bob');
    const drafts = `/users/me/mailboxes/${(await mailboxesOf(bob))['Drafts']}/messages`;
    const raw = `To: alice@example.com\r\nContent-Type: text/calendar; method=REPLY\r\n\r\n${ICS}`;
    const { body } = await bob.post(drafts, { draft: true, raw });
    expect(await parts()).toEqual([]);
    await bob.post(`${drafts}/${body.message.id}/submit`, {});
    const [part] = await until('the part', async () => {
      const found = await parts();
      return found.length > 0 && found;
    });
    expect(part).toMatchObject({ from: 'bob@example.com', user: alice.id, method: 'REPLY' });
  });

  test('users have no access', async () => {
    expect((await alice.get('/calendar-parts')).status).toBe(403);
    expect((await alice.delete('/calendar-parts/1')).status).toBe(403);
  });
});
