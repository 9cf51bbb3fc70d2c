import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { Errors } from '../../platform/http/errors.js';
import { TxHooks } from '../../platform/events/tx-hooks.js';
import { PROFILE_CHANGED } from '../settings/index.js';
import { MEMBERS_PROVISIONED, MEMBERSHIP_CHANGING } from '../tenants/index.js';
import { contactInsert, contactUpdate } from './model/contact-values.js';
import { cardOf, type ContactRow } from './responses/contact.presenter.js';
import { type ContactCard, differences, emptyCard, patchCard } from '../../lib/contact-card/index.js';
import { CONTACT_COLUMNS } from './contact-access.js';
import { ContactsRepository } from './contacts.repository.js';
import type { Addressbook } from './contacts.entity.js';

const NAME = 'Workspace';

/** Cards that one statement makes. */
const BATCH = 1_000;

// Released at the end of the transaction. Taken before the rows of the book.
const lock = workspace.lock('contacts.lock_global_book', 'global addressbook');

const create = workspace.statement<Pick<Addressbook, 'id'>>(
  'contacts.create_global_book',
  `INSERT INTO addressbooks (tenant_id, id, kind, name) VALUES ($1, $1, 'global', $2) ON CONFLICT DO NOTHING RETURNING id`,
);

const exists = workspace.statement<Pick<Addressbook, 'id'>>(
  'contacts.global_book',
  `SELECT id FROM addressbooks WHERE tenant_id = $1 AND id = $1`,
);

const lockedFields = workspace.statement<Pick<Addressbook, 'locked_fields'>>(
  'contacts.locked_fields',
  `SELECT locked_fields FROM addressbooks WHERE tenant_id = $1 AND id = $1`,
);

const MEMBER = `SELECT member.user_id, member.email, member.display_name, profile.given_name, profile.family_name, profile.title,
         profile.phone, profile.timezone, profile.locale
    FROM member_profiles member
    LEFT JOIN user_profiles profile ON profile.tenant_id = member.tenant_id AND profile.user_id = member.user_id
   WHERE member.tenant_id = $1 AND NOT member.is_service`;
const activeMembers = workspace.statement<MemberRow>(
  'contacts.active_members',
  `${MEMBER} AND member.status = 'active' ORDER BY member.user_id`,
);
// $3: also members who are being activated. Former members have no card.
const members = workspace.statement<MemberRow>(
  'contacts.members',
  `${MEMBER} AND member.user_id = ANY ($2) AND (member.status = 'active' OR $3)`,
);

const linked = workspace.statement<ContactRow>(
  'contacts.linked',
  `SELECT ${CONTACT_COLUMNS} FROM contacts contact
    WHERE contact.tenant_id = $1 AND contact.linked_user_id = ANY ($2) AND contact.gone_at IS NULL`,
);

const workspacesOf = workspace.statement<{ tenant_id: string }>(
  'contacts.workspaces_of',
  `SELECT tenant_id FROM member_profiles WHERE user_id = $1 ORDER BY tenant_id`,
  { reach: 'account' },
);

/** A member with their profile; the profile's columns are null for a member who has never written it. */
export interface MemberRow {
  user_id: string;
  email: string;
  display_name: string;
  given_name: string | null;
  family_name: string | null;
  title: string | null;
  phone: string | null;
  timezone: string | null;
  locale: string | null;
}

/**
 * The address book of a workspace. It has the id of the workspace, is created when it is first read, and contains a card for
 * each active member, which follows the membership and the profile, and the cards that holders of `contacts.global.manage` add.
 */
@Injectable()
export class GlobalBook implements OnModuleInit {
  constructor(
    private readonly contacts: ContactsRepository,
    private readonly hooks: TxHooks,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.hooks.on(MEMBERS_PROVISIONED, (tx, { tenantId, userIds }) => this.follow(tx, tenantId, userIds));
    this.hooks.on(PROFILE_CHANGED, (tx, { tenantId, userId }) => this.follow(tx, tenantId, [userId]));
    this.hooks.on(MEMBERSHIP_CHANGING, async (tx, { userId, tenantId, status }) => {
      const workspaces =
        tenantId === null ? await tx.query(workspacesOf, [userId]) : [{ tenant_id: tenantId }];
      for (const { tenant_id: id } of workspaces)
        await (status === 'active'
          ? this.follow(tx, id, [userId], { areActivated: true })
          : this.removeCards(tx, id, [userId]));
    });
  }

  /** Creates the book if `bookId` names it. @returns false: it names another book */
  async create({ tenantId }: RequestContext, bookId: string = tenantId): Promise<boolean> {
    if (bookId !== tenantId) return false;
    if ((await this.db.query(exists, [tenantId])).length > 0) return true;
    await this.db.tx(async (tx) => {
      // A change of a membership takes the same lock: it either finds the book, or commits before the members are read here.
      await tx.query(lock, [tenantId]);
      if ((await tx.query(create, [tenantId, NAME])).length === 0) return;
      const rows = await tx.query(activeMembers, [tenantId]);
      for (let n = 0; n < rows.length; n += BATCH)
        await this.insertCards(tx, tenantId, rows.slice(n, n + BATCH));
    });
    return true;
  }

