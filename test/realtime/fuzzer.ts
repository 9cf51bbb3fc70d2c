import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Rng } from '../sync/rng.ts';
import { ExampleClient } from './example-client.ts';

export interface ChatUser {
  id: string;
  token: string;
}

/** The service under test. */
export interface ChatSite {
  /** Addresses of the processes, which share a database. */
  bases: string[];
  /** Members of one workspace; the first one owns the rooms and is never removed. */
  users: ChatUser[];
  /** Disturbances, e.g. the kill of a process. Each returns when the service works again. */
  disturbances: Record<string, () => Promise<unknown>>;
}

export interface ChatPlan {
  seed: string;
  actionsPerRound: number;
  goOn(rounds: number): boolean;
  progress?: (line: string) => void;
}

const ROOMS = 3;
const PATIENCE_MS = 60_000;

/** One device of a user. */
interface Device {
  user: ChatUser;
  client: ExampleClient;
  createToken: () => Promise<string>;
  /** Resolves when the device disconnects. Its requests in flight end only after it has connected again. */
  disconnected: PromiseWithResolvers<void>;
  /** Events about messages since the last comparison: room and number of the change. */
  events: { room: string; mod_seq: number; at: number }[];
}

/**
 * A test of the chat at random: devices send, edit, delete, react, lose acknowledgements and connections, and change processes,
 * while members are removed and the service is disturbed. After each round each device has exactly the rooms and messages of
 * the server.
 */
export class ChatFuzzer {
  readonly counts = new Map<string, number>();
  private readonly rng: Rng;
  private readonly devices: Device[];
  private readonly roomIds: string[] = [];
  private readonly sending = new Set<Promise<void>>();
  private isDisturbed = false;
  /** Acknowledged messages by `client_msg_id`. */
  private readonly acknowledged = new Map<string, { room: string; id: string; seq: number }>();

  private readonly site: ChatSite;
  private readonly plan: ChatPlan;

  constructor(site: ChatSite, plan: ChatPlan) {
    this.site = site;
    this.plan = plan;
    this.rng = new Rng(plan.seed);
    this.devices = site.users.flatMap((user) => [this.device(user), this.device(user)]);
  }

  /** @throws Error for the first difference */
  async run(): Promise<void> {
    const [owner, ...others] = this.site.users as [ChatUser, ...ChatUser[]];
    for (let n = 0; n < ROOMS; n += 1) {
      const member_ids = others.map(({ id }) => id);
      const { body } = await this.request(owner, 'POST', '/chat/rooms', {
        type: 'group',
        name: `${n}`,
        member_ids,
      });
      this.roomIds.push(body.room.id);
    }
    try {
      for (const device of this.devices) this.connect(device);
      for (let rounds = 0; this.plan.goOn(rounds); rounds += 1) await this.round(rounds);
    } finally {
      for (const { client } of this.devices) client.disconnect();
    }
  }

  private async round(number: number): Promise<void> {
    let left = this.plan.actionsPerRound;
    const names = Object.keys(this.site.disturbances);
    const disturbance = this.rng.chance(0.7) && names.length > 0 ? this.rng.pick(names) : undefined;
    const performers = Array.from({ length: 6 }, async () => {
      while ((left -= 1) >= 0) await this.act();
    });
    const disturbed = (async () => {
      if (!disturbance) return;
      while (left > this.plan.actionsPerRound / 2) await delay(10);
      this.count(disturbance);
      this.isDisturbed = true;
      await this.site.disturbances[disturbance]!();
    })();
    await Promise.all([...performers, disturbed]);
    this.isDisturbed = false;
    await this.compare();
    this.plan.progress?.(`round ${number + 1}: ${JSON.stringify(Object.fromEntries(this.counts))}`);
  }

  private async act(): Promise<void> {
    const { rng } = this;
    const device = rng.pick(this.devices);
    const room = rng.pick(this.roomIds);
    const action = rng.pick([
      'send',
      'send',
      'send',
      'resend',
      'edit',
      'delete',
      'react',
      'drop',
      'leave',
      'member',
    ]);
    this.count(action);
    if (action === 'drop') return this.reconnect(device);
    if (action === 'leave') this.disconnect(device);
    else if (action === 'member') await (this.isDisturbed ? undefined : this.changeMember(room));
    else if (action === 'send' || action === 'resend') await this.send(device, room, action === 'resend');
    else await this.change(device, room, action);
  }

