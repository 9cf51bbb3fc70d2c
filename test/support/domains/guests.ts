import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import type { TestUser, TestApp } from '../app.ts';
import type { ApiResponse, Client, RequestOptions } from '../network/client.ts';
import type { OtherServer } from '../mail/smtp.ts';
import { until } from '../until.ts';

/** A live call of a host, in a room or without one. @returns its id */
export async function liveCall(
  host: TestUser,
  fields: { room?: string; kind?: 'meeting' | 'livestream'; lobby?: boolean; otp?: boolean } = {},
): Promise<string> {
  const { room, kind = 'meeting', lobby = true, otp = true } = fields;
  const body = {
    title: 'Quarterly review',
    kind,
    settings: { lobby, otp },
    ...(room !== undefined && { room_id: room }),
  };
  const created = await host.api.post('/call/rooms', body);
  expect([200, 201]).toContain(created.status);
  return created.body.room.id;
}

/** The claims of a token of the media server. */
export const claimsOf = (token: string): any =>
  JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString());

/** A browser of a guest, with the token of an invite. */
export class GuestBrowser {
  session: string | undefined;
  guestToken: string | undefined;
  id: string | undefined;

  constructor(
    readonly api: Client,
    readonly token: string,
  ) {}

  private options(): RequestOptions {
    return this.session === undefined ? {} : { headers: { 'x-guest-session': this.session } };
  }

  path = (route: string): string => `/call/external/${this.token}/${route}`;
  get = (route: string): Promise<ApiResponse> => this.api.get(this.path(route), this.options());
  post = (route: string, body?: unknown): Promise<ApiResponse> =>
    this.api.post(this.path(route), body, this.options());

  async claim(body: object): Promise<ApiResponse> {
    const response = await this.api.post(this.path('claim'), body);
    if (response.status === 201) {
      this.session = response.body.session.token;
      this.guestToken = response.body.guest_token;
      this.id = response.body.guest.id;
    }
    return response;
  }

  async renew(guestToken = this.guestToken): Promise<ApiResponse> {
    const response = await this.api.post(this.path('session/mint'), { guest_token: guestToken });
    if (response.status === 200) {
      this.session = response.body.session.token;
      this.guestToken = response.body.guest_token;
    }
    return response;
  }
}

/** The code in the newest mail to an address. */
export async function codeOf(app: TestApp, relay: OtherServer, email: string, after = 0): Promise<string> {
  await app.get<OutboxWorker>(OutboxWorker).drain();
  const mail = await until(`a mail to ${email}`, () =>
    relay.received.slice(after).findLast(({ to, raw }) => to.includes(email) && /Subject: \d{6} /.test(raw)),
  );
  return /Subject: (\d{6}) /.exec(mail.raw)?.[1] as string;
}
