import { GINA, type GuestWorkspace } from '../../support/domains/guest-workspace.ts';

export const invitesTests = (world: GuestWorkspace): void =>
  describe('invites and domains', () => {
    const { ok, rejected, newRoom, invite, review, newCall } = world;
    test('inputs', async () => {
      const call = await newCall();
      const post = (fields: object, user = world.alice) =>
        user.api.post('/call/external_invites', { call_id: call, ...fields });
      for (const fields of [
        { kind: 'personal' },
        { kind: 'link', emails: [GINA] },
        { emails: ['no-address'] },
        { emails: [] },
        { emails: Array.from({ length: 51 }, (_, n) => `g${n}@partner.example`) },
        { kind: 'link', expires_at: '2020-01-01T00:00:00Z' },
        { kind: 'link', expires_at: '2099-01-01T00:00:00Z' },
        { kind: 'link', max_uses: 0 },
      ])
        rejected(await post(fields), 422, 'validation_failed');
      rejected(await post({ kind: 'link' }, world.bob), 404, 'not_found');
      rejected(await post({ kind: 'link' }, world.eve), 404, 'not_found');
      const two = ok(
        await post({ emails: [GINA, 'GINA@partner.example', 'hugo@partner.example'], send_email: false }),
        201,
      );
      expect(two.invites.map(({ email }: any) => email)).toEqual([GINA, 'hugo@partner.example']);
      const listed = ok(await world.alice.api.get(`/call/external_invites?call_id=${call}&limit=1`));
      expect(listed.invites).toHaveLength(1);
      expect(listed.invites[0]).not.toHaveProperty('token');
      expect(
        ok(await world.alice.api.get(`/call/external_invites?call_id=${call}&limit=1&cursor=${listed.next}`))
          .invites,
      ).toHaveLength(1);
      ok(await world.alice.api.post(`/call/${call}/end`));
      rejected(await post({ kind: 'link' }), 409, 'call_ended');
    });

    test('invites of a plain member are at least as strict as the call', async () => {
      const room = await newRoom();
      const call = await newCall({ room });
      const made = await invite(
        call,
        { emails: [GINA], require_otp: false, require_approval: false, send_email: false },
        world.bob,
      );
      expect(made).toMatchObject({ require_otp: true, require_approval: true });
    });

    test('members who request a domain at the same time make one request', async () => {
      const request = () =>
        world.bob.api.post('/call/external_invites/domain_request', { domain: 'twice.example' });
      const open = async () => (await Promise.all([1, 2, 3, 4].map(request))).map(({ status }) => status);
      expect((await open()).toSorted()).toEqual([200, 200, 200, 201]);
      const { id } = ok(await request()).domain_request;
      ok(await review(id, 'deny'));
      expect((await open()).toSorted()).toEqual([200, 200, 200, 201]);
    });

    test('a denied domain is rejected until administrators allow it', async () => {
      const call = await newCall({}, world.bob);
      const request = (domain: string, user = world.bob) =>
        user.api.post('/call/external_invites/domain_request', { domain, reason: 'auditors' });
      for (const domain of [
        'localhost',
        '127.0.0.1',
        'co.uk',
        'a_b.example',
        '-a.example',
        'a-.example',
        'a.xn--',
      ])
        rejected(await request(domain), 422, 'invalid_domain');
      const { domain_request: made } = ok(await request('Rival.Example'), 201);
      expect(made).toMatchObject({ domain: 'rival.example', state: 'requested' });
      expect(ok(await request('rival.example')).domain_request.id).toBe(made.id);
      rejected(await review(made.id, 'deny', world.bob), 404, 'not_found');
      expect(ok(await review(made.id, 'deny')).approval).toMatchObject({ kind: 'domain', state: 'denied' });
      rejected(await review(made.id, 'approve'), 409, 'already_reviewed');
      const post = () =>
        world.bob.api.post('/call/external_invites', {
          call_id: call,
          emails: ['x@rival.example'],
          send_email: false,
        });
      expect(rejected(await post(), 403, 'domain_not_allowed')).toMatchObject({
        domain: 'rival.example',
        can_request: true,
      });
      const again = ok(await request('rival.example'), 201).domain_request;
      ok(await review(again.id, 'approve'));
      ok(await post(), 201);
    });
  });
