import { Injectable, type OnModuleInit } from '@nestjs/common';
import {
  type CardPatch,
  type ContactCard,
  departmentKey,
  differences,
  queryTerms,
  patchCard,
} from '../../../lib/contact-card/index.js';
import { cutText } from '../../../lib/text/index.js';
import { type Card, type CardEntry, newCard, writeCard } from '../../../lib/vcard/index.js';
import type { ExpectedRevision } from '../../../platform/concurrency/expected-revision.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { TxHooks } from '../../../platform/events/tx-hooks.js';
import { ApiError, Errors, type FieldProblem } from '../../../platform/http/errors.js';
import { type Checked, validated } from '../../../platform/http/input.pipe.js';
import { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { fileReply } from '../../../platform/http/replies/file-reply.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import type { ReplyOf } from '../../../platform/resources/resource.js';
import { PresenceApi } from '../../presence/index.js';
import { PROFILE_CHANGING, type ProfileRow, ProfileService, UpdateProfile } from '../../settings/index.js';
import { AddressbookAccess } from '../addressbook-access.js';
import { ContactPhotos } from '../contact-photos.js';
import { ContactsRepository, isListed, type Listed } from '../contacts.repository.js';
import { ContactErrors, CONTACTS } from '../contacts.resource.js';
import { GlobalBook, memberCard } from '../global-book.js';
import { phoneCountry } from '../input/contact.dto.js';
import { checkCard, contactUpdate } from '../model/contact-values.js';
import {
  cardOf,
  contactJson,
  type ContactRow,
  photoUrl,
  presentContact,
  vcardOf,
  vcardText,
} from '../responses/contact.presenter.js';
import type {
  DirectoryUserResponse,
  DirectoryUsersEnvelope,
  ListDirectory,
  SelfCardQrQuery,
  SelfCardQuery,
  UpdateSelf,
} from './people.dto.js';

/** The active members of the workspace, from their cards in its address book. */
@Injectable()
export class MemberDirectoryService {
  constructor(
    private readonly contacts: ContactsRepository,
    private readonly access: AddressbookAccess,
    private readonly presence: PresenceApi,
    private readonly cursors: Cursors,
  ) {}

  /** The order is that of the names. @throws ApiError 422 `invalid_cursor` */
  async list(ctx: RequestContext, query: ListDirectory): Promise<DirectoryUsersEnvelope> {
    const { q = '', department } = query;
    const books = { accessId: ctx.tenantId, bookId: ctx.tenantId };
    const keys = department === undefined ? [] : [departmentKey(department)];
    const filter = { prefixes: queryTerms(q), keys, kind: null, members: true };
    const { rows, next } = await this.cursors.page(query, {
      scope: `directory ${ctx.tenantId} ${JSON.stringify([q, department])}`,
      key: (row: Listed): [string, string] => [row.sort_key, row.id],
      fits: (row) => row.fits,
      rows: async (after, limit) => {
        const read = () => this.contacts.list(ctx, books, filter, 'name', after, limit);
        const found = await this.access.reading(ctx, ctx.tenantId, read);
        return found.filter(isListed);
      },
    });
    const presence = await this.presence.readPresence(
      ctx,
      rows.map((row) => row.linked_user_id as string),
    );
    return { users: rows.map((row) => userOf(row, presence.get(row.linked_user_id as string))), next };
  }
}

function userOf(row: ContactRow, presence: DirectoryUserResponse['presence'] = null): DirectoryUserResponse {
  const { full_name, emails, job_title, organization, phones } = cardOf(row);
  return {
    id: row.linked_user_id as string,
    name: full_name ?? '',
    email: emails[0]?.value ?? '',
    job_title,
    department: organization?.units[0] ?? null,
    phones,
    photo_url: photoUrl(row),
    presence,
  };
}

/** The field of the card that a field of the profile comes from. */
const CARD_FIELD: Record<string, string> = {
  display_name: 'full_name',
  given_name: 'name.given',
  family_name: 'name.family',
  title: 'job_title',
  phone: 'phones.0.value',
  timezone: 'time_zone',
  locale: 'language',
};

/** The card of the caller in the address book of the workspace. */
@Injectable()
export class SelfService implements OnModuleInit {
  constructor(
    private readonly contacts: ContactsRepository,
    private readonly access: AddressbookAccess,
    private readonly global: GlobalBook,
    private readonly profiles: ProfileService,
    private readonly hooks: TxHooks,
    private readonly db: Db,
  ) {}

  /** Rejects changes of the profile that would change a locked field of the card. */
  onModuleInit(): void {
    this.hooks.on(PROFILE_CHANGING, async (tx, { tenantId, fields }) => {
      const locked = await this.global.lockedFields(tx, tenantId);
      assertNone(fields.filter((field) => locked.includes((CARD_FIELD[field] ?? field).split('.')[0]!)));
    });
  }

  async read(ctx: RequestContext): Promise<ReplyOf<typeof CONTACTS, 'item'>> {
    return presentContact(await this.global.ownCard(ctx), 'self');
  }

  /**
   * Writes the card of the caller. Fields that the profile has are written to the profile, from which the card is updated.
   * @throws ApiError 409 `conflict`, 422 `field_locked`
   */
  async update(
    ctx: RequestContext,
    expected: ExpectedRevision,
    body: Checked<UpdateSelf>,
  ): Promise<ReplyOf<typeof CONTACTS, 'item'>> {
    const { locked_fields: locked } = await this.access.requireReadable(ctx, ctx.tenantId);
    return this.db.tx(async (tx) => {
      // The profile is locked before the address book, as by its own update.
      const profile = await this.profiles.lock(tx, ctx);
      const row = await this.global.ownCard(ctx, tx);
      await CONTACTS.checkWrite(row, expected, body, () => contactJson(row, 'self'));
      const { default_country, base_revision: _, ...fields } = body.value;
      const before = cardOf(row);
      const country = phoneCountry(
        default_country ?? (profile.locale && new Intl.Locale(profile.locale).region),
      );
      const wanted = patchCard(fields, before, country);
      assertUnlocked(locked, before, wanted);
      const after = await this.profiles.change(tx, ctx, profile, profileOf(fields, wanted));
      const current = await this.global.ownCard(ctx, tx);
      const card = checkCard(memberCard({ ...after, user_id: after.id }, wanted));
      const changed = differences(cardOf(current), card);
      if (changed.length === 0) return presentContact(current, 'self');
      const values = [contactUpdate(current, card, changed)];
      const [updated] = await this.contacts.update(tx, ctx, ctx.tenantId, values);
      return presentContact(existing(updated), 'self');
    });
  }
}

function existing(row: ContactRow | undefined): ContactRow {
  // The membership ended during the request.
  if (!row) throw Errors.workspaceForbidden.with();
  return row;
}

/** @throws ApiError 422 `field_locked` for fields that would change */
function assertUnlocked(locked: readonly string[], before: ContactCard, wanted: ContactCard): void {
  assertNone(differences(before, wanted).filter((field) => locked.includes(field)));
}

/** @param fields that are locked @throws ApiError 422 `field_locked` */
function assertNone(fields: readonly string[]): void {
  if (fields.length === 0) return;
  const details = fields.map((field) => ({
    field,
    code: 'field_locked',
    message: `${field} is set by the workspace`,
  }));
  throw ContactErrors.fieldLocked.with({ details });
}

/** The fields of the profile that a patch of the card writes. @throws ApiError 422 for values that a profile cannot have */
function profileOf(patch: CardPatch, card: ContactCard): Omit<UpdateProfile, 'email'> & Partial<ProfileRow> {
  const fields = {
    ...(patch.full_name !== undefined && { display_name: card.full_name ?? '' }),
    ...(patch.name !== undefined && {
      given_name: card.name?.given ?? '',
      family_name: card.name?.family ?? '',
    }),
    ...(patch.job_title !== undefined && { title: card.job_title ?? '' }),
    ...(patch.phones !== undefined && { phone: card.phones[0]?.value ?? '' }),
    ...(patch.time_zone !== undefined && { timezone: card.time_zone }),
    ...(patch.language !== undefined && { locale: card.language }),
  };
  try {
    return { ...validated(UpdateProfile, fields) };
  } catch (error) {
    if (!(error instanceof ApiError) || !error.extras.details) throw error;
    throw Errors.validationFailed.with({ details: error.extras.details.map(ofCard) });
  }
}

function ofCard({ field, code, message }: FieldProblem): FieldProblem {
  const named = CARD_FIELD[field] ?? field;
  return { field: named, code, message: message.replace(field, named) };
}

/** Maximum bytes of a QR code. Phone cameras do not read larger ones reliably. */
const QR_BYTES = 800;

/** The caller's own card: their card in the address book of the workspace. */
@Injectable()
export class SelfCardService {
  constructor(
    private readonly global: GlobalBook,
    private readonly photos: ContactPhotos,
  ) {}

  /** A vCard file. */
  async download(ctx: RequestContext, { version, photo: withPhoto }: SelfCardQuery): Promise<BodyReply> {
    const row = await this.global.ownCard(ctx);
    const photo = await this.photos.forCard(ctx.tenantId, withPhoto === 'true' ? row.photo_id : null);
    return fileReply(Buffer.from(vcardText(row, version, photo)), {
      contentType: 'text/vcard; charset=utf-8',
      title: vcardOf(row).full_name ?? '',
      extension: '.vcf',
      otherwise: 'card.vcf',
    });
  }

  /** A picture of a QR code with the card. Phones add it to their contacts. */
  async qrCode(ctx: RequestContext, { format }: SelfCardQrQuery): Promise<BodyReply> {
    const text = qrText(vcardOf(await this.global.ownCard(ctx)));
    const { default: qr } = await import('qrcode');
    const options = { errorCorrectionLevel: 'M', margin: 4, scale: 6 } as const;
    const headers = {
      'Cache-Control': 'private, no-cache',
      'Content-Disposition': `inline; filename="card.${format}"`,
    };
    if (format === 'png')
      return new BodyReply(await qr.toBuffer(text, options), { contentType: 'image/png', headers });
    const svg = await qr.toString(text, { ...options, type: 'svg' });
    return new BodyReply(Buffer.from(svg), { contentType: 'image/svg+xml', headers });
  }
}

/** The vCard 3.0 with as many fields as a QR code can hold. Each candidate has fewer fields than the one before. */
function qrText({ full_name, name, organization, job_title, emails, phones, urls, addresses }: Card): string {
  const reach = { full_name, name, emails, phones };
  const work = { ...reach, organization, job_title };
  const short = full_name && cutText(full_name, 100);
  const plain = <T extends CardEntry>([first]: readonly T[]): T[] =>
    first ? [{ ...first, label: null, types: [] }] : [];
  const last = { full_name: short, emails: plain(emails), phones: plain(phones) };
  const candidates = [{ ...work, urls, addresses }, { ...work, urls }, work, reach, last].map((fields) =>
    writeCard(newCard(fields), { version: '3.0' }),
  );
  return candidates.find((text) => Buffer.byteLength(text) <= QR_BYTES) ?? (candidates.at(-1) as string);
}
