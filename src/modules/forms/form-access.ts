import { Injectable } from '@nestjs/common';
import { PermissionSource } from '../../platform/context/permission.guard.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import type { Reader } from '../../platform/database/tx.js';
import { Errors } from '../../platform/http/errors.js';
import { hashOf } from '../../platform/secrets/secret-box.js';
import { FORM_ROLES, type FormRole } from './forms.schema.js';
import { type FormRow, FormsRepository, type FoundForm } from './forms.repository.js';
import { FORMS } from './forms.resource.js';

/** A form that the caller can open. */
export type ShownForm = FormRow & { role: FormRole };

/** The same, as it was read by its id. */
export type OpenForm = ShownForm & Pick<FoundForm, 'now'>;

export const includes = (role: FormRole | null, needed: FormRole): boolean =>
  role !== null && FORM_ROLES.indexOf(role) >= FORM_ROLES.indexOf(needed);

/** Access to forms: of the owner, members and groups with a role, holders of the share link, and holders of permissions. */
@Injectable()
export class FormAccess {
  constructor(
    private readonly forms: FormsRepository,
    private readonly permissions: PermissionSource,
  ) {}

  /**
   * Uses a connection of its own: call it before a transaction.
   * @param needed the lowest role that is enough
   * @param token of a share link
   * @throws ApiError 404 without any role, 403 `forbidden` with a lower role
   */
  async open(ctx: RequestContext, id: string, needed: FormRole, token?: string): Promise<OpenForm> {
    const hash = token === undefined ? null : hashOf(token);
    let form = await this.forms.find(ctx, id, null, hash);
    if (form && (!includes(form.role, needed) || isUnpublished(form))) {
      const base = await this.baseRole(ctx);
      if (base) form = await this.forms.find(ctx, id, base, hash);
    }
    if (!form || form.role === null || isUnpublished(form)) throw FORMS.notFound.with();
    if (!includes(form.role, needed)) throw Errors.forbidden.with();
    return form as OpenForm;
  }

  /** Reads a form again that the caller has opened. @throws ApiError 404 when it has been deleted since */
  async reread(reader: Reader, ctx: RequestContext, { id, role }: OpenForm): Promise<OpenForm> {
    const form = await this.forms.find(ctx, id, role, null, reader);
    if (!form) throw FORMS.notFound.with();
    return form as OpenForm;
  }

  /** The role that the permissions of the caller give on all forms of the workspace. */
  async baseRole(ctx: RequestContext): Promise<FormRole | null> {
    const held = await this.permissions.permissionsOf(ctx);
    if (held.has('forms.manage_any')) return 'owner';
    return held.has('forms.export_any') ? 'viewer' : null;
  }
}

/** Viewers and respondents see a form from its first publication on: they do not read drafts. */
const isUnpublished = ({ role, current_version }: FormRow): boolean =>
  !includes(role, 'editor') && current_version === null;
