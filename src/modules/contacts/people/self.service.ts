import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { ExpectedRevision } from '../../../platform/concurrency/expected-revision.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { TxHooks } from '../../../platform/events/tx-hooks.js';
import { ApiError, type FieldProblem } from '../../../platform/http/api-error.js';
import { Errors } from '../../../platform/http/errors.js';
import { type Checked, validated } from '../../../platform/http/input.pipe.js';
import type { ReplyOf } from '../../../platform/resources/resource.js';
import { PROFILE_CHANGING, type ProfileRow, ProfileService, UpdateProfile } from '../../settings/index.js';
import { AddressbookAccess } from '../addressbook-access.js';
import { type CardPatch, type ContactCard, differences, written } from '../../../lib/contact-card/index.js';
import { checked, contactUpdate } from '../model/contact-values.js';
import { phoneCountry } from '../input/contact.dto.js';
import { cardOf, contactJson, type ContactRow, shown } from '../responses/contact.presenter.js';
import { ContactErrors } from '../contacts.errors.js';
import { ContactsRepository } from '../contacts.repository.js';
import { CONTACTS } from '../contacts.resource.js';
import { GlobalBook, memberCard } from '../global-book.js';
import type { UpdateSelf } from './people.dto.js';

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
    return shown(await this.global.ownCard(ctx), 'self');
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
    const { locked_fields: locked } = await this.access.readable(ctx, ctx.tenantId);
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
      const wanted = written(fields, before, country);
      assertUnlocked(locked, before, wanted);
      const after = await this.profiles.change(tx, ctx, profile, profileOf(fields, wanted));
      const current = await this.global.ownCard(ctx, tx);
      const card = checked(memberCard({ ...after, user_id: after.id }, wanted));
      const changed = differences(cardOf(current), card);
      if (changed.length === 0) return shown(current, 'self');
      const values = [contactUpdate(current, card, changed)];
      const [updated] = await this.contacts.update(tx, ctx, ctx.tenantId, values);
      return shown(existing(updated), 'self');
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
