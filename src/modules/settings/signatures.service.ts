import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Audit } from '../../platform/audit/audit.js';
import { type IdempotencyKey, IdempotentWrites } from '../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import type { Tx } from '../../platform/database/tx.js';
import { HtmlPolicy, HtmlTooComplexError } from '../../platform/html/html-policy.js';
import { ApiError } from '../../platform/http/api-error.js';
import { Errors } from '../../platform/http/errors.js';
import type { Checked } from '../../platform/http/input.pipe.js';
import { JsonReply } from '../../platform/http/json-reply.js';
import { Cursors } from '../../platform/paging/cursors.js';
import type { PageQuery } from '../../platform/paging/page.dto.js';
import { plainText } from '../../lib/html/index.js';
import type { CreateSignature, UpdateSignature } from './settings.dto.js';
import { SettingsErrors } from './settings.errors.js';
import type {
  DeletedSignatureEnvelope,
  SignatureEnvelope,
  SignatureListEnvelope,
  SignatureResponse,
} from './settings.response.js';
import { type SignatureRow, SignaturesRepository } from './signatures.repository.js';

const FIRST = '00000000-0000-0000-0000-000000000000';
const PATH = '/apis/v1/settings/signatures';

/** The caller's own mail signatures, at most one of them the default. */
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

  async list(ctx: RequestContext, { cursor, limit }: PageQuery): Promise<SignatureListEnvelope> {
    const scope = `signatures ${ctx.tenantId} ${ctx.userId}`;
    const after = cursor === undefined ? FIRST : (this.cursors.read(scope, cursor)[0] as string);
    const rows = await this.signatures.list(ctx, after, limit + 1);
    const given = rows.slice(0, limit);
    const last = given.at(-1);
    const next = last && rows.length > limit ? this.cursors.write(scope, [last.id]) : null;
    return { signatures: given.map(present), next };
  }

  /** @throws ApiError 404 */
  async read(ctx: RequestContext, id: string): Promise<SignatureEnvelope> {
    return { signature: present(found(await this.signatures.read(ctx, id))) };
  }

  /** @throws ApiError 422 `too_many_signatures`, or for HTML too complex to check */
  async create(ctx: RequestContext, key: IdempotencyKey | null, input: CreateSignature): Promise<JsonReply> {
    const html = await this.safe(input.html);
    const { name, text = null, is_default = false } = input;
    return this.writes.runTx(ctx, key, async (tx) => {
      await this.signatures.lock(tx, ctx);
      const id = uuidv7();
      const fields = { id, name, html, text: text ?? plainText(html), own_text: text !== null, is_default };
      const made = await this.signatures.create(tx, ctx, fields);
      if (!made) throw SettingsErrors.tooManySignatures.with();
      await this.log(tx, ctx, 'signature.created', made);
      const reply = JSON.stringify({ signature: present(made) });
      return new JsonReply(reply, { status: 201, location: `${PATH}/${id}` });
    });
  }

  /** Fields that are left out stay. @throws ApiError 404 */
  async update(ctx: RequestContext, id: string, body: Checked<UpdateSignature>): Promise<SignatureEnvelope> {
    const checked = await this.checked(body);
    return this.change(ctx, id, 'signature.updated', (before) => {
      if (checked instanceof ApiError) throw checked;
      const { html = before.html, name = before.name, is_default = before.is_default } = checked;
      const own_text = checked.text === undefined ? before.own_text : checked.text !== null;
      const text = own_text ? (checked.text ?? before.text) : plainText(html);
      return { ...before, name, html, text, own_text, is_default };
    });
  }

  /** @throws ApiError 404 */
  async makeDefault(ctx: RequestContext, id: string): Promise<SignatureEnvelope> {
    return this.change(ctx, id, 'signature.made_default', (before) => ({ ...before, is_default: true }));
  }

  /** When it was the default, there is none then. @throws ApiError 404 */
  async delete(ctx: RequestContext, id: string): Promise<DeletedSignatureEnvelope> {
    return this.db.tx(async (tx) => {
      await this.signatures.lock(tx, ctx);
      const gone = found(await this.signatures.delete(tx, ctx, id));
      await this.log(tx, ctx, 'signature.deleted', gone);
      return { signature: present(gone), deleted: true };
    });
  }

  private async change(
    ctx: RequestContext,
    id: string,
    action: string,
    apply: (before: SignatureRow) => SignatureRow,
  ): Promise<SignatureEnvelope> {
    return this.db.tx(async (tx) => {
      await this.signatures.lock(tx, ctx);
      const before = found(await this.signatures.read(ctx, id, tx));
      const wanted = apply(before);
      if (JSON.stringify(wanted) === JSON.stringify(before)) return { signature: present(before) };
      const after = await this.signatures.update(tx, ctx, wanted);
      await this.log(tx, ctx, action, after);
      return { signature: present(after) };
    });
  }

  private async checked(body: Checked<UpdateSignature>): Promise<UpdateSignature | ApiError> {
    if (body.error) return body.error;
    try {
      const { html } = body.value;
      return html === undefined ? body.value : { ...body.value, html: await this.safe(html) };
    } catch (error) {
      if (error instanceof ApiError) return error;
      throw error;
    }
  }

  private async safe(html: string): Promise<string> {
    try {
      return await this.html.check(html);
    } catch (error) {
      if (!(error instanceof HtmlTooComplexError)) throw error;
      const message = 'html is nested too deeply or has too many elements';
      throw Errors.validationFailed.with({ details: [{ field: 'html', code: error.code, message }] });
    }
  }

  private async log(tx: Tx, ctx: RequestContext, action: string, { id, name, is_default }: SignatureRow) {
    const data = { name, is_default };
    await this.audit.record(tx, ctx, { action, objectKind: 'signature', objectId: id, data });
  }
}

function found(row: SignatureRow | null): SignatureRow {
  if (!row) throw SettingsErrors.signatureNotFound.with();
  return row;
}

function present(row: SignatureRow): SignatureResponse {
  return {
    id: row.id,
    name: row.name,
    html: row.html,
    text: row.text,
    is_default: row.is_default,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