  /** The caller's own card. @throws ApiError 403 after the end of the membership */
  async ownCard(ctx: RequestContext, reader: Reader = this.db): Promise<ContactRow> {
    if (reader === this.db) await this.create(ctx);
    const row = await this.cardOf(reader, ctx.tenantId, ctx.userId);
    if (!row) throw Errors.workspaceForbidden.with();
    return row;
  }

  /** The card of a member in the book, or undefined. */
  async cardOf(reader: Reader, tenantId: string, userId: string): Promise<ContactRow | undefined> {
    return (await reader.query(linked, [tenantId, [userId]]))[0];
  }

  /** Fields that members may not change on their own card. */
  async lockedFields(reader: Reader, tenantId: string): Promise<string[]> {
    return (await reader.query(lockedFields, [tenantId]))[0]?.locked_fields ?? [];
  }

  /**
   * Updates the cards of active members. Does nothing if the book does not exist yet: its creation makes the cards.
   * @param options.areActivated the caller activates the members
   */
  private async follow(
    tx: Tx,
    tenantId: string,
    userIds: readonly string[],
    { areActivated = false } = {},
  ): Promise<void> {
    if (!(await this.locked(tx, tenantId))) return;
    const rows = await tx.query(members, [tenantId, userIds, areActivated]);
    const cards = new Map(
      (await tx.query(linked, [tenantId, userIds])).map((card) => [card.linked_user_id, card]),
    );
    const updates = rows.flatMap((member) => {
      const row = cards.get(member.user_id);
      if (!row) return [];
      const before = cardOf(row);
      const card = memberCard(member, before, before.emails[0]?.value);
      const changed = differences(before, card);
      return changed.length === 0 ? [] : [contactUpdate(row, card, changed)];
    });
    await this.contacts.update(tx, { tenantId }, tenantId, updates);
    await this.insertCards(
      tx,
      tenantId,
      rows.filter(({ user_id }) => !cards.has(user_id)),
    );
  }

  private async removeCards(tx: Tx, tenantId: string, userIds: readonly string[]): Promise<void> {
    if (!(await this.locked(tx, tenantId))) return;
    const cards = await tx.query(linked, [tenantId, userIds]);
    await this.contacts.remove(
      tx,
      { tenantId },
      tenantId,
      cards.map(({ id }) => id),
    );
  }

  private async locked(tx: Tx, tenantId: string): Promise<boolean> {
    await tx.query(lock, [tenantId]);
    return (await tx.query(exists, [tenantId])).length > 0;
  }

  private async insertCards(tx: Tx, tenantId: string, rows: readonly MemberRow[]): Promise<void> {
    const insert = (members: readonly MemberRow[], idOf: (member: MemberRow) => string | undefined) => {
      const inserts = members.map((member) =>
        contactInsert(memberCard(member, emptyCard()), {
          externalId: idOf(member),
          uid: idOf(member),
          source: 'directory',
          linkedUserId: member.user_id,
        }),
      );
      return this.contacts.insert(tx, { tenantId }, tenantId, inserts);
    };
    const made = await insert(rows, ({ user_id }) => user_id);
    const present = new Set(made.map(({ linked_user_id }) => linked_user_id));
    // Another contact may have the id of the member, as after an import of this address book: the card gets an id of its own.
    await insert(
      rows.filter(({ user_id }) => !present.has(user_id)),
      () => undefined,
    );
  }
}

/**
 * The card of a member: the fields of the membership and the profile replace those of the card. The address of the membership is
 * the first one, and the telephone number of the profile is the first number.
 * @param before the card as it is, or an empty one
 * @param formerEmail the address of the membership in that card
 */
export function memberCard(member: MemberRow, before: ContactCard, formerEmail?: string): ContactCard {
  const { email, phone } = member;
  const [first, ...numbers] = before.phones;
  const country = member.locale ? (new Intl.Locale(member.locale).region ?? null) : null;
  const own = { ...(first ?? { types: ['work'] }), value: phone ?? '', e164: null };
  return patchCard(
    {
      full_name: member.display_name,
      name: { ...before.name, given: member.given_name, family: member.family_name },
      job_title: member.title,
      emails: [
        { value: email, types: ['work'], primary: true },
        ...before.emails.filter(({ value }) => value !== email && value !== formerEmail),
      ],
      phones: first?.value === phone ? before.phones : [...(phone ? [own] : []), ...numbers],
      time_zone: member.timezone,
      language: member.locale,
    },
    before,
    country,
  );
}
