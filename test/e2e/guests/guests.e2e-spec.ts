import { randomBytes } from 'node:crypto';
import { GuestWorkspace } from '../../support/domains/guest-workspace.ts';
import { abuseTests } from './abuse.ts';
import { codesTests } from './codes.ts';
import { endOfAccessTests } from './end-of-access.ts';
import { firstVisitTests } from './first-visit.ts';
import { guestChatTests } from './guest-chat.ts';
import { invitesTests } from './invites.ts';
import { livestreamsTests } from './livestreams.ts';
import { markerTests } from './markers.ts';
import { queueTests } from './queue.ts';
import { sessionsTests } from './sessions.ts';

/** The suites of this folder share one application. */
describe('guests', () => {
  const world = new GuestWorkspace();

  beforeAll(() => world.start());
  afterAll(() => world.stop());
  beforeEach(() => world.clearLimits());

  firstVisitTests(world);
  codesTests(world);
  sessionsTests(world);
  queueTests(world);
  endOfAccessTests(world);
  guestChatTests(world);
  livestreamsTests(world);
  invitesTests(world);
  abuseTests(world);
  markerTests(world);

  test('limits: per session, and per network without one', async () => {
    const { app, browser, newCall, newGuest, openLink } = world;
    const gina = await newGuest(await newCall());
    await app.sql('DELETE FROM rate_limits');
    let began = performance.now();
    /** The most requests that a limit lets pass since `began`. */
    const most = (perMinute: number) =>
      perMinute + Math.ceil(((performance.now() - began) / 60_000) * perMinute);
    const polls = await Promise.all(Array.from({ length: 100 }, () => gina.get('status')));
    expect(polls.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(most(60));
    expect(polls.some(({ status }) => status === 429)).toBe(true);
    began = performance.now();
    const flood = await Promise.all(
      Array.from({ length: 300 }, () => browser(randomBytes(48).toString('base64url')).get('status')),
    );
    expect(flood.filter(({ status }) => status === 404).length).toBeLessThanOrEqual(most(120));
    expect(flood.some(({ status }) => status === 429)).toBe(true);
    // The limits of a network also count requests with the header of an unknown session.
    await app.sql('DELETE FROM rate_limits');
    const { token } = await openLink(await newCall(), { max_uses: 500 });
    const claims = await Promise.all(
      Array.from({ length: 100 }, () => {
        const headers = { 'x-guest-session': randomBytes(48).toString('base64url') };
        return app.anonymous.post(`/call/external/${token}/claim`, { name: 'Gina' }, { headers });
      }),
    );
    expect(claims.some(({ status }) => status === 429)).toBe(true);
  });
});
