import { randomBytes } from 'node:crypto';
import { Controller, Injectable } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Config } from '../../../config/config.js';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { changedFields, rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { hasName } from '../../../platform/resources/named-principals.js';
import type { EnvelopeOf, ReplyOf } from '../../../platform/resources/resource.js';
import { ShareLinkController, type ShareLinks } from '../../../platform/resources/share-link.controller.js';
import { hashOf } from '../../../platform/secrets/secret-box.js';
import { FormEvents, FormWritesRepository } from '../changes/form-writes.repository.js';
import { FormAccess } from '../form-access.js';
import { formResponse } from '../form.presenter.js';
import { FormsRepository } from '../forms.repository.js';
import { FormErrors, FORMS } from '../forms.resource.js';
import { type Form, FormAccessRow } from '../forms.schema.js';
import { type Principal, principalName, PrincipalsRepository } from '../principals.repository.js';
import {
  FormAccessListEnvelope,
  type FormAccessResponse,
  SetFormAccess,
  ShareForm,
  SharingErrors,
} from './sharing.dto.js';

const access = workspace.statement<Omit<FormAccessResponse, 'name'> & Principal & { name: string | null }>(
  'form_access.list',
  `SELECT access.principal_kind AS kind, access.principal_id AS id, ${principalName('access')} AS name, access.role
     FROM form_access access WHERE access.tenant_id = $1 AND access.form_id = $2
    ORDER BY access.principal_kind, name, access.principal_id LIMIT 500`,
);

type Link = Pick<Form, 'share_token_hash' | 'share_role' | 'share_expires_at'>;

/** The share link of a form and the roles of members and groups. */
@Injectable()
export class FormSharingService implements ShareLinks<ShareForm, EnvelopeOf<typeof FORMS, 'item'>> {
  constructor(
    private readonly forms: FormsRepository,
    private readonly rows: FormWritesRepository,
    private readonly principals: PrincipalsRepository,
    private readonly access: FormAccess,
    private readonly events: FormEvents,
    private readonly writes: IdempotentWrites,
    private readonly db: Db,
    private readonly config: Config,
  ) {}

  /** @throws ApiError 404, 403 */
  async share(
    ctx: RequestContext,
    id: string,
    key: IdempotencyKey | null,
    body: Checked<ShareForm>,
  ): Promise<ReplyOf<typeof FORMS, 'item'>> {
    const token = newToken();
    return this.change(ctx, id, key, (form) => {
      const { role, expires_at: expires = null } = body.value;
      const shareRole = role === 'view' ? ('viewer' as const) : ('respondent' as const);
      const link: Link = {
        share_token_hash: form.share_token_hash ?? hashOf(token),
        share_role: shareRole,
        share_expires_at: expires,
      };
      return { link, token: form.share_token_hash === null ? token : undefined };
    });
  }

  /** @throws ApiError 404, 403, 409 `not_shared` */
  async regenerate(
    ctx: RequestContext,
    id: string,
    key: IdempotencyKey | null,
  ): Promise<ReplyOf<typeof FORMS, 'item'>> {
    const token = newToken();
    return this.change(ctx, id, key, ({ share_token_hash, share_role, share_expires_at }) => {
      if (share_token_hash === null) throw SharingErrors.notShared.with();
      return {
        link: { share_token_hash: hashOf(token), share_role, share_expires_at },
        token,
      };
    });
  }

  /** @throws ApiError 404, 403 */
  async revoke(
    ctx: RequestContext,
    id: string,
    key: IdempotencyKey | null,
  ): Promise<ReplyOf<typeof FORMS, 'item'>> {
    const link: Link = { share_token_hash: null, share_role: null, share_expires_at: null };
    return this.change(ctx, id, key, () => ({ link, token: undefined }));
  }

  /** @throws ApiError 404, 403 */
  async list(ctx: RequestContext, id: string): Promise<JsonReply<FormAccessListEnvelope>> {
    await this.access.open(ctx, id, 'editor');
    return this.listShares(this.db, ctx, id);
  }

  /** Replaces the whole list at once. @throws ApiError 404, 403, 422 `unknown_user` */
  async set(
    ctx: RequestContext,
    id: string,
    body: Checked<SetFormAccess>,
  ): Promise<JsonReply<FormAccessListEnvelope>> {
    await this.access.open(ctx, id, 'owner');
    const entries = body.value.access;
    return this.db.tx(async (tx) => {
      if (!(await this.rows.lock(tx, ctx, id))) throw FORMS.notFound.with();
      const { tenantId } = ctx;
      const principals = await this.principals.read(
        tx,
        tenantId,
        'access',
        entries,
        SharingErrors.unknownUser,
        await tx.query(access, [tenantId, id]),
      );
      await rowsOf(tx, FormAccessRow).delete({ tenant_id: tenantId, form_id: id });
      for (const [n, { kind, id: principalId }] of principals.entries()) {
        const values = {
          tenant_id: tenantId,
          form_id: id,
          principal_kind: kind,
          principal_id: principalId,
          role: entries[n]!.role,
        };
        await rowsOf(tx, FormAccessRow).insert(values);
      }
      await this.events.record(tx, ctx, 'access_changed', id, { count: principals.length });
      return this.listShares(tx, ctx, id);
    });
  }

  private async listShares(
    reader: Reader,
    { tenantId }: RequestContext,
    id: string,
  ): Promise<JsonReply<FormAccessListEnvelope>> {
    return JsonReply.of({ access: (await reader.query(access, [tenantId, id])).filter(hasName) });
  }

  /** The token is not stored for repeated requests, which return the link without it. */
  private async change(
    ctx: RequestContext,
    id: string,
    key: IdempotencyKey | null,
    wanted: (form: Form) => { link: Link; token: string | undefined },
  ): Promise<ReplyOf<typeof FORMS, 'item'>> {
    const opened = await this.access.open(ctx, id, 'editor');
    return this.writes.runTx(ctx, key, async (tx: Tx) => {
      const before = await this.rows.lock(tx, ctx, id);
      if (!before) throw FORMS.notFound.with();
      const { link, token } = wanted(before);
      // The link of an archived form still opens it, so it can be revoked.
      if (before.state === 'archived' && link.share_token_hash) throw FormErrors.archived.with();
      if (changedFields<Link>(before, link)) {
        await this.rows.update(tx, ctx, id, link);
        const change = link.share_token_hash ? 'shared' : 'unshared';
        await this.events.record(tx, ctx, change, id, { role: link.share_role });
      }
      const form = await this.access.reread(tx, ctx, opened);
      const definition = await this.forms.draft(ctx.tenantId, id, tx);
      const { json: remembered } = FORMS.response(formResponse(form, definition));
      const made =
        token === undefined
          ? undefined
          : { token, absolute: (path: string) => this.config.absoluteUrl(path) };
      return FORMS.response(formResponse(form, definition, made), { remembered: String(remembered) });
    });
  }
}

/** 256 random bits. */
const newToken = (): string => randomBytes(32).toString('base64url');

const REVOKE_ERRORS = [FORMS.notFound, Errors.forbidden];
const LINK_ERRORS = [...REVOKE_ERRORS, FormErrors.archived];

@ApiTags('forms')
@Controller('forms/:id')
export class FormSharingController extends ShareLinkController(FormSharingService, {
  name: 'form',
  terms: ShareForm,
  envelope: FORMS.envelopes.item,
  example: { role: 'respond' },
  descriptions: {
    share:
      'The link opens the form to signed-in members of the workspace. Only this response contains it. An existing link gets the new role and expiry; its token stays and is not shown again.',
    revoke: 'The link stops working at once. Without a link nothing changes.',
  },
  errors: {
    share: LINK_ERRORS,
    regenerate: [...LINK_ERRORS, SharingErrors.notShared],
    revoke: REVOKE_ERRORS,
  },
}) {
  constructor(private readonly sharing: FormSharingService) {
    super(sharing);
  }

  @Endpoint('GET access', {
    id: 'listFormAccess',
    summary: 'List the members and groups with a role',
    description: 'For owners and editors.',
    errors: [FORMS.notFound, Errors.forbidden],
    response: [FormAccessListEnvelope, 'All of them, at most 500.'],
  })
  list(@Ctx() ctx: RequestContext, @Id() id: string) {
    return this.sharing.list(ctx, id);
  }

  @Endpoint('PUT access', {
    id: 'setFormAccess',
    summary: 'Set the members and groups with a role',
    description:
      'Replaces the whole list. Respondents submit, viewers read responses, editors change the form. Only for the owner.',
    errors: [FORMS.notFound, Errors.forbidden, SharingErrors.unknownUser],
    response: [FormAccessListEnvelope, 'The new list.'],
    example: { access: [{ user_id: '01890a5d-ac96-774b-bcce-b302099a8057', role: 'respondent' }] },
  })
  set(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @CheckedBody(SetFormAccess) body: Checked<SetFormAccess>,
  ) {
    return this.sharing.set(ctx, id, body);
  }
}
