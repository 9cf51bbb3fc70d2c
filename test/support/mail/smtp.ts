import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createTransport } from 'nodemailer';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';

/** A message that another server received. */
export interface Received {
  from: string;
  to: string[];
  raw: string;
}

const NO_SERVICE = Object.assign(new Error('5.3.2 No SMTP service here'), { responseCode: 554 });

/** A real SMTP server in the role of the relay. */
export class OtherServer {
  readonly received: Received[] = [];
  /** Returns the error response for a recipient, if any. */
  reject: (recipient: string) => (Error & { responseCode: number }) | undefined = () => undefined;
  /** While true, the server rejects connections with a permanent error. */
  isClosed = false;
  /** While true, the server does not respond to messages. */
  hangs = false;
  /** Messages without a response. */
  private readonly held: ((error: Error) => void)[] = [];

  private constructor(private readonly server: SMTPServer) {}

  static async start(): Promise<OtherServer> {
    const server = new SMTPServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      authOptional: true,
      logger: false,
      onConnect: (_session, done) => done(other.isClosed ? NO_SERVICE : null),
      onRcptTo: ({ address }, _session, done) => done(other.reject(address)),
      onData: (stream, session, done) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          if (!other.hangs) {
            other.received.push(message(session, Buffer.concat(chunks)));
            return done();
          }
          other.held.push(done);
        });
      },
    });
    const other = new OtherServer(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    return other;
  }

  get url(): string {
    return `smtp://127.0.0.1:${(this.server.server.address() as { port: number }).port}`;
  }

  get hanging(): number {
    return this.held.length;
  }

  /** Fails the messages without a response, and responds from now on. */
  resume(): void {
    this.hangs = false;
    for (const done of this.held.splice(0)) done(new Error('no response'));
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}

/** A server that sends its responses byte by byte and never ends one, so that no timeout of silence applies. */
export async function dripServer(): Promise<{ url: string; stop: () => Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const timer = setInterval(() => socket.write('2'), 20);
    sockets.add(socket.on('error', () => undefined).resume());
    socket.once('close', () => clearInterval(timer));
    socket.write('220 ready\r\n');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

function message({ envelope }: SMTPServerSession, raw: Buffer): Received {
  return {
    from: envelope.mailFrom ? envelope.mailFrom.address : '',
    to: envelope.rcptTo.map(({ address }) => address),
    raw: raw.toString(),
  };
}

/** Sends a message by SMTP. @throws Error with the server's response */
export async function sendBySmtp(
  port: number,
  envelope: { from: string; to: string[] },
  raw: string | Buffer,
): Promise<{ rejected: string[] }> {
  const transport = createTransport({ host: '127.0.0.1', port, secure: false, ignoreTLS: true });
  try {
    const { rejected } = await transport.sendMail({ envelope, raw });
    return { rejected: rejected.map(String) };
  } finally {
    transport.close();
  }
}

/** A response of one or more lines. */
const REPLY = /^(?:\d{3}-[^\n]*\n)*\d{3}(?: [^\n]*)?\n/;

/** A client for arbitrary protocol lines. */
export class RawSmtp {
  private heard = '';
  private ended = false;
  private notice = () => undefined as void;

  private constructor(readonly socket: Socket) {
    socket.on('data', (bytes) => {
      this.heard += bytes.toString('latin1');
      this.notice();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.ended = true;
      this.notice();
    });
  }

  static async open(port: number): Promise<RawSmtp> {
    const client = new RawSmtp(connect(port, '127.0.0.1'));
    await client.reply();
    return client;
  }

  /** The next response; `closed` after the end of the connection. */
  async reply(): Promise<string> {
    for (;;) {
      const [reply] = REPLY.exec(this.heard) ?? [];
      if (reply !== undefined) {
        this.heard = this.heard.slice(reply.length);
        return reply.trim();
      }
      if (this.ended) return 'closed';
      await new Promise<void>((resolve) => (this.notice = resolve));
    }
  }

  /** Sends a line or raw bytes. */
  say(text: string | Buffer): Promise<string> {
    this.socket.write(typeof text === 'string' ? Buffer.from(`${text}\r\n`, 'latin1') : text);
    return this.reply();
  }

  /** Starts a message, up to the response to DATA. */
  async begin(to: string, from = 'ann@far.example'): Promise<void> {
    for (const line of ['EHLO x', `MAIL FROM:<${from}>`, `RCPT TO:<${to}>`]) {
      const reply = await this.say(line);
      if (!reply.startsWith('250')) throw new Error(reply);
    }
    const reply = await this.say('DATA');
    if (!reply.startsWith('354')) throw new Error(reply);
  }

  /** Sends a message with stuffed dots and its end. */
  message(raw: Buffer): Promise<string> {
    const stuffed = raw.toString('latin1').replace(/(^|\n)\./g, '$1..');
    return this.say(Buffer.from(`${stuffed}\r\n.\r\n`, 'latin1'));
  }

  close(): void {
    this.socket.destroy();
  }
}
