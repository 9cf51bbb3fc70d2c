import fc from 'fast-check';
import { GuestHousekeeping } from '../../src/modules/calls/guests/guest-housekeeping.js';
import { type TestUser, TestApp } from '../support/app.ts';
import { GuestBrowser, liveCall } from '../support/domains/guests.ts';
import { LiveKit } from '../support/livekit/livekit.ts';
import { runs } from '../support/property-runs.ts';

type State = 'none' | 'waiting' | 'admitted' | 'in_session' | 'left' | 'denied' | 'expired' | 'removed';

/** The state machine of the design, without a database. */
class Model {
  state: State = 'none';
  requests = 1;
  isLocked = false;
  isLive = true;
  hasSession = false;
  hasDecision = false;

  constructor(readonly needsApproval: boolean) {}

  claim(): number {
    if (this.isLocked) return 403;
    if (this.state !== 'none') return 410;
    this.state = this.needsApproval ? 'waiting' : 'admitted';
    this.hasSession = true;
    return 201;
  }

  enter(): number {
    if (this.state === 'removed') return 403;
    if (!this.hasSession) return 401;
    if (this.state === 'waiting' || this.state === 'expired') {
      this.state = 'waiting';
      return 202;
    }
    // The model has no clock, so a denied guest cannot request again after 60 seconds.
    if (this.state === 'denied' || this.isLocked) return 403;
    if (!this.isLive) return 409;
    this.state = 'in_session';
    return 200;
  }

  leave(): number {
    if (this.hasSession) {
      if (this.state === 'waiting') this.state = 'expired';
      if (this.state === 'admitted' || this.state === 'in_session') this.state = 'left';
    }
    this.hasSession = false;
    return 200;
  }

  renew(): number {
    if (this.state === 'none') return 401;
    if (this.state === 'removed') return 403;
    this.hasSession = true;
    return 200;
  }

  review(admits: boolean): number {
    if (this.state === 'none') return 404;
    const wanted: State[] = admits ? ['admitted', 'in_session', 'left'] : ['denied'];
    if (this.state === 'waiting') {
      this.state = wanted[0] as State;
      this.hasDecision = true;
      return 200;
    }
    return wanted.includes(this.state) && this.hasDecision ? 200 : 409;
  }

  timeOut(): void {
    if (this.state === 'waiting') this.state = 'expired';
    else if (this.state === 'admitted' || this.state === 'in_session') this.state = 'left';
  }

  remove(): number {
    if (this.state === 'none') return 404;
    this.state = 'removed';
    return 200;
  }

  lock(isLocked: boolean): number {
    if (!this.isLive) return 409;
    this.isLocked = isLocked;
    return 200;
  }

  end(): number {
    this.isLive = false;
    return 200;
  }

  send(): number {
    if (this.state === 'removed') return 403;
    if (!this.hasSession) return 401;
    if (['waiting', 'expired', 'denied'].includes(this.state)) return 403;
    this.state = 'in_session';
    return 201;
  }
}

const UNKNOWN = '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000';

const ACTIONS = [
  'claim',
  'enter',
  'leave',
  'renew',
  'approve',
  'deny',
  'timeOut',
  'remove',
  'lock',
  'unlock',
  'send',
  'end',
] as const;
type Action = (typeof ACTIONS)[number];

