import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { NoteOutcome } from '../notes.repository.js';

export type SharedRole = 'viewer' | 'editor';

export type ShareAction =
  | { kind: 'set'; token: string; terms: { role: SharedRole; expires_at: Date | null } }
  | { kind: 'regenerate'; token: string }
  | { kind: 'revoke' }
  /** An invalid body: rejected after the earlier checks of the contract. */
  | { kind: 'invalid_request' };

const OUTCOME = 'outcome, revision, json';

const share = workspace.statement<NoteOutcome>(
  'notes.share',
  `SELECT ${OUTCOME} FROM note_share($1, $2, $3, $4, $5, $6, $7)`,
);

const invite = workspace.statement<NoteOutcome>(
  'notes.invite',
  `SELECT ${OUTCOME} FROM note_invite($1, $2, $3, $4, $5, $6)`,
);

/** SQL on the members and the share link of a note. */
@Injectable()
export class NotesSharingRepository {
  async share(
    tx: Tx,
    ctx: RequestContext,
    event: string,
    id: string,
    action: ShareAction,
  ): Promise<NoteOutcome> {
    const terms = action.kind === 'set' ? JSON.stringify(action.terms) : null;
    const token = 'token' in action ? action.token : null;
    return first(await tx.query(share, [ctx.tenantId, ctx.userId, id, action.kind, terms, token, event]));
  }

  /** @param invited in the order of the response; null for an invalid body */
  async invite(
    tx: Tx,
    ctx: RequestContext,
    event: string,
    id: string,
    invited: Map<string, SharedRole> | null,
  ): Promise<NoteOutcome> {
    const ids = invited && [...invited.keys()];
    const roles = invited && [...invited.values()];
    return first(await tx.query(invite, [ctx.tenantId, ctx.userId, id, ids, roles, event]));
  }
}

const first = ([row]: NoteOutcome[]): NoteOutcome => row as NoteOutcome;
