import { Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import type { Json } from '../../../lib/scim/index.js';
import { Audit } from '../../../platform/audit/audit.js';
import { ConcurrentChangeError } from '../../../platform/database/database-errors.js';
import { Db } from '../../../platform/database/db.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { isEmailAddress } from '../../../platform/http/input.decorators.js';
import { Checked } from '../../../platform/http/input.pipe.js';
import { Provisioning } from '../../access/index.js';
import { EmailChange } from '../../account-security/index.js';
import type { Language } from '../../../platform/languages/languages.js';
import {
  CredentialsApi,
  type CredentialsRow,
  emailKey,
  IdentityApi,
  sameMailbox,
} from '../../identity/index.js';
import { NotificationSettingsApi, ProfileService, UpdateProfile } from '../../settings/index.js';
import { domainOf, TenantDomains, TenantErrors, TenantsApi } from '../../tenants/index.js';
import { scimError } from '../model/scim-reply.js';
import type { ScimActor } from '../scim-authenticator.js';
import { VisibleUsers } from '../visible-users.js';
import { languageOfUser, localeFields, type UserValues } from './scim-user.mapper.js';
import { type ScimUserRow, ScimUsersRepository } from './scim-users.repository.js';
import { WelcomeMails } from './welcome-mails.js';

export const CHANGED = 'The user has changed meanwhile; read it and try again.';

const NAME_TAKEN = 'The workspace has a member with this userName.';

const OF_OTHERS = 'The account belongs to other workspaces too; its user changes the address.';

const OF_OWNER = 'An owner of the workspace changes the address in the settings of the account.';

/** The account of an address, and the name and language of the workspace, as they were before the transaction. */
interface Admission {
  account: CredentialsRow | null;
  workspace: string;
  language: Language;
}

/** Writes members for a provisioning client. The caller has locked the workspace. */
@Injectable()
export class ScimUserWrites {
  constructor(
    private readonly users: ScimUsersRepository,
    private readonly visible: VisibleUsers,
    private readonly provisioning: Provisioning,
    private readonly domains: TenantDomains,
    private readonly tenants: TenantsApi,
    private readonly identity: IdentityApi,
    private readonly credentials: CredentialsApi,
    private readonly emails: EmailChange,
    private readonly profiles: ProfileService,
    private readonly settings: NotificationSettingsApi,
    private readonly mails: WelcomeMails,
    private readonly outbox: Outbox,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  /** Reads the input of a creation, before its transaction. @throws ApiError 400, 403 outside the verified domains */
  async admission(actor: ScimActor, email: string): Promise<Admission> {
    await this.assertOwnDomain(actor.tenantId, email);
    return this.read(actor, email);
  }

  /** The same for an update; null when it does not activate the member. */
  async activation(actor: ScimActor, row: ScimUserRow, { active }: UserValues): Promise<Admission | null> {
    return active === true && row.status === 'deactivated' ? this.read(actor, row.email) : null;
  }

  /** Checks a new address, before the transaction: both addresses must be in verified domains. @throws ApiError 400, 403 */
  async assertRenamable(tenantId: string, row: ScimUserRow, email: string): Promise<void> {
    await this.assertOwnDomain(tenantId, row.email);
    await this.assertOwnDomain(tenantId, email);
  }

  /**
   * Makes the owner of an address a member. An address without an account gets one without password, and a mail. A member whom
   * the client has deleted before is activated again, under the same id.
   * @returns the id @throws ApiError 400, 403, 409
   */
  async create(tx: Tx, actor: ScimActor, values: UserValues, admission: Admission): Promise<string> {
    const { tenantId } = actor;
    const [existing] = (await this.tenants.findMembers(tenantId, [values.email], tx)).values();
    if (existing !== undefined && (await this.visible.findAmong(tx, tenantId, [existing])).has(existing))
      throw scimError(409, NAME_TAKEN, 'uniqueness');
    const userId = existing ?? (await this.join(tx, actor, values, admission));
    const status = existing === undefined ? 'active' : 'deactivated';
    const isNew =
      existing === undefined ? !admission.account : await this.isUnused(tx, tenantId, userId, admission);
    const entry = { action: 'user.provisioned', objectKind: 'user', objectId: userId };
    await this.audit.record(tx, actor, { ...entry, data: { email: values.email } });
    await this.write(tx, actor, userId, values, {});
    const wanted = values.active === false ? 'deactivated' : 'active';
    await this.provisioning.setStatus(tx, actor, { user_id: userId, status }, wanted);
    if (isNew && wanted === 'active') await this.welcome(tx, tenantId, userId, values, admission);
    return userId;
  }

  /**
   * Updates a member. `assertRenamable` has checked a new address.
   * @param activation from `activation`
   * @returns whether the address changes; the caller then updates its copies in the memberships @throws ApiError 400, 409
   */
  async update(
    tx: Tx,
    actor: ScimActor,
    row: ScimUserRow,
    values: UserValues,
    activation: Admission | null,
  ): Promise<boolean> {
    const { user_id, status } = row;
    const isFirst =
      activation !== null && values.active && (await this.isUnused(tx, actor.tenantId, user_id, activation));
    const isRenamed = values.email !== row.email;
    if (isRenamed) await this.rename(tx, actor, row, values.email);
    if (
      !isDeepStrictEqual(row.attributes ?? {}, values.attributes) ||
      row.external_id !== values.externalId
    ) {
      const attributes = changedNames(row.attributes ?? {}, values.attributes);
      const data = { attributes, external_id: values.externalId };
      const entry = { action: 'scim.user.updated', objectKind: 'user', objectId: user_id, data };
      await this.audit.record(tx, actor, entry);
    }
    await this.write(tx, actor, user_id, values, row.attributes ?? {});
    if (values.active !== undefined)
      await this.provisioning.setStatus(
        tx,
        actor,
        { user_id, status },
        values.active ? 'active' : 'deactivated',
      );
    if (isFirst) await this.welcome(tx, actor.tenantId, user_id, values, activation);
    return isRenamed;
  }

  /**
   * Not for owners, nor for accounts with a membership elsewhere, which may be activated again: with the new address, the client
   * could request a link that resets the password, and act as an owner or in the other workspace.
   * @throws ApiError 400 for these; 409 when another account has the address, or another request has changed it meanwhile
   */
  private async rename(tx: Tx, actor: ScimActor, row: ScimUserRow, email: string): Promise<void> {
    await this.identity.lockAccount(tx, row.user_id);
    const memberships = await this.tenants.membershipsOf(row.user_id, tx);
    if (memberships.some((each) => each.tenant_id !== actor.tenantId && each.erased_at === null))
      throw scimError(400, OF_OTHERS, 'mutability');
    if (row.role === 'owner' && !sameMailbox(row.email, email)) throw scimError(400, OF_OWNER, 'mutability');
    // A membership gets its copy of the address after the commit of a change.
    const current = await this.credentials.byId(row.user_id, tx);
    if (!current || current.email === email) return;
    if (emailKey(current.email) !== emailKey(row.email)) throw scimError(409, CHANGED);
    const account = { id: row.user_id, old: current.email };
    const language = await this.memberLanguage(tx, actor.tenantId, row.user_id);
    if (!(await this.emails.apply(tx, account, email, language, actor)))
      throw scimError(409, 'Another account has this userName.', 'uniqueness');
  }

  /** @throws ApiError 409 for the last owner */
  async delete(tx: Tx, actor: ScimActor, { user_id, status, groups }: ScimUserRow): Promise<void> {
    const { tenantId } = actor;
    await this.provisioning.setStatus(tx, actor, { user_id, status }, 'deactivated');
    const groupIds = groups.map(({ value }) => value);
    await this.provisioning.leaveGroups(tx, actor, user_id, groupIds);
    const values = { external_id: null, attributes: {}, deleted_at: new Date() };
    await this.users.write(tx, tenantId, user_id, values);
    await this.audit.record(tx, actor, {
      action: 'scim.user.deleted',
      objectKind: 'user',
      objectId: user_id,
    });
  }

  /** @param attributesBefore the attributes that the client wrote before */
  private async write(
    tx: Tx,
    actor: ScimActor,
    userId: string,
    values: UserValues,
    attributesBefore: Json,
  ): Promise<void> {
    const { tenantId } = actor;
    const { externalId, attributes } = values;
    const holder = externalId === null ? null : await this.users.holderOf(tx, tenantId, externalId);
    if (holder !== null && holder !== userId)
      throw scimError(409, 'The workspace has a user with this externalId.', 'uniqueness');
    const member = { tenantId, userId };
    const profile = { ...values.profile, ...localeFields(attributes, attributesBefore) };
    const fields = Checked.of(UpdateProfile, profile).value;
    const before = await this.profiles.lock(tx, member);
    // The lock keeps the start of an erasure waiting until this transaction ends.
    if ((await this.tenants.memberStatus(tx, tenantId, userId)) === null)
      throw TenantErrors.memberErased.with();
    await this.profiles.change(tx, member, before, fields, actor);
    await this.users.write(tx, tenantId, userId, { external_id: externalId, attributes, deleted_at: null });
  }

  /** Creates the membership, and the account where there is none. */
  private async join(
    tx: Tx,
    actor: ScimActor,
    { email, profile }: UserValues,
    { account }: Admission,
  ): Promise<string> {
    const { tenantId } = actor;
    // Different addresses can have the same key. The account must have exactly this address.
    if (account && !sameMailbox(account.email, email)) throw scimError(409, NAME_TAKEN, 'uniqueness');
    const { display_name } = Checked.of(UpdateProfile, profile).value;
    const name = display_name ?? email;
    const userId = account?.id ?? (await this.identity.open(tx, { email, name }));
    // 503: `account` was read before the transaction. Only a repeated request finds it.
    if (userId === null) throw new ConcurrentChangeError('the account was opened meanwhile');
    const member = { userId, email: account?.email ?? email, displayName: name, role: null };
    await this.tenants.provisionMembers(tx, tenantId, [member]);
    await this.identity.recordAccessChange(tx, userId, tenantId);
    const payload = { user_id: userId, invited_by: null };
    await this.outbox.append(tx, { tenantId, type: 'member.joined', payload });
    return userId;
  }

  private async read({ tenantId, tokenOwner }: ScimActor, email: string): Promise<Admission> {
    const account = await this.credentials.byEmail(email);
    const workspace = (await this.tenants.nameOf(tenantId)) ?? '';
    // A workspace has no language, so the language of the owner who connected the client is used.
    const language = await this.memberLanguage(this.db, tenantId, tokenOwner);
    return { account, workspace, language };
  }

  /** Whether a member was created as a deactivated one and never activated, and the account has no password. */
  private async isUnused(tx: Tx, tenantId: string, userId: string, { account }: Admission): Promise<boolean> {
    if (account?.password_hash) return false;
    const memberships = await this.tenants.membershipsOf(userId, tx);
    const own = memberships.find(({ tenant_id: id }) => id === tenantId);
    // Both are the time of the transaction that created the member.
    return own?.deactivated_at?.getTime() === own?.created_at.getTime();
  }

  private async welcome(
    tx: Tx,
    tenantId: string,
    userId: string,
    { email, attributes }: UserValues,
    { workspace, language: fallback }: Admission,
  ): Promise<void> {
    const language = languageOfUser(attributes) ?? fallback;
    await this.mails.send(tx, { tenantId, userId, email, workspace, language });
  }

  /** The language that a member chose; `en` without one. */
  private async memberLanguage(reader: Reader, tenantId: string, userId: string | null): Promise<Language> {
    const [settings] = userId === null ? [] : await this.settings.readSettings(reader, tenantId, [userId]);
    return settings?.language ?? 'en';
  }

  private async assertOwnDomain(tenantId: string, email: string): Promise<void> {
    if (!isEmailAddress(email)) throw scimError(400, 'userName must be an e-mail address.', 'invalidValue');
    const domain = domainOf(email);
    if (!(await this.domains.isVerified(tenantId, domain)))
      throw scimError(403, `The workspace has not verified the domain ${domain}.`);
  }
}

const changedNames = (before: Record<string, unknown>, after: Record<string, unknown>): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => !isDeepStrictEqual(before[name], after[name]),
  );