  /** @param twice sends the message twice, as after a lost acknowledgement */
  private async send(device: Device, room: string, twice: boolean): Promise<void> {
    const { client } = device;
    if (!client.socket) this.connect(device);
    const id = randomUUID();
    const body = `text ${id}`;
    if (twice) client.socket?.emit('message.send', { room_id: room, client_msg_id: id, body });
    const sending = (async () => {
      const { ok, message } = await client.send(room, id, body);
      if (ok) this.acknowledged.set(id, { room, id: message.id, seq: message.seq });
    })();
    await this.waitFor(sending, device);
  }

  private async change(device: Device, room: string, action: string): Promise<void> {
    const known = [...(device.client.rooms.get(room)?.messages.values() ?? [])];
    if (known.length === 0) return;
    if (!device.client.socket) this.connect(device);
    const target = { room_id: room, message_id: this.rng.pick(known).id };
    const input = { edit: { body: `edited ${randomUUID()}` }, react: { emoji: this.rng.pick(['👍', '🎉']) } }[
      action
    ];
    // Repeated until the server responds: a change without a response may have committed without an event to the others.
    const changing = (async () => {
      for (;;) {
        const request = device.client.socket
          ?.timeout(2_000)
          .emitWithAck(`message.${action}`, { ...target, ...input });
        const response = await request?.catch(() => undefined);
        if (response?.ok || (response && response.status < 429)) return;
        await delay(100);
      }
    })();
    await this.waitFor(changing, device);
  }

  /** Waits for a request while its device is connected. The comparison waits for the others. */
  private async waitFor(request: Promise<void>, device: Device): Promise<void> {
    this.sending.add(request);
    await Promise.race([request, device.disconnected.promise, delay(10_000, undefined, { ref: false })]);
  }

  /** Removes or adds a member other than the owner. */
  private async changeMember(room: string): Promise<void> {
    const [owner, ...others] = this.site.users as [ChatUser, ...ChatUser[]];
    const member = this.rng.pick(others);
    const path = `/chat/rooms/${room}/members`;
    const isRemoval = this.rng.chance(0.5);
    const work = isRemoval
      ? this.request(owner, 'DELETE', `${path}/${member.id}`)
      : this.request(owner, 'POST', path, { user_id: member.id });
    await work.catch(() => undefined);
  }

  private async reconnect(device: Device): Promise<void> {
    this.disconnect(device);
    await delay(this.rng.int(0, 30));
    this.connect(device);
  }

  private disconnect(device: Device): void {
    device.client.disconnect();
    device.disconnected.resolve();
    device.disconnected = Promise.withResolvers();
  }

  private connect(device: Device): void {
    this.disconnect(device);
    device.client.connect(this.rng.pick(this.site.bases), device.createToken);
    device.client.socket?.onAny((name: string, payload: any) => {
      if (name.startsWith('message.'))
        device.events.push({ room: payload.room_id, mod_seq: payload.mod_seq, at: performance.now() });
    });
  }

  /** Every device equals the server, which contains each acknowledged message once. */
  private async compare(): Promise<void> {
    for (const device of this.devices) if (!device.client.socket) this.connect(device);
    // Messages that were sent during a disturbance.
    await Promise.all(this.sending);
    this.sending.clear();
    this.checkServer(await this.serverState());
    for (const device of this.devices) {
      for (const deadline = performance.now() + PATIENCE_MS; ;) {
        const server = await this.serverState();
        const rooms = await this.roomsOf(device.user);
        const expected = picture(new Map([...server].filter(([id]) => rooms.has(id))));
        const actual = pictureOf(device.client);
        if (actual === expected) {
          this.checkEvents(device, server);
          break;
        }
        if (performance.now() > deadline) throw new Error(differenceOf(expected, actual));
        await delay(200);
      }
    }
    this.count('comparisons', this.devices.length);
  }

