import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { Blobs } from '../../../platform/blobs/blobs.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { FormUpload } from '../forms.entity.js';
import type { NewResponse } from '../model/submission-rules.js';

const lock = workspace.statement<{ id: string }>(
  'form_uploads.lock',
  `SELECT id FROM form_uploads
    WHERE tenant_id = $1 AND form_id = $2 AND id = ANY ($3::uuid[]) AND user_id = $4 AND (response_id IS NULL OR response_id = $5)
    ORDER BY id FOR UPDATE`,
);

// Index form_uploads_response.
const remove = workspace.statement<{ tenant_id: string; blob_id: string }>(
  'form_uploads.delete_of_response',
  `DELETE FROM form_uploads WHERE tenant_id = $1 AND form_id = $2 AND response_id = $3 AND id <> ALL ($4::uuid[])
   RETURNING tenant_id, blob_id`,
);

/** The files that responses contain. */
@Injectable()
export class ResponseFiles {
  constructor(private readonly blobs: Blobs) {}

  /** Locks the files of answers. @returns false: one is unknown, of another user, or belongs to another response */
  async lock(tx: Tx, tenantId: string, form: string, { id, userId, uploads }: NewResponse): Promise<boolean> {
    if (uploads.length === 0) return true;
    const rows = await tx.query(lock, [tenantId, form, uploads, userId, id]);
    return rows.length === uploads.length;
  }

  /** Binds locked files to a response. @param userId null in an anonymous form, whose files keep no reference to the user */
  async claim(
    tx: Tx,
    tenantId: string,
    formId: string,
    { id, uploads }: NewResponse,
    userId: string | null,
  ): Promise<void> {
    if (uploads.length === 0) return;
    const values = { response_id: id, user_id: userId, expires_at: null };
    await rowsOf(tx, FormUpload).update({ tenant_id: tenantId, form_id: formId, id: In(uploads) }, values);
  }

  /** Deletes the files of a response except for some. @param kept their ids */
  async deleteOthers(
    tx: Tx,
    tenantId: string,
    form: string,
    response: string,
    kept: readonly string[],
  ): Promise<void> {
    await this.blobs.release(tx, await tx.query(remove, [tenantId, form, response, kept]));
  }
}
