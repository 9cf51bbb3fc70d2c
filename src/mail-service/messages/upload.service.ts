import { Injectable, Logger } from '@nestjs/common';
import { type Account, AccountsRepository } from '../accounts/accounts.repository.js';
import { domainOf, normalizeAddress } from '../accounts/addresses.js';
import type { Body } from '../http/body.js';
import { mailErrors } from '../mail-error.js';
import { MailSettings } from '../mail-settings.js';
import { MailboxesRepository } from '../mailboxes/mailboxes.repository.js';
import { MessageStore } from '../message-store.js';
import type {
  Address,
  CopiedAttachments,
  NewAttachment,
  NewMessage,
  ParsedMessage,
} from '../mime/message.js';
import { hasStatus } from '../mime/attachments.js';
import { shortenReferences } from '../mime/clean-text.js';
import { MimeWorkers } from '../mime/mime-workers.js';
import { type Bytes, sizeOf, streamOf } from '../storage/bytes.js';
import { RawMessages } from '../storage/raw-messages.js';
import { type Scratch, Spool } from '../storage/spool.js';
import { listOf, type MessageRow, MessagesRepository } from './messages.repository.js';
import { rejectUnusable } from './upload.fields.js';

/** A reference to the message that a draft replies to or forwards. */
export interface Reference {
  mailbox: string;
  id: number;
  action: 'reply' | 'replyAll' | 'forward';
  /** True copies all attachments; a list copies those ids. */
  attachments?: boolean | string[];
}

/** The referenced message. */
export interface Origin {
  row: MessageRow;
  link: { mailbox: string; id: number; action: Reference['action'] };
}

/** The thread of a draft, for its next version. */
export interface Continued {
  inReplyTo: string | undefined;
  references: string[];
  link: { mailbox: string; id: number; action: string } | null;
}

/** Fields that a reply or forward takes from its origin. */
export interface Derived {
  to: Address[];
  cc: Address[];
  subject: string;
  inReplyTo: string;
  references: string[];
}

/** @param own address of the sender, excluded from the recipients */
export function derivedFrom({ row, link }: Origin, own: string): Derived {
  const { from, replyTo, to, cc, references } = row.summary;
  const back = replyTo.length > 0 ? replyTo : from ? [from] : [];
  const seen = new Set([normalizeAddress(own)]);
  const others = (list: readonly Address[]): Address[] =>
    list.filter(({ address }) => {
      const key = normalizeAddress(address);
      return !seen.has(key) && seen.add(key);
    });
  const forward = link.action === 'forward';
  const direct = forward ? [] : others(back);
  return {
    // A reply to a message of the sender goes to the recipients of that message.
    to: direct.length > 0 || forward ? direct : others(to),
    cc: link.action === 'replyAll' ? others([...to, ...cc]) : [],
    subject: subjectOf(row.subject, forward ? 'Fwd: ' : 'Re: ', forward ? FORWARDED : REPLIED),
    inReplyTo: row.message_id,
    references: shortenReferences([...references, row.message_id]),
  };
}

/**
 * The beginnings of the subjects of replies and forwards, as programs in several languages write them: with the number of the reply, a blank
 * before the colon, or a wide colon. Words that begin other subjects too, such as `Ref:`, are none of them.
 */
const REPLIED =
  /^(?:re|aw|antw|sv|odp|rif|答复|答覆|回复|回覆|回信)\s?(?:\[\d{1,4}\]|\(\d{1,4}\)|\^\d{1,4})?\s?[:：]/i;
const FORWARDED = /^(?:fwd?|wg|转发|轉寄)\s?[:：]/i;

function subjectOf(subject: string, prefix: string, has: RegExp): string {
  return has.test(subject.trim()) ? subject : prefix + subject;
}

/** Headers that the service sets, from the structured fields or itself. */
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
  attachments?: (NewAttachment | { keep: string })[];
  metaData?: Record<string, unknown>;
  reference?: Reference;
  replacePrevious?: { mailbox?: string; id: number };
}

type Upload = Omit<UploadRequest, 'attachments'> & { attachments: NewAttachment[] };

