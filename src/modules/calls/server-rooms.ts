import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import { growingTo } from '../../platform/memory/cache-size.js';
import { CallServer } from './call-server.js';
import type { Call } from './calls.schema.js';
import { type CallKey, roomNameOf } from './model/call-events.js';

/** Milliseconds in which the room of a call with participants is not created again. */
const ROOM_KNOWN_MS = 30_000;

/** The places of a live call. */
export interface CallPlaces extends Pick<Call, 'kind' | 'max_participants' | 'max_viewers'> {
  /** Connected participants. */
  connected: number;
}

const places = workspace.statement<CallPlaces>(
  'calls.places',
  `SELECT kind, max_participants, max_viewers, (
            SELECT count(*)::int FROM call_participants participant
             WHERE participant.tenant_id = $1 AND participant.call_id = $2 AND participant.left_at IS NULL) AS connected
     FROM calls WHERE tenant_id = $1 AND id = $2`,
);

// Restarts the time after which an empty call ends, so that a participant with a token has time to connect.
const expectParticipant = workspace.statement<never>(
  'calls.expect_participant',
  `UPDATE calls SET empty_since = now() WHERE tenant_id = $1 AND id = $2 AND empty_since < now() - interval '10 seconds'`,
);

/** Creates the rooms of live calls at the media server, which deletes them when they are empty. */
@Injectable()
export class ServerRooms {
  private readonly created = new LRUCache<string, true>({ ...growingTo(10_000), ttl: ROOM_KNOWN_MS });

  constructor(
    private readonly server: CallServer,
    private readonly db: Db,
  ) {}

  /**
   * Prepares a live call for a participant who gets a token.
   * @param known the places of the call, if the caller has read them
   * @throws ApiError 503
   */
  async prepare(call: CallKey, known?: CallPlaces): Promise<void> {
    const key = [call.tenantId, call.callId];
    const found = known ?? (await this.db.query(places, key))[0];
    if (!found) return;
    const { kind, max_participants, max_viewers, connected } = found;
    const name = roomNameOf(call);
    if (connected > 0 && this.created.has(name)) return;
    if (connected === 0) await this.db.single((tx) => tx.query(expectParticipant, key));
    await this.server.createRoom(call, max_participants + (kind === 'livestream' ? max_viewers : 0));
    this.created.set(name, true);
  }
}