  private async serverState(): Promise<Map<string, any[]>> {
    const [owner] = this.site.users as [ChatUser];
    const rooms = this.roomIds.map(async (room) => [room, await this.history(owner, room)] as const);
    return new Map(await Promise.all(rooms));
  }

  private checkServer(server: Map<string, any[]>): void {
    for (const [room, messages] of server) {
      if (messages.some(({ seq }, n) => seq !== n + 1)) throw new Error(`room ${room} has gaps`);
      const byKey = Map.groupBy(messages, ({ client_msg_id }) => client_msg_id);
      for (const [key, found] of byKey)
        if (key !== null && found.length > 1) throw new Error(`message ${key} occurs ${found.length} times`);
    }
    for (const [key, { room, id, seq }] of this.acknowledged) {
      const found = server.get(room)?.[seq - 1];
      if (found?.id !== id || found.client_msg_id !== key)
        throw new Error(`acknowledged message ${key} is missing`);
    }
  }

  /** A device receives changes only while its user is a member. */
  private checkEvents({ user, events }: Device, server: Map<string, any[]>): void {
    for (const { room, mod_seq } of events.splice(0)) {
      let isMember = true;
      for (const { kind, event, mod_seq: at } of server.get(room) ?? []) {
        if (kind !== 'system' || at > mod_seq || !event.user_ids?.includes(user.id)) continue;
        if (event.type === 'members_added') isMember = true;
        if (event.type === 'member_removed') isMember = false;
      }
      if (!isMember)
        throw new Error(`user ${user.id} received change ${mod_seq} of room ${room} after the removal`);
    }
  }

  private async history(user: ChatUser, room: string): Promise<any[]> {
    const messages: any[] = [];
    for (let more = true; more;) {
      const after = messages.at(-1)?.seq ?? 0;
      const { body } = await this.request(
        user,
        'GET',
        `/chat/rooms/${room}/messages?after_seq=${after}&limit=200`,
      );
      messages.push(...body.messages);
      more = body.has_more;
    }
    return messages;
  }

  private async roomsOf(user: ChatUser): Promise<Set<string>> {
    const { body } = await this.request(user, 'GET', '/chat/rooms?limit=200');
    return new Set(body.rooms.map(({ id }: any) => id));
  }

  /** A request that is repeated at other processes while the service is disturbed. */
  private async request(user: ChatUser, method: string, path: string, body?: object): Promise<{ body: any }> {
    for (const deadline = performance.now() + PATIENCE_MS; ;) {
      const headers = { authorization: `Bearer ${user.token}`, 'content-type': 'application/json' };
      const response = await fetch(`${this.rng.pick(this.site.bases)}/apis/v1${path}`, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(20_000),
      }).catch(() => undefined);
      if (response && response.status < 500) return { body: await response.json() };
      if (performance.now() > deadline)
        throw new Error(`no response to ${method} ${path}: ${response?.status}`);
      await delay(100);
    }
  }

  private device(user: ChatUser): Device {
    const createToken = async () => (await this.request(user, 'POST', '/auth/socket/token')).body.token;
    return {
      user,
      client: new ExampleClient(),
      createToken,
      disconnected: Promise.withResolvers(),
      events: [],
    };
  }

  private count(name: string, by = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + by);
  }
}

const pictureOf = ({ rooms }: ExampleClient): string =>
  picture(new Map([...rooms].map(([id, { messages }]) => [id, [...messages.values()]])));

/** Rooms by id with their messages by number, as text. */
function picture(rooms: Map<string, any[]>): string {
  const sorted = [...rooms].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return sorted
    .flatMap(([id, messages]) => [
      id,
      ...messages.toSorted((one, other) => one.seq - other.seq).map((message) => JSON.stringify(message)),
    ])
    .join('\n');
}

function differenceOf(expected: string, actual: string): string {
  const [server, client] = [expected.split('\n'), actual.split('\n')];
  const at = server.findIndex((line, n) => line !== client[n]);
  return `a device differs from the server (${client.length} lines instead of ${server.length}), first:\n${server[at]}\n${client[at]}`;
}
