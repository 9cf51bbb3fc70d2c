import { createTransport, type Transporter } from 'nodemailer';
import { SmtpReceiver } from '../../../src/mail-service/smtp/smtp-receiver.js';
import { AccountProvisioner } from '../../../src/modules/mail/accounts/account-provisioner.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { ok } from '../../support/domains/forms.ts';
import { TestMailService } from '../../support/mail/mail-service.ts';
import { ScimClient } from '../../support/sign-in/scim.ts';
import { until } from '../../support/until.ts';

const BOXES = '/mail/users/me/mailboxes';

describe('the address of a mail account', () => {
  let mail: TestMailService;
  let app: TestApp;
  let transport: Transporter;
  let owner: TestUser;
  let scim: ScimClient;
  let count = 0;

  beforeAll(async () => {
    mail = await TestMailService.start();
    const receiver = mail.get(SmtpReceiver);
    receiver.awaitMs = 0;
    const port = await receiver.listen(0);
    transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true });
    app = await TestApp.start({ ...mail.settings, MAIL_ACCOUNTS: 'create' });
    [owner] = await app.tenant('moves', 'olga');
    scim = await ScimClient.of(app, owner, 'moves.example');
    await settle();
  });
  afterAll(async () => {
    transport?.close();
    await app?.stop();
    await mail?.stop();
  });

  const address = () => `person${(count += 1)}@moves.example`;
  /** Handles the events and the accounts that are due. */
  const settle = async () => {
    await app.get<OutboxWorker>(OutboxWorker).drain();
    await app.sql('UPDATE mail_accounts SET retry_at = NULL');
    await app.sql('UPDATE mail_pending_accounts SET retry_at = now() WHERE retry_at > now()');
    await app.get<{ run(): Promise<void> }>(AccountProvisioner as never).run();
  };
  const join = async (email: string): Promise<TestUser> => {
    const user = await app.member('moves', email);
    await settle();
    return user;
  };
  const rename = async ({ id }: TestUser, userName: string) => {
    const { status } = await scim.patch(`/Users/${id}`, [
      { op: 'replace', path: 'userName', value: userName },
    ]);
    expect(status).toBe(200);
  };
  const boxes = async (user: TestUser): Promise<Record<string, string>> =>
    Object.fromEntries(
      ok(await user.api.get(BOXES)).results.map(({ path, id }: { path: string; id: string }) => [path, id]),
    );
  const listed = async (user: TestUser, box = 'INBOX'): Promise<any[]> =>
    ok(await user.api.get(`${BOXES}/${(await boxes(user))[box]}/messages?limit=100`)).results;
  const subjects = async (user: TestUser) => (await listed(user)).map(({ subject }) => subject).toSorted();
  const receive = (to: string, subject: string) =>
    transport.sendMail({ from: 'zoe@far.example', to, subject, text: 'The body' });
  const send = async (user: TestUser, to: string, subject: string) => {
    const drafts = `${BOXES}/${(await boxes(user))['Drafts']}/messages`;
    const { message } = ok(
      await user.api.post(drafts, { to: [{ name: '', address: to }], subject, text: 'x', draft: true }),
    );
    ok(await user.api.post(`${drafts}/${message.id}/submit`, {}));
  };
  const pending = async ({ id }: TestUser) =>
    (await app.sql('SELECT FROM mail_pending_accounts WHERE user_id = $1', [id])).length;

  test('follows a rename: both addresses are delivered, and mail has the new From', async () => {
    const [before, after] = [address(), address()];
    const user = await join(before);
    await receive(before, 'before');
    await rename(user, after);
    await settle();
    await receive(after, 'to the new address');
    await receive(before.replace('@', '+tag@'), 'to the former address');
    await send(owner, after, 'from a colleague');
    await send(user, owner.email, `of ${after}`);
    await until('the mail', async () => (await subjects(user)).length >= 4);
    expect(await subjects(user)).toEqual([
      'before',
      'from a colleague',
      'to the former address',
      'to the new address',
    ]);
    await until('the mail', async () => (await subjects(owner)).includes(`of ${after}`));
    const received = (await listed(owner)).find(({ subject }) => subject === `of ${after}`);
    expect(received.from.address).toBe(after);
    expect(await pending(user)).toBe(0);
  });

  test('a user who gets a former address gets its mail alone', async () => {
    const [first, second] = [address(), address()];
    const former = await join(first);
    await receive(first, 'for the former user');
    await rename(former, second);
    await settle();
    const heir = await join(first);
    await receive(first, 'for the heir');
    await send(owner, first, 'local mail for the heir');
    await until('the mail', async () => (await subjects(heir)).length >= 2);
    expect(await subjects(heir)).toEqual(['for the heir', 'local mail for the heir']);
    expect(await subjects(former)).toEqual(['for the former user']);
  });

  test('a rename to the former address of another user takes it; a return to the own one works', async () => {
    const [first, second, third] = [address(), address(), address()];
    const [one, other] = [await join(first), await join(third)];
    await rename(one, second);
    await settle();
    await rename(one, first);
    await settle();
    await receive(second, 'former');
    await rename(other, second);
    await settle();
    await receive(first, 'returned');
    await receive(second, 'taken');
    expect(await subjects(one)).toEqual(['former', 'returned']);
    expect(await subjects(other)).toEqual(['taken']);
  });

  test('a user who joins before the account of the former user has moved gets an account afterwards', async () => {
    const [first, second] = [address(), address()];
    const former = await join(first);
    await app.get<OutboxWorker>(OutboxWorker).drain();
    // Without the event that starts the job.
    await rename(former, second);
    await app.sql(
      "UPDATE mail_pending_accounts SET retry_at = now() + interval '1 hour' WHERE user_id = $1",
      [former.id],
    );
    const heir = await app.member('moves', first);
    expect((await heir.api.get(BOXES)).status).toBe(403);
    await settle();
    await settle();
    await receive(first, 'for the heir');
    expect([await subjects(former), await subjects(heir)]).toEqual([[], ['for the heir']]);
    expect(await pending(heir)).toBe(0);
  });

  test('a deactivated user leaves a former address too', async () => {
    const [first, second] = [address(), address()];
    const former = await join(first);
    await scim.patch(`/Users/${former.id}`, [{ op: 'replace', path: 'active', value: false }]);
    await rename(former, second);
    await settle();
    const heir = await join(first);
    await receive(first, 'for the heir');
    expect(await subjects(heir)).toEqual(['for the heir']);
  });

  test('of two accounts that change to one address at once, one gets it', async () => {
    const ids = (await Promise.all(['ann', 'ben'].map((name) => mail.person(name)))).map(({ id }) => id);
    const responses = await Promise.all(
      ids.map((id) => mail.root.post(`/users/${id}/addresses`, { address: 'both@example.com', main: true })),
    );
    expect(responses.map(({ body }) => body.code ?? 'ok').toSorted()).toEqual(['AddressExistsError', 'ok']);
  });
});
