import { GINA, type GuestWorkspace } from '../../support/domains/guest-workspace.ts';
import { codeOf } from '../../support/domains/guests.ts';

export const codesTests = (world: GuestWorkspace): void =>
  describe('codes', () => {
    const { ok, rejected, browser, invite, openLink, newCall, drain } = world;
    test('no response shows whether an address fits the invite', async () => {
      const call = await newCall();
      const gina = browser((await invite(call, { emails: [GINA], send_email: false })).token);
      const sent = world.relay.received.length;
      const [fits, other] = [
        await gina.post('otp', { email: GINA }),
        await gina.post('otp', { email: 'mallory@evil.example' }),
      ];
      expect([fits.status, fits.text]).toEqual([other.status, other.text]);
      await drain();
      const code = await codeOf(world.app, world.relay, GINA, sent);
      expect(world.relay.received.slice(sent).flatMap(({ to }) => to)).toEqual([GINA]);
      // Both requests queued a mail: their work is the same.
      const mails = await world.app.sql(
        `SELECT recipient, state FROM system_mails WHERE template = 'guests.code' ORDER BY id DESC LIMIT 2`,
      );
      expect(mails).toEqual([
        { recipient: 'mallory@evil.example', state: 'cancelled' },
        { recipient: GINA, state: 'sent' },
      ]);
      const wrong = code === '000000' ? '111111' : '000000';
      for (const left of [4, 3, 2, 1, 0])
        for (const email of [GINA, 'mallory@evil.example', 'never-asked@evil.example'])
          expect(
            rejected(await gina.claim({ name: 'x', email, code: wrong }), 422, 'otp_invalid'),
          ).toMatchObject({
            attempts_left: left,
          });
      for (const email of [GINA, 'mallory@evil.example', 'never-asked@evil.example']) {
        const locked = await gina.claim({ name: 'x', email, code });
        rejected(locked, 429, 'otp_locked');
        expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(0);
      }
      const stored = JSON.stringify(await world.app.sql(`SELECT * FROM guest_otps`));
      expect(stored).not.toContain(code);
    });

    test('50 concurrent guesses have five attempts; a new code invalidates the old one; a code is used once', async () => {
      const call = await newCall();
      const gina = browser((await invite(call, { emails: [GINA], require_approval: false })).token);
      let sent = world.relay.received.length;
      ok(await gina.post('otp', { email: GINA }), 202);
      const first = await codeOf(world.app, world.relay, GINA, sent);
      const guesses = Array.from({ length: 50 }, (_, n) => String(n).padStart(6, '7'));
      const results = await Promise.all(
        guesses.filter((code) => code !== first).map((code) => gina.claim({ name: 'x', email: GINA, code })),
      );
      expect(results.filter(({ body }) => body.error === 'otp_invalid')).toHaveLength(5);
      sent = world.relay.received.length;
      ok(await gina.post('otp', { email: GINA }), 202);
      const second = await codeOf(world.app, world.relay, GINA, sent);
      if (first !== second)
        rejected(await gina.claim({ name: 'x', email: GINA, code: first }), 422, 'otp_invalid');
      const race = await Promise.all(
        [1, 2, 3, 4].map(() => browser(gina.token).claim({ name: 'Gina', email: GINA, code: second })),
      );
      expect(race.map(({ status }) => status).toSorted()).toEqual([201, 422, 422, 422]);
    });

    test('a code is for one address, one purpose, ten minutes', async () => {
      const call = await newCall();
      const link = await openLink(call, { require_otp: true });
      const gina = browser(link.token);
      const sent = world.relay.received.length;
      ok(await gina.post('otp', { email: GINA }), 202);
      const code = await codeOf(world.app, world.relay, GINA, sent);
      rejected(await gina.claim({ name: 'x', email: 'hugo@partner.example', code }), 422, 'otp_invalid');
      rejected(await gina.post('livestream_verify', { email: GINA, code }), 403, 'wrong_invite');
      await world.app.sql(
        `UPDATE guest_otps SET expires_at = now() - make_interval(secs => 1) WHERE invite_id = $1 AND email = $2`,
        [link.id, GINA],
      );
      rejected(await gina.claim({ name: 'x', email: GINA, code }), 422, 'otp_invalid');
    });

    test('3 codes in 15 minutes and 10 in a day for an address, 20 in an hour for a network, in sliding windows', async () => {
      const call = await newCall();
      const gina = browser((await openLink(call, { require_otp: true })).token);
      const requests = async (email: string, count: number) => {
        const all = await Promise.all(Array.from({ length: count }, () => gina.post('otp', { email })));
        await world.app.sql('DELETE FROM rate_limits');
        return all.filter(({ status }) => status === 202).length;
      };
      const older = (seconds: number) =>
        world.app.sql(
          `UPDATE guest_limits SET times = ARRAY(SELECT at - make_interval(secs => $1) FROM unnest(times) at ORDER BY at)`,
          [seconds],
        );
      expect(await requests(GINA, 6)).toBe(3);
      const limited = await gina.post('otp', { email: GINA });
      rejected(limited, 429, 'too_many_requests');
      expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(850);
      await older(901);
      expect(await requests(GINA, 6)).toBe(3);
      await older(901);
      expect(await requests(GINA, 6)).toBe(3);
      await older(901);
      expect(await requests(GINA, 6)).toBe(1);
      await world.app.sql(`DELETE FROM guest_limits`);
      const many = await Promise.all(
        Array.from({ length: 30 }, (_, n) => gina.post('otp', { email: `guest${n}@partner.example` })),
      );
      expect(many.filter(({ status }) => status === 202)).toHaveLength(20);
    });

    test('a workspace sends 200 mails in a day; the response does not change', async () => {
      const call = await newCall();
      const gina = browser((await openLink(call, { require_otp: true })).token);
      await world.app.sql(
        `INSERT INTO guest_limits (tenant_id, scope, subject, times) VALUES ($1, 'code_mails', '', array_fill(now()::timestamptz(3), ARRAY[199]))`,
        [world.alice.tenantId],
      );
      await drain();
      const before = world.relay.received.length;
      ok(await gina.post('otp', { email: 'a@partner.example' }), 202);
      ok(await gina.post('otp', { email: 'b@partner.example' }), 202);
      await drain();
      await codeOf(world.app, world.relay, 'a@partner.example', before);
      expect(world.relay.received.slice(before).flatMap(({ to }) => to)).toEqual(['a@partner.example']);
    });
  });
