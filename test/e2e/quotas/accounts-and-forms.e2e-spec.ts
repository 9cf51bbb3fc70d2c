import { QUOTAS } from '../../../src/platform/quotas/quotas.js';
import { type TestApp } from '../../support/app.ts';
import { ok, published } from '../../support/domains/forms.ts';
import { expectFull } from '../../support/domains/quotas.ts';
import { RelyingParty } from '../../support/sign-in/relying-party.ts';
import { browser, clientFile, newUser, PASSWORD, startSignIn } from '../../support/sign-in/sign-in.ts';

describe('quotas of sessions, imports of contacts and versions of forms', () => {
  let app: TestApp;
  let party: RelyingParty;

  beforeAll(async () => {
    app = await startSignIn({ OIDC_CLIENTS: clientFile() });
    party = await RelyingParty.discover(app, 'ours');
  });
  afterAll(() => app?.stop());

  test('a sign-in beyond the quota ends the session that was not used for the longest time', async () => {
    const ann = await newUser(app, 'ann', 'acme');
    const first = await party.signIn(browser(app), ann.email, PASSWORD);
    await app.sql(
      `INSERT INTO sessions (id, account_id, client_id, expires_at, created_at, last_seen_at)
       SELECT gen_random_uuid(), $1, 'ours', now() + interval '1 day', now() - interval '9 days', now() - make_interval(hours => n)
         FROM generate_series(1, $2::int) n`,
      [ann.id, QUOTAS.account.sessions - 1],
    );
    const live = () =>
      app.sql(
        `SELECT last_seen_at < now() - make_interval(mins => 60 * $2 - 90) AS is_oldest FROM sessions
          WHERE account_id = $1 AND revoked_at IS NULL AND expires_at > now()`,
        [ann.id, QUOTAS.account.sessions],
      );
    const before = await live();
    expect(before.filter(({ is_oldest }) => is_oldest)).toHaveLength(1);
    const second = await party.signIn(browser(app), ann.email, PASSWORD);
    const after = await live();
    expect(after).toHaveLength(QUOTAS.account.sessions);
    expect(after.filter(({ is_oldest }) => is_oldest)).toEqual([]);
    await app.readAccessChanges();
    for (const { access_token: token } of [first, second])
      expect((await app.as(token).get('/notes')).status).toBe(200);
  });

  test('an import beyond the quota deletes the oldest one of its user', async () => {
    const [ann, bob] = await app.tenant('imports', 'ann', 'bob');
    const importOne = async (user: typeof ann) =>
      ok(await user.api.post('/contact/phone-sync/import', { contacts: [{ full_name: 'Ivo' }] }), 200).import;
    const oldest = await importOne(ann);
    const others = await importOne(bob);
    await app.sql(
      `INSERT INTO contact_imports SELECT (jsonb_populate_record(import, jsonb_build_object('id',
         left(import.id::text, 24) || lpad(to_hex(n), 12, '0')))).*
         FROM contact_imports import, generate_series(1, $2::int) n WHERE import.id = $1`,
      [oldest.id, QUOTAS.user.contact_imports],
    );
    await importOne(ann);
    // An import without contacts is recorded too.
    const newest = ok(await ann.api.post('/contact/phone-sync/import', { contacts: [] }), 200).import;
    const rows = await app.sql('SELECT id FROM contact_imports WHERE user_id = $1 ORDER BY id', [ann.id]);
    expect(rows).toHaveLength(QUOTAS.user.contact_imports);
    expect(rows.at(-1)).toEqual({ id: newest.id });
    ok(await bob.api.get(`/contact/phone-sync/imports/${others.id}`), 200);
  });

  test('a form with the most versions is not published again', async () => {
    const [ann] = await app.tenant('forms', 'ann');
    const form = await published(ann);
    ok(await ann.api.patch(`/forms/${form.id}`, { title: 'Changed', draft_rev: form.draft_rev }), 200);
    await app.sql('UPDATE forms SET current_version = $2 WHERE id = $1', [
      form.id,
      QUOTAS.item.versions_of_form,
    ]);
    expectFull(await ann.api.post(`/forms/${form.id}/publish`), 'item.versions_of_form');
  });
});
