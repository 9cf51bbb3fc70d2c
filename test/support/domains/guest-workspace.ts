import { randomUUID } from 'node:crypto';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { PeriodicJobs } from '../../../src/platform/jobs/periodic-jobs.js';
import { type TestUser, TestApp } from '../app.ts';
import type { ApiResponse } from '../network/client.ts';
import { GuestBrowser, liveCall } from './guests.ts';
import { LiveKit } from '../livekit/livekit.ts';
import { OtherServer } from '../mail/smtp.ts';

export const GINA = 'gina@partner.example';

/** Text that no response to a guest may contain. */
export const MARKER = 'marker-7f3a91';

/** A workspace with guests: an application, a media server, a mail relay, three members and a user of another workspace. */
export class GuestWorkspace {
  app!: TestApp;
  livekit!: LiveKit;
  relay!: OtherServer;
  alice!: TestUser;
  bob!: TestUser;
  carol!: TestUser;
  eve!: TestUser;

  /** @param settings added to those of the application */
  async start(settings: Record<string, string> = {}): Promise<void> {
    [this.livekit, this.relay] = await Promise.all([LiveKit.start(), OtherServer.start()]);
    this.app = await TestApp.start({
      ...this.livekit.settings,
      SMTP_URL: this.relay.url,
      TRUST_PROXY: 'loopback',
      ...settings,
    });
    this.livekit.webhooks.targets.push(this.app.base);
    const members = await this.app.tenant('acme', 'alice', 'bob', 'carol');
    [this.alice, this.bob, this.carol] = members;
    [this.eve] = await this.app.tenant('globex', 'eve');
  }

  async stop(): Promise<void> {
    await this.app?.stop();
    await this.livekit?.stop();
    await this.relay?.stop();
  }

  /** Limits of networks hold for a minute: each test starts without counted requests. */
  async clearLimits(): Promise<void> {
    await this.app.sql('DELETE FROM rate_limits');
    await this.app.sql('DELETE FROM guest_limits');
  }

  ok = (response: ApiResponse, status = 200): any => {
    expect({ status: response.status, body: response.body }).toMatchObject({ status });
    return response.body;
  };

  rejected = (response: ApiResponse, status: number, error: string): any => {
    expect({ status: response.status, error: response.body?.error }).toEqual({ status, error });
    return response.body;
  };

  browser = (token: string): GuestBrowser => new GuestBrowser(this.app.anonymous, token);

  newRoom = async (fields: object = {}): Promise<string> => {
    const body = { type: 'group', name: 'Offsite', member_ids: [this.bob.id], ...fields };
    return this.ok(await this.alice.api.post('/chat/rooms', body), 201).room.id;
  };

  say = async (room: string, body: string, user = this.alice): Promise<any> => {
    const message = { client_msg_id: randomUUID(), body };
    return this.ok(await user.api.post(`/chat/rooms/${room}/messages`, message), 201).message;
  };

  invite = async (call: string, fields: object, user = this.alice): Promise<any> => {
    const body = { call_id: call, ...fields };
    return this.ok(await user.api.post('/call/external_invites', body), 201).invites[0];
  };

  /** A link without approval. */
  openLink = (call: string, fields: object = {}): Promise<any> =>
    this.invite(call, { kind: 'link', require_approval: false, ...fields });

  review = (id: string, decision: string, user = this.alice, fields = {}): Promise<ApiResponse> =>
    user.api.post(`/call/external_invites/approvals/${id}/review`, { decision, ...fields });

  /** An admitted guest of a link. */
  newGuest = async (call: string, name = 'Gina Guest'): Promise<GuestBrowser> => {
    const gina = this.browser((await this.openLink(call)).token);
    this.ok(await gina.claim({ name }), 201);
    return gina;
  };

  /** A guest of a link in the queue. */
  waitingGuest = async (call: string): Promise<GuestBrowser> => {
    const gina = this.browser((await this.invite(call, { kind: 'link' })).token);
    expect(this.ok(await gina.claim({ name: 'Gina' }), 201).guest.state).toBe('waiting');
    return gina;
  };

  newCall = (fields: Parameters<typeof liveCall>[1] = {}, host = this.alice): Promise<string> =>
    liveCall(host, fields);

  guestRow = async (id: string): Promise<any> =>
    (await this.app.sql(`SELECT * FROM guests WHERE id = $1`, [id]))[0];

  /** Runs a periodic job now. */
  runJob = async (name: string): Promise<void> => {
    const { jobs } = this.app.get(PeriodicJobs) as unknown as {
      jobs: { name: string; run(): Promise<void> }[];
    };
    await jobs.find((job) => job.name === name)!.run();
  };

  /** Delivers all events of the outbox. */
  drain = (): Promise<unknown> => this.app.get<OutboxWorker>(OutboxWorker).drain();
}