/** Two applications on one database, so that state in memory has no effect. */
describe('the states of guests', () => {
  let livekit: LiveKit;
  let one: TestApp;
  let two: TestApp;
  let alice: TestUser;
  let room: string;

  beforeAll(async () => {
    livekit = await LiveKit.start();
    one = await TestApp.start(livekit.settings);
    two = await TestApp.start(livekit.settings, one.databaseUrl);
    livekit.webhooks.targets.push(one.base, two.base);
    [alice] = await one.tenant('acme', 'alice');
    room = (await alice.api.post('/chat/rooms', { type: 'group', name: 'r' })).body.room.id;
  });
  afterAll(async () => {
    await two?.stop();
    await one?.stop();
    await livekit?.stop();
  });

  /** A call in the room, which ends the previous one. */
  const newCall = async (): Promise<string> => {
    const { body } = await alice.api.get(`/chat/rooms/${room}`);
    const previous = body.room.active_call?.call_id;
    if (previous !== undefined) expect((await alice.api.post(`/call/${previous}/end`)).status).toBe(200);
    return liveCall(alice, { room });
  };

  const newInvite = async (call: string, requires: boolean) =>
    (
      await alice.api.post('/call/external_invites', {
        call_id: call,
        kind: 'link',
        require_approval: requires,
        max_uses: 1,
      })
    ).body.invites[0].token as string;

  /** Runs an action at one of the applications. @returns the status, or null without a response */
  async function act(
    app: TestApp,
    action: Action,
    call: string,
    guest: GuestBrowser,
  ): Promise<number | null> {
    const client = new GuestBrowser(app.anonymous, guest.token);
    Object.assign(client, { session: guest.session, guestToken: guest.guestToken, id: guest.id });
    const done = async (request: Promise<{ status: number }>) => {
      const { status } = await request;
      Object.assign(guest, { session: client.session, guestToken: client.guestToken, id: client.id });
      return status;
    };
    const as = ({ token }: TestUser) => app.as(token);
    const review = (decision: string) =>
      as(alice).post(`/call/external_invites/approvals/${guest.id ?? UNKNOWN}/review`, { decision });
    switch (action) {
      case 'claim':
        return done(client.claim({ name: 'Gina' }));
      case 'enter':
        return done(client.post('call_session'));
      case 'leave':
        return done(client.post('session/leave'));
      case 'renew':
        return done(client.renew(guest.guestToken ?? 'x'));
      case 'approve':
        return (await review('approve')).status;
      case 'deny':
        return (await review('deny')).status;
      case 'send':
        return done(client.post('chat/messages', { client_msg_id: crypto.randomUUID(), body: 'x' }));
      case 'timeOut':
        await app.sql(`UPDATE guests SET active_at = now() - interval '16 minutes' WHERE id = $1`, [
          guest.id ?? null,
        ]);
        await app.get<GuestHousekeeping>(GuestHousekeeping).timeOut();
        return null;
      case 'remove':
        return (await as(alice).post(`/call/${call}/external/participants/${guest.id ?? UNKNOWN}/remove`))
          .status;
      case 'lock':
      case 'unlock':
        return (await as(alice).post(`/call/${call}/external/lock`, { locked: action === 'lock' })).status;
      case 'end':
        return (await as(alice).post(`/call/${call}/end`)).status;
    }
  }

  function expected(model: Model, action: Action): number | null {
    if (action === 'approve' || action === 'deny') return model.review(action === 'approve');
    if (action === 'lock' || action === 'unlock') return model.lock(action === 'lock');
    if (action !== 'timeOut') return model[action]();
    model.timeOut();
    return null;
  }

  const steps = fc.array(fc.tuple(fc.constantFrom(...ACTIONS), fc.boolean()), {
    minLength: 4,
    maxLength: 25,
  });

  test('follow the model, for any order of actions at any process', async () => {
    const property = fc.asyncProperty(fc.boolean(), steps, async (requires, actions) => {
      await one.sql('DELETE FROM rate_limits');
      const call = await newCall();
      const guest = new GuestBrowser(one.anonymous, await newInvite(call, requires));
      const model = new Model(requires);
      // Only a guest that has waited has an approval.
      const mayReview = () => requires && model.state !== 'none';
      for (const [action, isFirst] of [['claim', true] as const, ...actions]) {
        if ((action === 'approve' || action === 'deny') && !mayReview()) continue;
        const wanted = expected(model, action);
        const status = await act(isFirst ? one : two, action, call, guest);
        expect([action, status]).toEqual([action, wanted]);
        const [row] = await one.sql(`SELECT state FROM guests WHERE id = $1`, [guest.id ?? null]);
        expect([action, row?.state ?? 'none']).toEqual([action, model.state]);
      }
    });
    await fc.assert(property, { numRuns: runs(40) });
  });

  test('of actions at the same time only legal transitions result, and no guest enters undecided', async () => {
    for (let round = 0; round < 12; round += 1) {
      await one.sql('DELETE FROM rate_limits');
      const call = await newCall();
      const guest = new GuestBrowser(one.anonymous, await newInvite(call, true));
      await act(one, 'claim', call, guest);
      const racing: Action[] = ['enter', 'deny', 'approve', 'send', 'enter', 'remove', 'send', 'enter'];
      const statuses = await Promise.all(
        racing.map((action, n) =>
          act(
            n % 2 ? one : two,
            action,
            call,
            Object.assign(new GuestBrowser(one.anonymous, guest.token), guest),
          ),
        ),
      );
      const reviews = [statuses[1], statuses[2]];
      expect(reviews.filter((status) => status === 200).length).toBeLessThanOrEqual(1);
      const admitted = statuses[2] === 200;
      if (!admitted) for (const n of [0, 3, 4, 6, 7]) expect([200, 201]).not.toContain(statuses[n]);
      expect((await one.sql(`SELECT state FROM guests WHERE id = $1`, [guest.id]))[0].state).toBe('removed');
      expect(await act(one, 'enter', call, guest)).toBe(403);
      expect(await act(two, 'send', call, guest)).toBe(403);
    }
  });
});
