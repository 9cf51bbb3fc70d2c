import os from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import {
  SMTPServer,
  type SMTPServerAddress,
  type SMTPServerDataStream,
  type SMTPServerSession,
} from 'smtp-server';
import { LRUCache } from 'lru-cache';
import { type Account, AccountsRepository } from '../accounts/accounts.repository.js';
import { domainOf, normalizeAddress } from '../accounts/addresses.js';
import { Db } from '../../platform/database/db.js';
import { isStorageFull } from '../../platform/database/database-errors.js';
import { ByteBudget, ByteReservation, RateWindow } from '../limits.js';
import { MailError } from '../mail-error.js';
import { MailSettings } from '../mail-settings.js';
import { MessageStore } from '../message-store.js';
import { growingTo } from '../../platform/memory/cache-size.js';
import { MimeWorkers } from '../mime/mime-workers.js';
import { bufferOf, type Bytes, gatherInto, sizeOf, streamOf } from '../storage/bytes.js';
import { RawMessages } from '../storage/raw-messages.js';
import { type Scratch, Spool } from '../storage/spool.js';

const MAX_CLIENTS = 100;
const MAX_RECIPIENTS = 100;
/** Limits per client address and minute. */
const CONNECTIONS = 120;
const MESSAGES = 300;
const MINUTE_MS = 60_000;
/** Limit of unknown recipients per session. A client that exceeds it probes addresses. */
const UNKNOWN_RECIPIENTS = 100;
/** A new member may have no account yet: this many unknown recipients of a session are looked up again. */
const AWAITED_RECIPIENTS = 3;
const AWAIT_MS = 3_000;
const AWAIT_STEP_MS = 250;
/** Limit of a session, which a client could extend without end by sending single bytes. */
const SESSION_MS = 15 * MINUTE_MS;
/** A message with more `Received` headers is in a loop (RFC 5321 6.3). */
const MAX_HOPS = 50;
const HEADER_BYTES = 1_048_576;
/**
 * How long a message that did not fit into a mailbox is known: until the second attempt. Smaller messages of the same sender without a
 * size are rejected for this time too.
 */
const OVERSIZE_MS = 2 * 60 * MINUTE_MS;
const CLOSE_MS = 5_000;

/** An error response of SMTP. */
class SmtpError extends Error {
  constructor(
    readonly responseCode: number,
    message: string,
  ) {
    super(message);
  }
}

/** Receives mail for local recipients, without relaying and login. A message is accepted after it is stored for all recipients. */
@Injectable()
export class SmtpReceiver implements OnModuleDestroy {
  private readonly logger = new Logger(SmtpReceiver.name);
  private readonly connections = new RateWindow(CONNECTIONS, MINUTE_MS);
  private readonly messages = new RateWindow(MESSAGES, MINUTE_MS);
  private readonly unknownRecipients = new RateWindow(UNKNOWN_RECIPIENTS, SESSION_MS);
  private readonly awaitedRecipients = new RateWindow(AWAITED_RECIPIENTS, SESSION_MS);
  /** Sizes of the last messages that did not fit, by account and sender: at the next attempt, only this recipient is rejected. */
  private readonly oversize = new LRUCache<string, number>({ ...growingTo(10_000), ttl: OVERSIZE_MS });
  /** Milliseconds in which the account of an unknown recipient may appear; tests shorten it. */
  awaitMs = AWAIT_MS;
  private server: SMTPServer | undefined;

  constructor(
    private readonly settings: MailSettings,
    private readonly accounts: AccountsRepository,
    private readonly mime: MimeWorkers,
    private readonly raws: RawMessages,
    private readonly store: MessageStore,
    private readonly db: Db,
    private readonly budget: ByteBudget,
    private readonly spool: Spool,
  ) {}

