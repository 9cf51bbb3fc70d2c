import { createSocket, type Socket } from 'node:dgram';

const HEADER = 12;
const TXT = 16;
const NAME_ERROR = 3;

/** A name server with TXT records (RFC 1035), on UDP. */
export class NameServer {
  /** Records by name. Strings over 255 bytes are split, as name servers do. */
  readonly records = new Map<string, string[]>();
  /** While true, the server does not respond. */
  hangs = false;

  private readonly socket: Socket;

  // No parameter property: the browser suites load this file with its types stripped, which does not support them.
  private constructor(socket: Socket) {
    this.socket = socket;
  }

  static async start(): Promise<NameServer> {
    const socket = createSocket('udp4');
    const server = new NameServer(socket);
    socket.on('message', (query, { port, address }) => {
      if (!server.hangs) socket.send(server.respond(query), port, address);
    });
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    return server;
  }

  get address(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => this.socket.close(() => resolve()));
  }

  private respond(query: Buffer): Buffer {
    const { name, end } = nameOf(query);
    const values = this.records.get(name.toLowerCase()) ?? [];
    const header = Buffer.alloc(HEADER);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | (values.length === 0 ? NAME_ERROR : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(values.length, 6);
    return Buffer.concat([header, query.subarray(HEADER, end + 4), ...values.map(recordOf)]);
  }
}

function nameOf(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = HEADER;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.'), end: at + 1 };
}

function recordOf(value: string): Buffer {
  const parts = value.match(/.{1,255}/gs) ?? [''];
  const data = Buffer.concat(parts.map((part) => Buffer.from([part.length, ...Buffer.from(part)])));
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(TXT, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(60, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}
