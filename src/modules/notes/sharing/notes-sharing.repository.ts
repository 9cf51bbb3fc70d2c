import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { NoteOutcome } from '../notes.repository.js';

export type SharedRole = 'viewer' | 'editor';

const ROLE_CODES: Record<SharedRole, number> = { viewer: 1, editor: 2 };

export type ShareAction =
  | { kind: 'set'; token: string; role: SharedRole; expiresAt: Date | null }
  | { kind: 'regenerate'; token: string }
  | { kind: 'revoke' }
  /** The request is wrong: nothing may be written, but what comes before that is answered. */
  | { kind: 'unchecked' };

const OUTCOME = 'outcome, revision, json';

const share = workspace.statement<NoteOutcome>(
  'notes.share',
  `SELECT ${OUTCOME} FROM note_share($1, $2, $3, $4, $5, $6, $7, $8)`,
);

const invite = workspace.statement<NoteOutcome>(
  'notes.invite',
  `SELECT ${OUTCOME} FROM note_invite($1, $2, $3, $4, $5, $6)`,
);

/** SQL on who a note is shared with. */
@Injectable()
export class NotesSharingRepository {
  async share(
    tx: Tx,
    ctx: RequestContext,
    event: string,
    id: string,
    action: ShareAction,
  ): Promise<NoteOutcome> {
    const role = action.kind === 'set' ? ROLE_CODES[action.role] : null;
    const expires = action.kind === 'set' ? action.expiresAt : null;
    const token = 'token' in action ? action.token : null;
    return first(
      await tx.query(share, [ctx.tenantId, ctx.userId, id, action.kind, role, expires, token, event]),
    );
  }

  /** @param invited in the order to answer; null when the request is wrong */
  async invite(
    tx: Tx,
    ctx: RequestContext,
    event: string,
    id: string,
    invited: Map<string, SharedRole> | null,
  ): Promise<NoteOutcome> {
    const ids = invited && [...invited.keys()];
    const roles = invited && [...invited.values()].map((role) => ROLE_CODES[role]);
    return first(await tx.query(invite, [ctx.tenantId, ctx.userId, id, ids, roles, event]));
  }
}

const first = ([row]: NoteOutcome[]): NoteOutcome => row as NoteOutcome;
