import { Injectable } from '@nestjs/common';
import { type Account, AccountsRepository } from '../accounts/accounts.repository.js';
import { domainOf } from '../accounts/addresses.js';
import { refuse } from '../http/mail-error.js';
import { MailSettings } from '../mail-settings.js';
import { MailboxesRepository } from '../mailboxes/mailboxes.repository.js';
import type { Body } from '../http/body.js';
import type { Address, NewAttachment, NewMessage, ParsedMessage, TakenAttachments } from '../mime/message.js';
import { MimeWorkers } from '../mime/mime-workers.js';
import { type Bytes, sizeOf, streamOf } from '../storage/bytes.js';
import { RawMessages } from '../storage/raw-messages.js';
import { type Scratch, Spool } from '../storage/spool.js';
import { MessageStore } from './message-store.js';
import { MessagesRepository } from './messages.repository.js';
import { answerTo, type Origin, type Reference } from './reference.js';

/** Headers that structured fields or the service itself decide. */
const OWN_HEADERS =
  /^(?:from|sender|reply-to|to|cc|bcc|subject|date|message-id|in-reply-to|references|mime-version|received|return-path|resent-.*|content-.*|dkim-.*|arc-.*|authentication-results)$/i;

export interface UploadRequest {
  user: string;
  mailbox: string;
  date?: Date;
  unseen: boolean;
  flagged: boolean;
  draft: boolean;
  raw?: string;
  from?: Partial<Address>;
  replyTo?: Partial<Address>;
  to?: Partial<Address>[];
  cc?: Partial<Address>[];
  bcc?: Partial<Address>[];
  headers?: { key?: string; value?: string }[];
  subject?: string;
  text?: string;
  html?: string;
  attachments?: NewAttachment[];
  metaData?: Record<string, unknown>;
  reference?: Reference;
  replacePrevious?: { mailbox?: string; id: number };
}

/** Puts messages into mailboxes for their owner: drafts, and copies of what came another way. */
@Injectable()
export class UploadService {
  constructor(
    private readonly accounts: AccountsRepository,
    private readonly mailboxes: MailboxesRepository,
    private readonly messages: MessagesRepository,
    private readonly raws: RawMessages,
    private readonly mime: MimeWorkers,
    private readonly store: MessageStore,
    private readonly settings: MailSettings,
    private readonly spool: Spool,
  ) {}

  /**
   * @param body the message as it is, instead of fields; or what the fields only name
   * @throws MailError
   */
  add(request: UploadRequest, body: Body): Promise<Record<string, unknown>> {
    return this.spool.during((scratch) => this.addWith(request, body, scratch));
  }

  private async addWith(
    request: UploadRequest,
    body: Body,
    scratch: Scratch,
  ): Promise<Record<string, unknown>> {
    const { user, mailbox, reference, replacePrevious } = request;
    const [account, box] = await Promise.all([this.accounts.find(user), this.mailboxes.find(user, mailbox)]);
    if (!account) throw refuse.userNotFound();
    if (!box) throw refuse.noMailbox();
    const origin = reference && (await this.origin(user, reference));
    const draft = request.draft || origin !== undefined;
    const wanted = { ...request, draft, attachments: attachmentsOf(request, body) };
    const made = await this.make(wanted, body.raw, account, origin, scratch);
    const size = sizeOf(made.raw);
    const rawId = await this.raws.put(streamOf(made.raw));
    const { mailbox: id, uid } = await this.store.add({
      userId: user,
      mailbox,
      rawId,
      size,
      parsed: made.parsed,
      domain: domainOf(account.address),
      seen: draft || !request.unseen,
      flagged: request.flagged,
      draft,
      envelope: { from: '', rcpt: [] },
      ...(request.metaData && { metaData: request.metaData }),
      ...(origin && { reference: origin.link }),
    });
    return {
      success: true,
      message: { id: uid, mailbox: id, size },
      ...(replacePrevious && (await this.removePrevious(user, mailbox, replacePrevious))),
    };
  }

