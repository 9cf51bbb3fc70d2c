import { Injectable } from '@nestjs/common';
import { type Definition, questionsOf } from '../../../lib/forms/index.js';
import { fold } from '../../../lib/search-text/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { type ColumnValues, rowsOf } from '../../../platform/database/rows.js';
import type { Tx } from '../../../platform/database/tx.js';
import { RowQuota } from '../../../platform/quotas/row-quota.js';
import { Form, FormCounter, FormVersion } from '../forms.entity.js';
import { cutText } from '../../../lib/text/index.js';

const NOW = () => 'now()';
/** Characters of a form that its search column holds. */
const SEARCH_LENGTH = 20_000;

/** The folded text of a form for lists and search. */
export function searchTextOf(form: Pick<Form, 'title' | 'description' | 'draft'>): string {
  const questions = questionsOf(form.draft).map((question) => question.title);
  return fold(cutText([form.title, form.description, ...questions].join(' '), SEARCH_LENGTH));
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
  /** Locks the form against all other changes, and against submissions. Null: it is unknown or deleted. */
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