/** The messages before a new one: the message that it refers to, or the draft whose thread it keeps. */
interface Thread {
  origin: Origin | undefined;
  continued: Continued | undefined;
}

/** Stores messages for their owner: drafts and imported messages. */
@Injectable()
export class UploadService {
  private readonly logger = new Logger(UploadService.name);

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
   * @param body contains a raw message instead of fields, or the long contents of attachments
   * @throws MailError
   */
  add(request: UploadRequest, body: Body): Promise<Record<string, unknown>> {
    return this.spool.runWithScratch((scratch) => this.addWith(request, body, scratch));
  }

  private async addWith(
    request: UploadRequest,
    body: Body,
    scratch: Scratch,
  ): Promise<Record<string, unknown>> {
    const { user, mailbox, reference, replacePrevious } = request;
    rejectUnusable(request.to ?? []);
    const [account, box] = await Promise.all([this.accounts.find(user), this.mailboxes.find(user, mailbox)]);
    if (!account) throw mailErrors.userNotFound();
    if (!box) throw mailErrors.noMailbox();
    const origin = reference && (await this.origin(user, reference));
    const draft = request.draft || origin !== undefined;
    const continued = draft && !origin ? await this.continued(request) : undefined;
    const link = (origin ?? continued)?.link;
    const wanted = { ...request, draft, attachments: attachmentsOf(request, body) };
    const copied = [
      ...(await this.copied(reference, origin, scratch)),
      ...(await this.kept(request, scratch)),
    ];
    const made = await this.make(wanted, body.raw, account, { origin, continued }, copied, scratch);
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
      ...(link && { reference: link }),
    });
    return {
      success: true,
      message: { id: uid, mailbox: id, size },
      ...(replacePrevious && (await this.removePrevious(user, mailbox, replacePrevious))),
    };
  }

  private async make(
    request: Upload,
    raw: Bytes | undefined,
    account: Account,
    thread: Thread,
    copied: CopiedAttachments[],
    scratch: Scratch,
  ): Promise<{ raw: Bytes; parsed: ParsedMessage }> {
    const given = raw ?? (request.raw === undefined ? undefined : Buffer.from(request.raw));
    if (given) {
      if (sizeOf(given) > this.settings.messageBytes) throw mailErrors.messageTooLarge();
      return { raw: given, parsed: await this.mime.parse(given) };
    }
    const message = structured(request, account, thread);
    const made = await this.mime.compose(message, scratch, copied);
    if (sizeOf(made.raw) > this.settings.messageBytes) throw mailErrors.messageTooLarge();
    return made;
  }

  /**
   * An unknown origin is ignored, as in WildDuck, so that a reply can be saved after the message is deleted.
   * @throws MailError 404 when its attachments are wanted, which would be missing
   */
  private async origin(userId: string, reference: Reference): Promise<Origin | undefined> {
    const row = await this.messages.find(userId, reference.mailbox, reference.id);
    if (!row && wantsFiles(reference)) throw mailErrors.noMessage();
    return row && { row, link: { mailbox: reference.mailbox, id: reference.id, action: reference.action } };
  }

  /** The thread of the draft that a new version without a reference replaces. */
  private async continued({ user, mailbox, replacePrevious }: UploadRequest): Promise<Continued | undefined> {
    if (!replacePrevious) return undefined;
    const row = await this.messages.find(user, replacePrevious.mailbox ?? mailbox, replacePrevious.id);
    const inReplyTo = row?.headers['in-reply-to']?.[0];
    if (!row?.draft || (inReplyTo === undefined && row.reference === null)) return undefined;
    return { inReplyTo, references: row.summary.references, link: row.reference };
  }

  /** @throws MailError 404 */
  private async copied(
    reference: Reference | undefined,
    origin: Origin | undefined,
    scratch: Scratch,
  ): Promise<CopiedAttachments[]> {
    if (!origin || !reference?.attachments) return [];
    const wanted = reference.attachments;
    const stored = origin.row.summary.attachments;
    const known = stored.map(({ id }) => id);
    const ids = wanted === true ? known : wanted;
    if (ids.length === 0) return [];
    if (!ids.every((id) => known.includes(id))) throw mailErrors.noAttachment();
    const raw = await this.raws.read(origin.row.raw_id, scratch);
    return [{ raw, ids, withStatus: hasStatus(stored) }];
  }

  /** The attachments that the new version of a draft keeps. @throws MailError 404 */
  private async kept(
    { user, mailbox, attachments = [], replacePrevious }: UploadRequest,
    scratch: Scratch,
  ): Promise<CopiedAttachments[]> {
    const ids = attachments.flatMap((attachment) => ('keep' in attachment ? [attachment.keep] : []));
    if (ids.length === 0) return [];
    const previous =
      replacePrevious &&
      (await this.messages.findRaw(user, replacePrevious.mailbox ?? mailbox, replacePrevious.id));
    if (!previous) throw mailErrors.noMessage();
    if (!ids.every((id) => previous.attachments.some((attachment) => attachment.id === id)))
      throw mailErrors.noAttachment();
    const raw = await this.raws.read(previous.raw_id, scratch);
    return [{ raw, ids, withStatus: hasStatus(previous.attachments) }];
  }

  /** The new message is stored already, so a failure is only reported in the response. */
  private async removePrevious(userId: string, mailbox: string, previous: { mailbox?: string; id: number }) {
    try {
      const set = listOf([previous.id]);
      const deleted = await this.messages.remove(userId, previous.mailbox ?? mailbox, set);
      return deleted > 0
        ? { previousDeleted: true }
        : { previousDeleteError: 'Failed to delete previous message. Message was not found' };
    } catch (error) {
      this.logger.warn({ err: error }, 'a previous draft could not be deleted');
      return { previousDeleteError: 'Failed to delete previous message. It remains' };
    }
  }
}