  /**
   * @param port 0 for any free port
   * @param sessionMs limit of a session
   */
  async listen(port = this.settings.smtpPort, sessionMs = SESSION_MS): Promise<number> {
    const server = new SMTPServer({
      banner: 'mail',
      size: this.settings.messageBytes,
      // WIZ, SHELL and KILL are jokes of the library. XCLIENT and XFORWARD are for proxies.
      disabledCommands: ['AUTH', 'STARTTLS', 'WIZ', 'SHELL', 'KILL', 'XCLIENT', 'XFORWARD'],
      authOptional: true,
      disableReverseLookup: true,
      maxClients: MAX_CLIENTS,
      socketTimeout: MINUTE_MS,
      closeTimeout: CLOSE_MS,
      logger: false,
      onConnect: (session, done) => done(this.connections.take(session.remoteAddress) ? null : TOO_MANY),
      onMailFrom: (_, session, done) => done(this.messages.take(session.remoteAddress) ? null : TOO_MANY),
      onRcptTo: (address, session, done) => void this.respond(this.checkRecipient(address, session), done),
      onData: (stream, session, done) => void this.respond(this.receive(stream, session), done),
    });
    this.server = server;
    // Clients may disconnect at any time.
    server.on('error', (error) => this.logger.debug({ err: error }, 'SMTP'));
    server.server.on('connection', (socket) => {
      const over = setTimeout(() => socket.destroy(), sessionMs).unref();
      socket.once('close', () => clearTimeout(over));
    });
    return new Promise((resolve, reject) => {
      server.server.once('error', reject);
      server.listen(port, this.settings.smtpHost, () => {
        server.server.off('error', reject);
        resolve((server.server.address() as { port: number }).port);
      });
    });
  }

