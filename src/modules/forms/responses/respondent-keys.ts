import { Injectable } from '@nestjs/common';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Keyring } from '../../../platform/secrets/keyring.js';
import type { FormResponseRow } from '../forms.schema.js';

const BATCH = 5_000;

const respondents = workspace.statement<Pick<FormResponseRow, 'form_id'> & { respondent_id: string }>(
  'forms.respondents',
  `SELECT DISTINCT form_id, respondent_id FROM form_responses
    WHERE tenant_id = $1 AND respondent_id IS NOT NULL AND (form_id, respondent_id) > ($2::uuid, $3::uuid)
    ORDER BY form_id, respondent_id LIMIT ${BATCH}`,
);

const insert = workspace.statement<never>(
  'forms.insert_respondent_keys',
  `INSERT INTO form_response_once (tenant_id, form_id, respondent_key)
   SELECT $1, form_id, respondent_key FROM unnest($2::uuid[], $3::bytea[]) AS given (form_id, respondent_key) ON CONFLICT DO NOTHING`,
);

const LOWEST = '00000000-0000-0000-0000-000000000000';

/** HMACs of respondents, which enforce one response of each user without storing the user's id with the answers. */
@Injectable()
export class RespondentKeys {
  constructor(private readonly keyring: Keyring) {}

  key(tenantId: string, formId: string, userId: string): Buffer {
    return this.keyring.sign('form respondent', `${tenantId} ${formId} ${userId}`);
  }

  /** Writes the keys of an imported workspace, except for those of anonymous responses, which only the former installation can compute. */
  async restore(tx: Pick<Tx, 'query'>, tenantId: string): Promise<void> {
    for (let after: [string, string] = [LOWEST, LOWEST]; ;) {
      const rows = await tx.query(respondents, [tenantId, ...after]);
      const last = rows.at(-1);
      if (!last) return;
      const keys = rows.map((row) => this.key(tenantId, row.form_id, row.respondent_id));
      await tx.query(insert, [tenantId, rows.map(({ form_id }) => form_id), keys]);
      after = [last.form_id, last.respondent_id];
    }
  }
}
