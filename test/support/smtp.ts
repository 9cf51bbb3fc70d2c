import { createTransport } from 'nodemailer';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';

/** A message another server took. */
export interface Taken {
  from: string;
  to: string[];
  raw: string;
}

/** A real SMTP server that stands for the rest of the world. */
export class OtherServer {
  readonly taken: Taken[] = [];
  /** Asked for each recipient; an error is what it answers. */
  refuse: (recipient: string) => (Error & { responseCode: number }) | undefined = () => undefined;

  private constructor(private readonly server: SMTPServer) {}

  static async start(): Promise<OtherServer> {
    const server = new SMTPServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      authOptional: true,
      logger: false,
      onRcptTo: ({ address }, _session, done) => done(other.refuse(address)),
      onData: (stream, session, done) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          other.taken.push(message(session, Buffer.concat(chunks)));
          done();
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

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}

function message({ envelope }: SMTPServerSession, raw: Buffer): Taken {
  return {
    from: envelope.mailFrom ? envelope.mailFrom.address : '',
    to: envelope.rcptTo.map(({ address }) => address),
    raw: raw.toString(),
  };
}

/** Sends a message by SMTP. @throws what the server answers */
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
