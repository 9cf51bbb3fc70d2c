import { io, type Socket } from 'socket.io-client';
import type { TestUser, TestApp } from '../app.ts';
import { until } from '../until.ts';

export interface ReceivedEvent {
  name: string;
  payload: any;
}

/** A Socket.IO client that records the events it receives. */
export class TestSocket {
  readonly events: ReceivedEvent[] = [];
  /** Reason of the end, from the client's point of view. */
  ended: string | undefined;

  private constructor(readonly socket: Socket) {
    socket.onAny((name: string, payload: unknown) => this.events.push({ name, payload }));
    socket.on('disconnect', (reason) => (this.ended = reason));
  }

  /** Opens a socket of a user at this application. @throws Error with the reason of the server */
  static async open(app: TestApp, user: TestUser, options: object = {}): Promise<TestSocket> {
    const { body } = await app.as(user.token).post('/auth/socket/token');
    return TestSocket.with(app, body.token, options);
  }

  static async with(app: TestApp, token: unknown, options: object = {}): Promise<TestSocket> {
    const socket = io(app.base, {
      path: '/apis/v1/socket',
      transports: ['websocket'],
      auth: { token },
      reconnection: false,
      forceNew: true,
      ...options,
    });
    const made = new TestSocket(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('connect_error', (error) => {
        socket.close();
        reject(error);
      });
    });
    await made.next('hello');
    return made;
  }

  /** Sends an event. @returns its acknowledgement */
  send = (name: string, payload?: unknown): Promise<any> => this.socket.emitWithAck(name, payload);

  /** The payload of the first event with this name that matches, waiting for it. */
  async next(name: string, matches: (payload: any) => boolean = () => true): Promise<any> {
    const found = await until(`the event ${name}`, () =>
      this.events.find((event) => event.name === name && matches(event.payload)),
    );
    return found.payload;
  }

  named = (name: string): any[] => this.events.filter((event) => event.name === name).map((e) => e.payload);

  close(): void {
    this.socket.close();
  }
}
