import { Injectable } from '@nestjs/common';
import { type Definition, questionsOf } from '../../../lib/forms/index.js';
import { cutText } from '../../../lib/text/index.js';
import { Audit } from '../../../platform/audit/audit.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { type ColumnValues, NOW, rowsOf } from '../../../platform/database/rows.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { RowQuota } from '../../../platform/quotas/row-quota.js';
import { searchText } from '../../../platform/resources/text-search.js';
import { Form, FormCounter, FormVersion } from '../forms.schema.js';

/** Records changes of forms: an event for other modules and an entry in the audit log. */
@Injectable()
export class FormEvents {
  constructor(
    private readonly outbox: Outbox,
    private readonly audit: Audit,
  ) {}

  /** @param change e.g. `published`: the event is `form.published` */
  async record(
    tx: Tx,
    ctx: RequestContext,
    change: string,
    id: string,
    data: Record<string, unknown> = {},
  ): Promise<void> {
    const type = `form.${change}`;
    const payload = { form_id: id, actor_id: ctx.userId, ...data };
    await this.outbox.append(tx, { tenantId: ctx.tenantId, type, payload });
    await this.audit.record(tx, ctx, { action: type, objectKind: 'form', objectId: id, data });
  }

  /**
   * Appends `form.closed`.
   * @param cause `actor_id`: of the user whose change of the settings has closed the form; `anonymous`: the last response has, to an
   *   anonymous form
   */
  async appendClosed(
    tx: Tx,
    tenantId: string,
    id: string,
    reason: 'window_ended' | 'quota_reached',
    cause: { actor_id?: string; anonymous?: true } = {},
  ): Promise<void> {
    const payload = { form_id: id, ...cause, reason };
    await this.outbox.append(tx, { tenantId, type: 'form.closed', payload });
  }
}

/** Characters of a form that its search column holds. */
const SEARCH_LENGTH = 20_000;

/** The folded text of a form for lists and search. */
export function searchTextOf(form: Pick<Form, 'title' | 'description' | 'draft'>): string {
  const questions = questionsOf(form.draft).map((question) => question.title);
  return searchText(cutText([form.title, form.description, ...questions].join(' '), SEARCH_LENGTH));
}

// Index forms_owner.
const formsOfUser = new RowQuota(
  'user',
  'forms',
  'forms',
  'forms WHERE tenant_id = $1 AND owner_id = $2 AND deleted_at IS NULL',
);

/** Writes of forms and versions. */
@Injectable()
export class FormWritesRepository {
  /** Locks the form against all other changes, and against submissions. Null means that it is unknown or deleted. */
  async lock(tx: Tx, { tenantId }: RequestContext, id: string): Promise<Form | null> {
    const form = await rowsOf(tx, Form).lock({ tenant_id: tenantId, id });
    return form?.deleted_at ? null : form;
  }

  async insert(
    tx: Tx,
    { tenantId, userId }: RequestContext,
    values: ColumnValues<Form> & { id: string },
  ): Promise<void> {
    await formsOfUser.take(tx, tenantId, userId);
    const times = { created_at: NOW, updated_at: NOW };
    await rowsOf(tx, Form).insert({ ...values, ...times, tenant_id: tenantId, owner_id: userId });
    // Submissions to a form with a quota lock this row.
    await rowsOf(tx, FormCounter).insert({ tenant_id: tenantId, form_id: values.id, shard: 0, count: '0' });
  }

  async update(tx: Tx, { tenantId }: RequestContext, id: string, values: ColumnValues<Form>): Promise<void> {
    await rowsOf(tx, Form).update({ tenant_id: tenantId, id }, { ...values, updated_at: NOW });
  }

  async addVersion(
    tx: Tx,
    { tenantId, userId }: RequestContext,
    formId: string,
    version: number,
    definition: Definition,
  ): Promise<void> {
    const values = {
      tenant_id: tenantId,
      form_id: formId,
      version,
      definition: definition as object,
      published_by: userId,
    };
    await rowsOf(tx, FormVersion).insert({ ...values, published_at: NOW });
  }
}