  private async make(
    request: UploadRequest,
    raw: Bytes | undefined,
    account: Account,
    origin: Origin | undefined,
    scratch: Scratch,
  ): Promise<{ raw: Bytes; parsed: ParsedMessage }> {
    const given = raw ?? (request.raw === undefined ? undefined : Buffer.from(request.raw));
    if (given) {
      if (sizeOf(given) > this.settings.messageBytes) throw refuse.messageTooLarge();
      return { raw: given, parsed: await this.mime.parse(given) };
    }
    const message = structured(request, account, origin);
    const taken = await this.taken(request.reference, origin, scratch);
    const made = await this.mime.compose(message, scratch, taken);
    if (sizeOf(made.raw) > this.settings.messageBytes) throw refuse.messageTooLarge();
    return made;
  }

  /** What is not found is ignored, as upstream: the message is then one of its own. */
  private async origin(userId: string, reference: Reference): Promise<Origin | undefined> {
    const row = await this.messages.find(userId, reference.mailbox, reference.id);
    return row && { row, link: { mailbox: reference.mailbox, id: reference.id, action: reference.action } };
  }

  private async taken(
    reference: Reference | undefined,
    origin: Origin | undefined,
    scratch: Scratch,
  ): Promise<TakenAttachments | undefined> {
    if (!origin || !reference?.attachments) return undefined;
    const wanted = reference.attachments;
    const ids = origin.row.summary.attachments
      .filter(({ id, related }) => (wanted === true ? !related : wanted.includes(id)))
      .map(({ id }) => id);
    if (ids.length === 0) return undefined;
    return { raw: await this.raws.read(origin.row.raw_id, scratch), ids };
  }

  /** The new message is stored by now: a failure is told, and changes nothing. */
  private async removePrevious(userId: string, mailbox: string, previous: { mailbox?: string; id: number }) {
    const { id } = previous;
    const gone = Number.isSafeInteger(id)
      ? await this.messages.remove(userId, previous.mailbox ?? mailbox, [id])
      : 0;
    return gone > 0
      ? { previousDeleted: true }
      : { previousDeleteError: 'Failed to delete previous message. Message was not found' };
  }
}

/** With the contents that the body's JSON was relieved of. */
const attachmentsOf = ({ attachments = [] }: UploadRequest, { contents }: Body): NewAttachment[] =>
  attachments.map(({ content, ...rest }) => ({
    ...rest,
    content: (typeof content === 'string' ? contents?.get(content) : undefined) ?? content,
  }));

function structured(request: UploadRequest, account: Account, origin: Origin | undefined): NewMessage {
  const answer = origin && answerTo(origin, account.address);
  const people = (list: Partial<Address>[] | undefined): Address[] =>
    (list ?? []).filter(({ address }) => address).map(person);
  const [to, cc] = [people(request.to), people(request.cc)];
  const inherits = to.length === 0 && cc.length === 0;
  const text = request.text;
  return {
    from: sender(request, account),
    ...(request.replyTo && { replyTo: person(request.replyTo) }),
    to: inherits ? (answer?.to ?? []) : to,
    cc: inherits ? (answer?.cc ?? []) : cc,
    bcc: people(request.bcc),
    subject: request.subject ?? answer?.subject ?? '',
    ...(text !== undefined && { text }),
    ...(request.html !== undefined && { html: request.html }),
    ...(request.date && { date: request.date }),
    attachments: request.attachments ?? [],
    ...(answer && { inReplyTo: answer.inReplyTo }),
    references: answer?.references ?? [],
    headers: (request.headers ?? []).flatMap(({ key, value }) =>
      key && value && !OWN_HEADERS.test(key) ? [{ key, value }] : [],
    ),
  };
}

/** A draft is from its owner, under whatever name; a copy of another message keeps what it says. */
function sender(request: UploadRequest, account: Account): Address {
  const { name, address } = request.from ?? {};
  if (address !== undefined && !request.draft) return person({ name, address });
  return { name: name ?? account.name, address: account.address };
}

const person = ({ name = '', address = '' }: Partial<Address>): Address => ({ name, address });
