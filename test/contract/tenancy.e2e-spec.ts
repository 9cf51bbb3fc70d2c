import { randomUUID } from 'node:crypto';
import { IdentityApi } from '../../src/modules/identity/index.js';
import { MailApi } from '../../src/modules/mail/index.js';
import { PersonalErasures } from '../../src/modules/personal-data/erasure/personal-erasures.js';
import { PushDispatcher } from '../../src/modules/push/sending/push-dispatcher.js';
import { OutboxWorker } from '../../src/platform/events/outbox.worker.js';
import { TestApp, type TestUser } from '../support/app.ts';
import type { RequestOptions } from '../support/network/client.ts';
import { LiveKit } from '../support/livekit/livekit.ts';
import { bodyOfCreation } from '../support/contract/described-items.ts';
import { form, upload } from '../support/network/multipart.ts';
import { describedOperations, fillPath } from '../support/contract/operations.ts';
import { GROUP_SCHEMA, PATCH_OP, ScimClient, USER_SCHEMA } from '../support/sign-in/scim.ts';
import { INBOX, NOWHERE, WildDuck } from '../support/mail/wild-duck.ts';
import { PushDevice } from '../support/network/push-service.ts';

/** A row that was written: `INSERT notes`, and its workspace. */
interface Written {
  of: string;
  tenant: string;
}