  async onModuleDestroy(): Promise<void> {
    const { server } = this;
    if (server) await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  private async checkRecipient({ address }: SMTPServerAddress, session: SMTPServerSession): Promise<void> {
    if (session.envelope.rcptTo.length >= MAX_RECIPIENTS)
      throw new SmtpError(452, '4.5.3 Too many recipients');
    const owner = (await this.ownerOf(address)) ?? (await this.awaitOwner(address, session));
    if (!owner && !this.unknownRecipients.take(session.id)) throw TOO_MANY;
    if (!owner) throw new SmtpError(550, '5.7.1 No such recipient here, and no relaying');
    const { quotaBytes } = this.settings;
    const { mailFrom } = session.envelope;
    const { SIZE = '0' } = ((mailFrom && mailFrom.args) || {}) as { SIZE?: string };
    const announced = Number(SIZE) || (this.oversize.get(oversizeKey(owner, session)) ?? 0);
    if (quotaBytes > 0 && (await this.accounts.readUsage(owner.id)) + announced > quotaBytes) throw FULL;
  }

  private async receive(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<void> {
    const share = new ByteReservation(this.budget);
    const work = async (scratch: Scratch) =>
      this.deliver(await this.read(stream, session, share, scratch), session);
    await this.spool.runWithScratch(work).finally(() => share.release());
  }

  private async deliver(raw: Bytes, session: SMTPServerSession): Promise<void> {
    const { rcptTo } = session.envelope;
    const sender = senderOf(session);
    const parsed = await this.mime.parse(raw);
    const owners = new Map<string, { account: Account; address: string }>();
    for (const { address } of rcptTo) {
      const account = await this.ownerOf(address);
      // The sender repeats the message and learns which recipient is unknown.
      if (!account) throw DELETED;
      owners.set(account.id, { account, address: normalizeAddress(address) });
    }
    const rawId = await this.raws.put(streamOf(raw));
    // One transaction, so that all accounts get the message or none. The order of ids prevents deadlocks.
    const sorted = [...owners.values()].sort((a, b) => (a.account.id < b.account.id ? -1 : 1));
    await this.db.tx(async (tx) => {
      for (const { account, address } of sorted) {
        const message = {
          userId: account.id,
          rawId,
          size: sizeOf(raw),
          parsed,
          domain: domainOf(account.address),
          arrived: true,
          envelope: { from: sender, rcpt: [{ value: address, formatted: address }] },
        };
        await this.store.addIn(tx, message).catch((error: unknown) => {
          if (isOverQuota(error)) this.oversize.set(oversizeKey(account, session), sizeOf(raw));
          throw error;
        });
      }
    });
  }

  /** Reads the message and prepends a `Received` header (RFC 5321 4.4). */
  private async read(
    stream: SMTPServerDataStream,
    session: SMTPServerSession,
    share: ByteReservation,
    scratch: Scratch,
  ): Promise<Bytes> {
    const from = /^[\w.:[\]-]{1,255}$/.test(session.hostNameAppearsAs)
      ? session.hostNameAppearsAs
      : 'unknown';
    const line = `Received: from ${from} ([${session.remoteAddress}]) by ${os.hostname()} with ESMTP id ${session.id};\r\n ${new Date().toUTCString().replace('GMT', '+0000')}\r\n`;
    let full = false;
    // Bytes beyond a limit are discarded: the protocol has no response before the end of the message.
    async function* within(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(line);
      try {
        for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
          if (full || stream.sizeExceeded) continue;
          full = !share.take(chunk.length);
          if (!full) yield chunk;
        }
      } finally {
        stream.resume();
      }
    }
    const raw = await gatherInto(within(), scratch.file());
    if (full) throw TOO_MANY;
    if (stream.sizeExceeded) throw new SmtpError(552, '5.3.4 The message is too large');
    if (hops(await bufferOf(raw, HEADER_BYTES)) > MAX_HOPS)
      throw new SmtpError(554, '5.4.6 The message is in a loop');
    return raw;
  }

  /** Sends the result to the client. Unexpected exceptions are a temporary failure and logged. */
  private async respond(work: Promise<void>, done: (error?: Error | null) => void): Promise<void> {
    try {
      await work;
      done();
    } catch (error) {
      if (error instanceof SmtpError) return done(error);
      if (isOverQuota(error)) return done(FULL);
      if (error instanceof MailError && error.status === 400)
        return done(new SmtpError(554, '5.6.0 The message cannot be read'));
      if (!isDisconnect(error))
        this.logger.warn({ err: error }, 'mail could not be received; the sender has to retry');
      if (isStorageFull(error)) return done(NO_STORAGE);
      done(new SmtpError(451, '4.3.0 Try again later'));
    }
  }

  /** Waits for an account that is being created. A permanent error would make the sender give up. */
  private async awaitOwner(address: string, session: SMTPServerSession): Promise<Account | undefined> {
    if (!this.awaitedRecipients.take(session.id)) return undefined;
    for (let left = this.awaitMs; left > 0; left -= AWAIT_STEP_MS) {
      await delay(AWAIT_STEP_MS);
      const owner = await this.ownerOf(address);
      if (owner) return owner;
    }
    return undefined;
  }

  private async ownerOf(address: string): Promise<Account | undefined> {
    const normal = normalizeAddress(address);
    return (await this.accounts.owners([normal])).get(normal);
  }
}

const TOO_MANY = new SmtpError(421, '4.7.0 Too many requests, try later');
const NO_STORAGE = new SmtpError(452, '4.3.1 Insufficient system storage');
const DELETED = new SmtpError(451, '4.2.1 A mailbox has been deleted');
const FULL = new SmtpError(452, '4.2.2 The mailbox is full');

const isOverQuota = (error: unknown): boolean =>
  error instanceof MailError && error.body['code'] === 'OverQuotaError';

/** Empty for a bounce. */
const senderOf = ({ envelope: { mailFrom } }: SMTPServerSession): string =>
  mailFrom ? mailFrom.address : '';

const oversizeKey = (account: Account, session: SMTPServerSession): string =>
  `${account.id} ${senderOf(session)}`;

function hops(beginning: Buffer): number {
  const [head = ''] = beginning.toString('latin1').split(/\r?\n\r?\n/, 1);
  return head.match(/^received:/gim)?.length ?? 0;
}

/** The client disconnected within a message. */
const isDisconnect = (error: unknown): boolean =>
  ['ERR_STREAM_PREMATURE_CLOSE', 'ECONNECTION'].includes((error as NodeJS.ErrnoException).code ?? '');
