import { unzipSync, strFromU8 } from 'fflate';
import { TestApp, type TestUser } from '../../support/app.ts';
import { ok } from '../../support/domains/forms.ts';
import { TestMailService } from '../../support/mail/mail-service.ts';
import { until } from '../../support/until.ts';

const BOXES = '/mail/users/me/mailboxes';

describe('mail in an export of personal data', () => {
  let mail: TestMailService;
  let app: TestApp;
  let ann: TestUser;
  let ben: TestUser;

  beforeAll(async () => {
    mail = await TestMailService.start();
    app = await TestApp.start({ ...mail.settings, MAIL_SERVICE_EMBEDDED: 'true' });
    [ann, ben] = await app.tenant('acme', 'ann', 'ben');
  });
  afterAll(async () => {
    await app?.stop();
    await mail?.stop();
  });

  const archive = async (user: TestUser): Promise<Record<string, string>> => {
    ok(await user.api.post('/settings/export', {}), 202);
    const done = await until('the end of the export', async () => {
      const { export: found } = ok(await user.api.get('/settings/export'));
      return ['done', 'failed'].includes(found.state) && found;
    });
    expect(done).toMatchObject({ state: 'done', omitted_files: 0 });
    const response = await fetch(`${app.base}/apis/v1/settings/export/file`, {
      headers: { authorization: `Bearer ${user.token}` },
    });
    const entries = Object.entries(unzipSync(new Uint8Array(await response.arrayBuffer())));
    return Object.fromEntries(entries.map(([name, data]) => [name, strFromU8(data)]));
  };
  const boxOf = async (user: TestUser, path: string): Promise<string> =>
    ok(await user.api.get(BOXES)).results.find((box: { path: string }) => box.path === path).id;

  test('all messages of the user are in it as they are stored, also beyond one page', async () => {
    const drafts = await boxOf(ann, 'Drafts');
    const subjects = Array.from({ length: 103 }, (_, n) => `MARK-ann-${n}-end`);
    for (const subject of subjects)
      ok(
        await ann.api.post(`${BOXES}/${drafts}/messages`, {
          draft: true,
          subject,
          text: `Körper ${subject}`,
        }),
      );
    const others = await boxOf(ben, 'Drafts');
    ok(await ben.api.post(`${BOXES}/${others}/messages`, { draft: true, subject: 'MARK-ben', text: 'x' }));

    const texts = await archive(ann);
    const boxes: { id: string; path: string }[] = JSON.parse(texts['mail/mailboxes.json']!);
    expect(boxes.map(({ path }) => path)).toEqual(expect.arrayContaining(['INBOX', 'Drafts', 'Trash']));
    expect(boxes.find(({ path }) => path === 'Drafts')?.id).toBe(drafts);
    const messages = Object.entries(texts).filter(([name]) => name.endsWith('.eml'));
    expect(messages.every(([name]) => name.startsWith(`mail/${drafts}/`))).toBe(true);
    const found = messages.map(([, text]) => /^Subject: (.*)\r$/m.exec(text)?.[1]);
    expect(found.toSorted()).toEqual(subjects.toSorted());
    expect(Object.values(texts).join('\n')).not.toContain('MARK-ben');
    expect(texts).not.toHaveProperty('mail/README.txt');
  });

  test('an export creates no mailbox', async () => {
    const [user] = await app.tenant('globex', 'eve');
    const accounts = async () => (await mail.sql('SELECT count(*)::int AS n FROM users'))[0].n;
    const before = await accounts();
    const texts = await archive(user);
    expect(Object.keys(texts).filter((name) => name.startsWith('mail/'))).toEqual(['mail/recipients.json']);
    expect(await accounts()).toBe(before);
  });
});