/** Calls every route that has an id with a token of another workspace, and of the same person in another workspace. */
describe('the tenancy matrix', () => {
  let app: TestApp;
  let duck: WildDuck;
  let livekit: LiveKit;
  let alice: TestUser;
  let outsiders: [string, TestUser][];
  let groups = 0;
  let invited = 0;
  let issuers = 0;
  let provisioned = 0;
  /** The identity provider of alice's workspace, and that of the outsiders'. */
  let scim: ScimClient;
  let otherScim: ScimClient;

  beforeAll(async () => {
    duck = await WildDuck.start();
    livekit = await LiveKit.start();
    app = await TestApp.start({ ...duck.settings, ...livekit.settings, SMTP_URL: 'smtp://127.0.0.1:9' });
    [alice] = await app.tenant('acme', 'alice');
    const [mallory] = await app.tenant('evil', 'mallory');
    // An owner: permissions in the own workspace must not count in another one.
    const twin = await app.member('evil', alice.email, 'admin');
    // An address has one mail account. Alice's first request creates it, so another account is linked for the twin.
    await alice.api.get('/mail/users/me/mailboxes');
    duck.add('twin', 'of alice');
    await app.get(MailApi).linkAccount({ tenantId: twin.tenantId!, userId: twin.id }, 'twin', 'of alice');
    // By default only owners have these permissions.
    const { groups: theirs } = (await mallory.api.get('/rbac/groups')).body;
    const admins = theirs.find(({ key }: { key: string }) => key === 'admins');
    for (const permission of ['scim.manage', 'issuers.manage'])
      await mallory.api.post(`/rbac/groups/${admins.id}/permissions/${permission}`);
    scim = await ScimClient.of(app, alice, 'acme.example');
    otherScim = await ScimClient.of(app, mallory, 'evil.example');
    // The first use of a token is recorded.
    await otherScim.get('/Users?count=0');
    // A message to a device of alice is sent later than it is written, while an outsider makes requests.
    await app.get(PushDispatcher).onModuleDestroy();
    await recordWrites();
    outsiders = [
      ['another workspace', mallory],
      ['the same person in another workspace', twin],
    ];
  });
  afterAll(async () => {
    await app?.stop();
    await duck?.stop();
    await livekit?.stop();
  });

  /**
   * Creates, as alice, an object of a kind that a path parameter can name. Keys are the first segment of the path; below
   * `settings`, where each page has objects of its own, the whole path before the parameter. Kinds without an entry are created as
   * openapi.json describes it.
   */
  const make: Record<string, () => Promise<{ id: string; body: object }>> = {
    notes: async () => {
      const { id } = (await alice.api.post('/notes', { title: 'secret', content: '<p>secret</p>' })).body
        .note;
      return { id, body: { title: 'stolen', base_revision: 1, invited: [] } };
    },
    'settings/application-passwords': async () => {
      const made = await alice.api.post('/settings/application-passwords', {
        description: 'secret',
        scopes: ['imap'],
      });
      return { id: made.body.application_password.id, body: {} };
    },
    'settings/security/sessions': async () => {
      const request = { accountId: alice.id, tenantId: alice.tenantId };
      await app.get<IdentityApi>(IdentityApi).issueTokens([request], 'another device');
      const { sessions } = (await alice.api.get('/settings/security')).body;
      return { id: sessions.find(({ current }: { current: boolean }) => !current).id, body: {} };
    },
    'settings/security/passkeys': async () => {
      const [{ id }] = (await app.sql<{ id: string }>(
        `INSERT INTO passkeys (id, account_id, credential_id, public_key, counter, transports, synced, name)
         VALUES (gen_random_uuid(), $1, uuid_send(gen_random_uuid()), '', 0, '{}', false, 'Laptop') RETURNING id`,
        [alice.id],
      )) as [{ id: string }];
      return { id, body: { name: 'stolen' } };
    },
    rbac: async () => {
      groups += 1;
      const { id } = (await alice.api.post('/rbac/groups', { name: `secret ${groups}` })).body.group;
      return { id, body: { name: 'stolen', user_id: alice.id, permission: 'forms.create' } };
    },
    tenant: async () => {
      const { id } = await app.member('acme', 'dora@acme.example');
      return { id, body: { to: alice.id } };
    },
    'tenant/invitations': async () => {
      invited += 1;
      const email = `secret${invited}@acme.example`;
      return { id: (await alice.api.post('/tenant/invitations', { email })).body.invitation.id, body: {} };
    },
    'tenant/scim': async () => {
      await app.sql('DELETE FROM scim_tokens WHERE name = $1', ['secret']);
      const { body } = await alice.api.post('/tenant/scim/tokens', { name: 'secret' });
      return { id: body.scim_token.id, body: {} };
    },
    'scim/v2/Users': async () => {
      provisioned += 1;
      const { id } = await scim.user(`secret-scim${provisioned}@acme.example`, { title: 'secret' });
      const patch = { Operations: [{ op: 'replace', path: 'title', value: 'stolen' }] };
      return { id, body: { schemas: [USER_SCHEMA, PATCH_OP], userName: 'stolen@evil.example', ...patch } };
    },
    'scim/v2/Groups': async () => {
      provisioned += 1;
      const displayName = `secret scim ${provisioned}`;
      const { id } = (await scim.post('/Groups', { schemas: [GROUP_SCHEMA], displayName })).body;
      const patch = { Operations: [{ op: 'replace', path: 'displayName', value: 'stolen' }] };
      return { id, body: { schemas: [GROUP_SCHEMA, PATCH_OP], displayName: 'stolen', ...patch } };
    },
    'tenant/issuers': async () => {
      issuers += 1;
      const domain = `secret${issuers}.example`;
      await app.sql(`INSERT INTO tenant_domains (tenant_id, domain, verified_at) VALUES ($1, $2, now())`, [
        alice.tenantId,
        domain,
      ]);
      await app.sql('DELETE FROM tenant_issuers WHERE tenant_id = $1', [alice.tenantId]);
      const { body } = await alice.api.post('/tenant/issuers', {
        name: 'secret',
        issuer: 'http://127.0.0.1:9',
        client_id: 'secret',
        domains: [domain],
      });
      return { id: body.issuer.id, body: { name: 'stolen', base_revision: 1 } };
    },
    'tenant/clients': async () => {
      const { body } = await alice.api.post('/tenant/clients', { name: 'secret', kind: 'service' });
      return { id: body.client.id, body: {} };
    },
    // Named by the client and not by an id; each user sees their own only.
    'settings/connected-apps': async () => ({ id: '', body: {} }),
    // Named by the domain and not by an id; each workspace sees its own only.
    'tenant/domains': async () => {
      const { body } = await alice.api.post('/tenant/domains', { domain: 'secret.example' });
      return { id: body.domain.domain, body: {} };
    },
    webhooks: async () => {
      // Inactive: otherwise the writes of alice would cause deliveries.
      const hook = {
        scope: 'tenant',
        url: 'http://127.0.0.1:9/secret',
        event_types: ['task.created'],
        active: false,
      };
      const { id } = (await alice.api.post('/webhooks', hook)).body.webhook;
      return { id, body: { description: 'stolen', since: '2026-03-02T09:00:00Z' } };
    },
    'incoming-webhooks': async () => {
      const { room } = (
        await alice.api.post('/chat/rooms', { type: 'group', name: 'secret', member_ids: [] })
      ).body;
      const hook = { name: 'secret', target: { type: 'room', id: room.id } };
      const { id } = (await alice.api.post('/incoming-webhooks', hook)).body.incoming_webhook;
      return { id, body: { name: 'stolen' } };
    },
    // The contact has the id of its address book as external_id, so that one id fits all parameters of a path.
    contact: async () => {
      const { id } = (await alice.api.post('/contact/addressbooks', { name: 'secret' })).body.addressbook;
      const made = await alice.api.post(`/contact/addressbooks/${id}/contacts`, {
        full_name: 'secret',
        external_id: id,
      });
      expect(made.status).toBe(201);
      const changes = [{ op: 'upsert', external_id: id, contact: { full_name: 'stolen' } }];
      return {
        id,
        body: { name: 'stolen', full_name: 'stolen', changes, target_addressbook_id: id, contact_ids: [id] },
      };
    },
    tasks: async () => {
      const { id } = (await alice.api.post('/tasks', { title: 'secret', description: '<p>secret</p>' })).body
        .task;
      return { id, body: { title: 'stolen', body: 'stolen' } };
    },
    calendar: async () => {
      const { id } = (await alice.api.post('/calendar', { name: 'secret' })).body.calendar;
      const message = { method: 'REQUEST', event_id: id };
      await alice.api.post(`/calendar/${id}/events`, { id, title: 'secret', start: '2026-03-02' });
      return {
        id,
        body: { name: 'stolen', title: 'stolen', start: '2026-03-02', response: 'accepted', ...message },
      };
    },
    forms: async () => {
      const { id } = (await alice.api.post('/forms', { title: 'secret' })).body.form;
      return { id, body: { title: 'stolen', accepting: true, definition: {}, answers: {} } };
    },
    reports: async () => {
      const definition = {
        sections: [{ id: 's', questions: [{ id: 'q', type: 'short_text', title: 'secret' }] }],
      };
      const { id } = (await alice.api.post('/forms', { title: 'secret', definition })).body.form;
      await alice.api.post(`/forms/${id}/publish`);
      const report = { name: 'secret', definition: { columns: ['q'] } };
      return { id: (await alice.api.post(`/forms/${id}/reports`, report)).body.report.id, body: {} };
    },
    task_folders: async () => {
      const { id } = (await alice.api.post('/task_folders', { name: 'secret' })).body.folder;
      return { id, body: { name: 'stolen', members: [] } };
    },
    notifications: async () => {
      await alice.api.post('/settings/application-passwords', { description: 'secret', scopes: ['imap'] });
      await app.get(OutboxWorker).drain();
      const { id } = (await alice.api.get('/notifications')).body.notifications[0];
      const snooze_until = new Date(Date.now() + 60_000).toISOString();
      return { id, body: { state: 'snoozed', snooze_until } };
    },
    'notifications/push-subscriptions': async () => {
      const device = new PushDevice('http://127.0.0.1:9/secret');
      const made = await alice.api.post('/notifications/push-subscriptions', device.subscription);
      return { id: made.body.push_subscription.id, body: {} };
    },
    'chat/rooms': async () => {
      const { id } = (await alice.api.post('/chat/rooms', { type: 'group', name: 'secret' })).body.room;
      const message = { client_msg_id: randomUUID(), body: 'stolen' };
      return { id, body: { ...message, name: 'stolen', user_id: alice.id, emoji: '👍', seq: 0 } };
    },
    'chat/attachments': async () => {
      const { attachment } = (await upload(alice.api, '/chat/attachments', 'secret')).body;
      return { id: attachment.id, body: {} };
    },
    'chat/user/parties': async () => {
      const { id } = await app.member('acme', 'dora@acme.example');
      const direct = { type: 'direct', member_ids: [id] };
      return { id: (await alice.api.post('/chat/rooms', direct)).body.room.id, body: {} };
    },
    presence: async () => ({ id: (await app.member('acme', 'dora@acme.example')).id, body: {} }),
    'presence/rooms': async () => {
      const { id } = (await alice.api.post('/chat/rooms', { type: 'group', name: 'secret' })).body.room;
      return { id, body: {} };
    },
    'call/external_invites': async () => {
      const { call_id } = (await alice.api.post('/call/rooms', { title: 'secret' })).body.room;
      const made = await alice.api.post('/call/external_invites', { call_id, kind: 'link', name: 'secret' });
      return { id: made.body.invites[0].id, body: { decision: 'approve' } };
    },
    call: async () => {
      const made = await alice.api.post('/call/rooms', { title: 'secret' });
      expect(made.status).toBe(201);
      return { id: made.body.room.id, body: { locked: true, reason: 'stolen' } };
    },
    // Each mailbox belongs to one account of the mail service. The request of an outsider carries the outsider's account, so it
    // finds no mailbox with that id.
    mail: async () => {
      expect((await alice.api.get(`/mail/users/me/mailboxes/${INBOX}`)).status).toBe(200);
      return { id: INBOX, body: { path: 'stolen', message: [1], seen: true, restoreToOrigin: false } };
    },
  };

  const makeOne = async (kind: string): Promise<{ id: string; body: object }> => {
    if (make[kind]) return make[kind]();
    const made = await alice.api.post(`/${kind}`, bodyOfCreation(`/${kind}`, 'secret'));
    expect(made.status).toBe(201);
    const [item] = Object.values<{ id: string }>(made.body);
    // Without an id, a path would be that of an object that nobody has.
    expect(item?.id).toMatch(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/);
    return { id: item!.id, body: bodyOfCreation(`/${kind}`, 'stolen')! };
  };

  /** Sessions and passkeys belong to the account: the same person may end them from another workspace. */
  const ofTheAccount = new Set(['settings/security/sessions', 'settings/security/passkeys']);

  const kindOf = (path: string) => {
    const [first] = path.split('/').slice(3);
    if (path.includes('/call/external_invites')) return 'call/external_invites';
    if (path.includes('/push-subscriptions/')) return 'notifications/push-subscriptions';
    const ofTenant = /\/tenant\/(?:invitations|domains|clients|issuers|scim)\//.exec(path)?.[0];
    if (ofTenant) return ofTenant.slice(1, -1);
    if (first === 'scim') return path.split('/').slice(3, 6).join('/');
    return ['settings', 'chat', 'presence'].includes(first!)
      ? path.slice('/apis/v1/'.length).split('/{')[0]!
      : first!;
  };

  const withId = describedOperations().filter(
    // The documents of SCIM are the same for all workspaces.
    ({ path, spec }) => path.includes('{') && !path.endsWith('/{name}') && spec.security.length > 0,
  );

  const kinds = new Set(withId.map(({ path }) => kindOf(path)));

  /** The request of an outsider: a form where the operation takes one. */
  const sent = (method: string, spec: any, body: object): RequestOptions => {
    if (method === 'GET') return {};
    if (spec.requestBody?.content['image/png'])
      return { headers: { 'content-type': 'image/png' }, raw: 'stolen' };
    return spec.requestBody?.content['multipart/form-data']
      ? form({ filename: 'stolen', content: 'stolen' })
      : { body };
  };

  test.each(withId.map(({ method, path, spec }) => [method, path, spec] as const))(
    '%s %s',
    async (method, path, spec) => {
      const kind = kindOf(path);
      const { id, body } = await makeOne(kind);
      const { account } = await writes();
      const unknown = kind === 'mail' ? NOWHERE : '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000';
      for (const [name, outsider] of outsiders) {
        if (ofTheAccount.has(kind) && outsider.id === alice.id) continue;
        const call = (target: string) => {
          const filled = fillPath(path, target).replace('/apis/v1', '');
          return filled.startsWith('/scim/v2')
            ? otherScim.send(method, filled.replace('/scim/v2', ''), method === 'GET' ? undefined : body)
            : outsider.api.request(method, filled, sent(method, spec, body));
        };
        const [theirs, absent] = [await call(id), await call(unknown)];
        // WildDuck's own status for messages of a mailbox that the user does not have.
        const status = kind === 'mail' && method === 'PUT' && path.includes('/messages') ? 500 : 404;
        expect([name, theirs.status]).toEqual([name, status]);
        if (status === 500) expect(theirs.body).toEqual({ error: 'Mailbox is missing' });
        expect(theirs.body).toEqual(absent.body);
        expect(theirs.text).not.toContain('secret');
      }
      expect(await writes()).toEqual({ written: [], account });
      // The first request of alice created her account. No request of an outsider used it.
      const [hers] = duck.accounts.keys();
      expect(duck.mail.filter(({ as, method: sentAs }) => as === hers && sentAs !== 'GET')).toEqual([]);
    },
  );

  test('records writes', async () => {
    await writes();
    const { id } = await make['notes']!();
    await alice.api.patch(`/notes/${id}`, { title: 'changed', base_revision: 1 });
    const recorded = (await writes()).written.map(({ of }) => of);
    expect(recorded).toEqual(expect.arrayContaining(['INSERT notes', 'UPDATE notes', 'UPDATE sync_heads']));
    expect((await writes()).written).toEqual([]);
  });

  test('covers each kind of object', () => {
    expect([...kinds].filter((kind) => !make[kind] && !bodyOfCreation(`/${kind}`, 'secret'))).toEqual([]);
    expect(Object.keys(make).filter((kind) => !kinds.has(kind))).toEqual([]);
  });

  test('lists contain no objects of another workspace', async () => {
    for (const kind of kinds) await makeOne(kind);
    for (const [, outsider] of outsiders) {
      for (const { path } of describedOperations().filter(
        ({ method, path, spec }) => method === 'GET' && !path.includes('{') && spec.security.length > 0,
      )) {
        const filled = path.replace('/apis/v1', '');
        const listed = filled.startsWith('/scim/v2')
          ? await otherScim.get(filled.replace('/scim/v2', ''))
          : await outsider.api.get(filled);
        expect(listed.text).not.toContain('secret');
      }
    }
  });

  test('the erasure of the same person in another workspace changes no row and no mail of this one', async () => {
    for (const kind of kinds) await makeOne(kind);
    const [[, owner], [, twin]] = outsiders as [[string, TestUser], [string, TestUser]];
    await twin.api.post('/notes', { title: 'of the twin', content: '' });
    await owner.api.post(`/tenant/members/${twin.id}/deactivate`, {});
    const { account } = await writes();
    const mails = duck.mail.length;
    const erasures = await app
      .get(PersonalErasures)
      .request(twin.id, { tenantId: twin.tenantId!, now: true });
    expect(erasures).toEqual([expect.objectContaining({ tenant_id: twin.tenantId, state: 'done' })]);
    const after = await writes();
    expect(after.written.map(({ of }) => of)).toContain('DELETE notes');
    expect(after.written.filter(({ tenant }) => tenant !== twin.tenantId)).toEqual([]);
    expect(after.account).toEqual(account);
    const [hers] = duck.accounts.keys();
    expect(duck.mail.slice(mails).filter(({ as }) => as === hers)).toEqual([]);
    expect((await alice.api.get('/notes')).text).toContain('secret');
  });

  /** Records each row that is inserted, deleted or changed in a table of workspaces. */
  async function recordWrites(): Promise<void> {
    await app.sql('CREATE TABLE recorded_writes (of text, tenant uuid)');
    await app.sql(`CREATE FUNCTION record_write() RETURNS trigger LANGUAGE plpgsql AS
      $$ DECLARE changed record; BEGIN
           IF TG_OP = 'DELETE' THEN changed := OLD; ELSE changed := NEW; END IF;
           INSERT INTO recorded_writes VALUES (TG_OP || ' ' || TG_TABLE_NAME, changed.tenant_id);
           RETURN NULL;
         END $$`);
    // Rows that any request may write in the caller's own workspace: events, mail accounts, sessions, the last use of tokens.
    const exempt = `'outbox', 'note_views', 'sessions', 'mail_accounts', 'scim_tokens'`;
    await app.sql(`DO $$ DECLARE tables text; BEGIN
      FOR tables IN
        SELECT table_name FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
         WHERE table_schema = current_schema() AND column_name = 'tenant_id' AND table_type = 'BASE TABLE' AND table_name NOT IN (${exempt})
      LOOP
        EXECUTE format('CREATE TRIGGER rows AFTER INSERT OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION record_write()', tables);
        EXECUTE format('CREATE TRIGGER changes AFTER UPDATE ON %I FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION record_write()', tables);
      END LOOP;
    END $$`);
  }

  /** The rows written since the last call, and alice's mail account. */
  async function writes(): Promise<{ written: Written[]; account: unknown }> {
    await app.get(OutboxWorker).drain();
    const written = await app.sql<Written>('DELETE FROM recorded_writes RETURNING of, tenant');
    const account = 'SELECT mail_accounts::text FROM mail_accounts WHERE tenant_id = $1';
    return { written, account: await app.sql(account, [alice.tenantId]) };
  }
});