const wantsFiles = ({ attachments }: Reference): boolean =>
  attachments === true || (Array.isArray(attachments) && attachments.length > 0);

/** Attachments with the long contents of the body. */
const attachmentsOf = ({ attachments = [] }: UploadRequest, { contents }: Body): NewAttachment[] =>
  attachments.flatMap((attachment) => {
    if ('keep' in attachment) return [];
    const { content } = attachment;
    return [
      {
        ...attachment,
        content: (typeof content === 'string' ? contents?.get(content) : undefined) ?? content,
      },
    ];
  });

function structured(request: Upload, account: Account, { origin, continued }: Thread): NewMessage {
  const derived = origin && derivedFrom(origin, account.address);
  const addresses = (list: Partial<Address>[] | undefined): Address[] =>
    (list ?? []).filter(({ address }) => address).map(fullAddress);
  const [cc, bcc] = [addresses(request.cc), addresses(request.bcc)];
  // WildDuck does so, too. An empty `to` is a decision of the author.
  const inherits = request.to === undefined && cc.length === 0 && bcc.length === 0;
  const text = request.text;
  const { inReplyTo, references = [] } = derived ?? continued ?? {};
  return {
    from: sender(request, account),
    ...(request.replyTo && { replyTo: fullAddress(request.replyTo) }),
    to: inherits ? (derived?.to ?? []) : addresses(request.to),
    cc: inherits ? (derived?.cc ?? []) : cc,
    bcc,
    subject: request.subject ?? derived?.subject ?? '',
    ...(text !== undefined && { text }),
    ...(request.html !== undefined && { html: request.html }),
    ...(request.date && { date: request.date }),
    attachments: request.attachments,
    ...(inReplyTo !== undefined && { inReplyTo }),
    references,
    headers: (request.headers ?? []).flatMap(({ key, value }) =>
      key && value && !OWN_HEADERS.test(key) ? [{ key, value }] : [],
    ),
  };
}

/** The sender of a draft is its owner, under any name; an imported message keeps its own. */
function sender(request: Pick<UploadRequest, 'from' | 'draft'>, account: Account): Address {
  const { name, address } = request.from ?? {};
  if (address !== undefined && !request.draft) return fullAddress({ name, address });
  return { name: name ?? account.name, address: account.address };
}

const fullAddress = ({ name = '', address = '' }: Partial<Address>): Address => ({ name, address });
