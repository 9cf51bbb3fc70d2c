import { Controller, Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { plainText } from '../../../lib/html/index.js';
import { Audit } from '../../../platform/audit/audit.js';
import { textBytes } from '../../../platform/bounded-pages/page-bytes.js';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { changedFields, type ColumnValues, NOW, rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { HtmlPolicy } from '../../../platform/html/html-policy.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Id } from '../../../platform/http/id.pipe.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { cleanHtmlField } from '../../../platform/resources/html-field.js';
import { ResourceController } from '../../../platform/resources/resource.controller.js';
import type { ReplyOf } from '../../../platform/resources/resource.js';
import { Signature } from '../settings.schema.js';
import {
  CreateSignature,
  type SignatureResponse,
  SIGNATURES,
  tooManySignatures,
  UpdateSignature,
} from './signatures.dto.js';

// Released at the end of the transaction.
const lock = workspace.lock('settings.lock_signatures', 'signatures', 2);

/** The signatures of the caller. */
@Injectable()
export class SignaturesRepository {
  constructor(private readonly db: Db) {}

  /** In the order of creation; signatures beyond the bytes of the page have only their ids. */
  async list(
    { tenantId, userId }: RequestContext,
    after: readonly [string] | undefined,
    limit: number,
  ): Promise<(Signature & { fits: boolean })[]> {
    const size = `512 + ${textBytes('item.html', 'item.text')}`;
    return rowsOf(this.db, Signature).boundedPage(
      { tenant_id: tenantId, user_id: userId },
      ['id'],
      after,
      limit,
      { size },
    );
  }

  async find(
    { tenantId, userId }: RequestContext,
    id: string,
    reader: Reader = this.db,
  ): Promise<Signature | null> {
    return rowsOf(reader, Signature).one({ tenant_id: tenantId, user_id: userId, id });
  }

  /** Serialises the changes of a user's signatures, so that the unique index of the default causes no conflicts. */
  async lock(tx: Tx, { tenantId, userId }: RequestContext): Promise<void> {
    await tx.query(lock, [tenantId, userId]);
  }

  async count(tx: Tx, { tenantId, userId }: RequestContext): Promise<number> {
    return rowsOf(tx, Signature).count({ tenant_id: tenantId, user_id: userId });
  }

  async insert(tx: Tx, ctx: RequestContext, values: ColumnValues<Signature>): Promise<Signature> {
    const { tenantId, userId } = ctx;
    if (values.is_default) await this.clearDefault(tx, ctx);
    const times = { created_at: NOW, updated_at: NOW };
    return (await rowsOf(tx, Signature).insert({
      ...values,
      ...times,
      tenant_id: tenantId,
      user_id: userId,
    })) as Signature;
  }

  async update(tx: Tx, ctx: RequestContext, id: string, values: ColumnValues<Signature>): Promise<Signature> {
    const { tenantId, userId } = ctx;
    if (values.is_default) await this.clearDefault(tx, ctx);
    const changes = { ...values, updated_at: NOW };
    return (
      await rowsOf(tx, Signature).update({ tenant_id: tenantId, user_id: userId, id }, changes)
    )[0] as Signature;
  }

  async delete(tx: Tx, { tenantId, userId }: RequestContext, id: string): Promise<Signature | null> {
    return (await rowsOf(tx, Signature).delete({ tenant_id: tenantId, user_id: userId, id }))[0] ?? null;
  }

  private async clearDefault(tx: Tx, { tenantId, userId }: RequestContext): Promise<void> {
    const values = { is_default: false, updated_at: NOW };
    await rowsOf(tx, Signature).update({ tenant_id: tenantId, user_id: userId, is_default: true }, values);
  }
}

/** The mail signatures of a user, at most one of them the default. */
@Injectable()
export class SignaturesService {
  constructor(
    private readonly signatures: SignaturesRepository,
    private readonly html: HtmlPolicy,
    private readonly writes: IdempotentWrites,
    private readonly cursors: Cursors,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  async list(ctx: RequestContext, query: PageQuery): Promise<ReplyOf<typeof SIGNATURES, 'list'>> {
    const { rows, next } = await this.cursors.page(query, {
      scope: `signatures ${ctx.tenantId} ${ctx.userId}`,
      key: (signature: Signature & { fits: boolean }): [string] => [signature.id],
      fits: (signature) => signature.fits,
      rows: (after, limit) => this.signatures.list(ctx, after, limit),
    });
    return SIGNATURES.page(rows.map(present), next);
  }

  /** @throws ApiError 404 */
  async read(ctx: RequestContext, id: string): Promise<ReplyOf<typeof SIGNATURES, 'item'>> {
    return SIGNATURES.response(present(found(await this.signatures.find(ctx, id))));
  }

  /** @throws ApiError 422 `too_many_signatures`, or for HTML that is too complex */
  async create(
    ctx: RequestContext,
    key: IdempotencyKey | null,
    input: CreateSignature,
  ): Promise<ReplyOf<typeof SIGNATURES, 'item'>> {
    const html = await cleanHtmlField(this.html, 'html', input.html);
    const { name, text = null, is_default = false } = input;
    return this.writes.runTx(ctx, key, async (tx) => {
      await this.signatures.lock(tx, ctx);
      if ((await this.signatures.count(tx, ctx)) >= QUOTAS.user.signatures) throw tooManySignatures.with();
      const values = {
        name,
        html,
        text: text ?? plainText(html),
        own_text: text !== null,
        is_default,
      };
      const made = await this.signatures.insert(tx, ctx, { id: uuidv7(), ...values });
      await this.log(tx, ctx, 'signature.created', made);
      return SIGNATURES.created(made.id, present(made));
    });
  }

  /** Missing fields stay. @throws ApiError 404 */
  async update(
    ctx: RequestContext,
    id: string,
    body: Checked<UpdateSignature>,
  ): Promise<ReplyOf<typeof SIGNATURES, 'item'>> {
    const checked = await body.map(async ({ html, ...fields }) => ({
      ...fields,
      html: html === undefined ? undefined : await cleanHtmlField(this.html, 'html', html),
    }));
    return this.change(ctx, id, 'signature.updated', (before) => {
      const { html = before.html, name, is_default, text } = checked.value;
      // A derived text that is sent back as it was read stays derived.
      const isUnchanged = text === undefined || text === before.text;
      const ownText = isUnchanged ? before.own_text : text !== null;
      return {
        name,
        html,
        is_default,
        own_text: ownText,
        text: ownText ? (text ?? before.text) : plainText(html),
      };
    });
  }

  /** @throws ApiError 404 */
  async makeDefault(ctx: RequestContext, id: string): Promise<ReplyOf<typeof SIGNATURES, 'item'>> {
    return this.change(ctx, id, 'signature.made_default', () => ({ is_default: true }));
  }

  /** After the deletion of the default there is no default. @throws ApiError 404 */
  async delete(ctx: RequestContext, id: string): Promise<ReplyOf<typeof SIGNATURES, 'deleted'>> {
    return this.db.tx(async (tx) => {
      await this.signatures.lock(tx, ctx);
      const deleted = found(await this.signatures.delete(tx, ctx, id));
      await this.log(tx, ctx, 'signature.deleted', deleted);
      return SIGNATURES.deleted(present(deleted));
    });
  }

  private async change(
    ctx: RequestContext,
    id: string,
    action: string,
    wanted: (before: Signature) => Partial<Signature>,
  ): Promise<ReplyOf<typeof SIGNATURES, 'item'>> {
    return this.db.tx(async (tx) => {
      await this.signatures.lock(tx, ctx);
      const before = found(await this.signatures.find(ctx, id, tx));
      const changes = changedFields(before, wanted(before));
      if (!changes) return SIGNATURES.response(present(before));
      const after = await this.signatures.update(tx, ctx, id, changes);
      await this.log(tx, ctx, action, after);
      return SIGNATURES.response(present(after));
    });
  }

  private async log(tx: Tx, ctx: RequestContext, action: string, { id, name, is_default }: Signature) {
    const data = { name, is_default };
    await this.audit.record(tx, ctx, { action, objectKind: 'signature', objectId: id, data });
  }
}

function found(signature: Signature | null): Signature {
  if (!signature) throw SIGNATURES.notFound.with();
  return signature;
}

const present = (signature: Signature): SignatureResponse => ({
  id: signature.id,
  name: signature.name,
  html: signature.html,
  text: signature.text,
  is_default: signature.is_default,
  created_at: signature.created_at.toISOString(),
  updated_at: signature.updated_at.toISOString(),
});

@Controller(SIGNATURES.options.path)
export class SignaturesController extends ResourceController(SIGNATURES, SignaturesService, {
  list: { query: PageQuery, summary: 'List your signatures', description: 'Oldest first.' },
  create: {
    body: CreateSignature,
    description:
      'For mail that you write. The HTML is cleaned; the text for mail without HTML is derived from it.',
    errors: [tooManySignatures],
  },
  read: { description: 'One of your signatures, as HTML and as text.' },
  update: { body: UpdateSignature, description: 'Missing fields stay as they are.', methods: ['PUT'] },
  delete: { description: 'After the deletion of the default there is no default.' },
}) {
  @Endpoint('PUT :id/default', {
    tag: 'settings',
    id: 'setDefaultSignature',
    summary: 'Make a signature the default',
    description: 'Replaces the previous default.',
    response: [SIGNATURES.envelopes.item, 'The signature, now the default.'],
    errors: [SIGNATURES.notFound],
  })
  makeDefault(@Ctx() ctx: RequestContext, @Id() id: string) {
    return this.service.makeDefault(ctx, id);
  }
}
