import { Injectable, Logger } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { SessionsApi } from '../../identity/index.js';
import {
  type CallIdentity,
  type CallKey,
  guestIdentity,
  identityOf,
  userIdentity,
} from '../model/call-events.js';
import { CallServer } from '../call-server.js';
import { ParticipantsRepository } from '../participants.repository.js';

const confirmed = workspace.statement<never>(
  'call_kicks.confirmed',
  `UPDATE guests SET kick_pending = false, updated_at = now() WHERE tenant_id = $1 AND id = $2 AND kick_pending`,
);

// Guests who are no longer connected need no disconnection.
const settled = workspace.statement<never>(
  'call_kicks.settled',
  `UPDATE guests guest SET kick_pending = false, updated_at = now()
    WHERE guest.tenant_id = $1 AND guest.call_id = $2 AND guest.kick_pending AND NOT EXISTS (
      SELECT FROM call_participants participant
       WHERE participant.tenant_id = $1 AND participant.call_id = $2 AND participant.principal_id = guest.id
         AND participant.left_at IS NULL)`,
);

/** A guest whose access to a call has ended. */
export interface EndedGuest {
  id: string;
  role: 'guest' | 'viewer';
  call_id: string | null;
  is_connected: boolean;
}

/**
 * Disconnects participants who may not be in a call any more. The media server lets a participant with a valid token connect
 * again, so this runs at each connection and with each reconciliation.
 */
@Injectable()
export class Kicks {
  private readonly logger = new Logger(Kicks.name);

  constructor(
    private readonly participants: ParticipantsRepository,
    private readonly sessions: SessionsApi,
    private readonly server: CallServer,
    private readonly db: Db,
  ) {}

  /** Disconnects one participant. @returns false if the media server could not be reached; the reconciler retries */
  async kick(call: CallKey, identity: string): Promise<boolean> {
    try {
      await this.server.removeParticipant(call, identity);
    } catch (error) {
      this.logger.warn({ err: error, call: call.callId }, 'participant not disconnected; it will be retried');
      return false;
    }
    const principal = identityOf(identity);
    if (principal && principal.kind !== 'user')
      await this.db.single((tx) => tx.query(confirmed, [call.tenantId, principal.id]));
    return true;
  }

  /** Disconnects guests until the media server cannot be reached; the reconciler disconnects the others. */
  async kickGuests(tenantId: string, guests: readonly EndedGuest[]): Promise<void> {
    for (const { id, role, call_id: callId } of guests.filter(({ is_connected }) => is_connected))
      if (callId !== null && !(await this.kick({ tenantId, callId }, guestIdentity(role, id)))) return;
  }

  /** Disconnects all participants of a call who have no access or whose session has ended. */
  async enforce(call: CallKey): Promise<void> {
    const unwanted = await this.participants.listUnwanted(call);
    const ended = await this.ofEndedSessions(await this.participants.listConnected(call));
    for (const identity of new Set([...unwanted, ...ended])) await this.kick(call, identity);
    await this.db.single((tx) => tx.query(settled, [call.tenantId, call.callId]));
  }

  /**
   * Revokes the right to publish of members of the audience, such as former moderators.
   * @param publishing identities with this right
   */
  async makeListeners(call: CallKey, publishing: readonly string[]): Promise<void> {
    if (publishing.length === 0) return;
    for (const identity of await this.participants.listeners(call, publishing))
      await this.server.makeListener(call, identity);
  }

  /** Disconnects a participant who has just connected, unless they may be in the live call. */
  async admit(call: CallKey, identity: string): Promise<void> {
    const isUnwanted =
      (await this.participants.listUnwanted(call)).includes(identity) ||
      (await this.ofEndedSessions([identity])).length > 0;
    if (isUnwanted) await this.kick(call, identity);
  }

  /** Returns those of these identities that belong to ended sessions of users. */
  private async ofEndedSessions(identities: readonly string[]): Promise<string[]> {
    const users = identities.filter((identity) => identityOf(identity)?.kind === 'user');
    if (users.length === 0) return [];
    const accounts = [...new Set(users.map((identity) => (identityOf(identity) as CallIdentity).id))];
    const live = await this.sessions.liveOf(accounts);
    // Tokens of other issuers have no session.
    const valid = new Set([
      ...accounts.map((account) => userIdentity(account, null)),
      ...live.map(({ account_id, id }) => userIdentity(account_id, id)),
    ]);
    return users.filter((identity) => !valid.has(identity));
  }
}
