import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { type Statement, workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import type { CallKind, CallState } from '../calls.entity.js';
import type { GuestState } from './guest.entity.js';
import type { GuestOutcome } from './guests.errors.js';
import type { Visitor } from './visitor.js';

/** An invite as a visitor sees it, and the guest of their session. */
export interface GuestView {
  id: string;
  kind: 'personal' | 'link';
  target_kind: 'call' | 'chat_room';
  role: 'guest' | 'viewer';
  state: 'active' | 'expired' | 'revoked' | 'exhausted';
  title: string;
  starts_at: Date | null;
  require_otp: boolean;
  require_approval: boolean;
  chat_allowed: boolean;
  call_kind: CallKind | null;
  call_state: CallState | null;
  locked: boolean;
  room_id: string | null;
  guest_id: string | null;
  guest_name: string | null;
  guest_state: GuestState | null;
  admitted_seq: number | null;
  /** The last use of the session is older than half a minute. */
  is_stale: boolean | null;
  /** Outcome of a use of the chat; null: allowed. */
  chat_rejection: string | null;
}

/** Result of a function that returns a guest. */
export interface GuestResult extends GuestOutcome {
  id: string;
  state: GuestState;
  name: string;
  call_id: string | null;
  requests: number;
  decided_at: string | null;
  /** The guest has joined the queue, and the members must be notified. */
  is_new?: boolean;
}

export interface CodeRequest extends GuestOutcome {
  fits: boolean;
  invite_id: string;
  title: string;
}

export interface ChatAccess extends GuestResult {
  room_id: string;
  after_seq: number;
}

/** Fields of a new guest. Hashes are hexadecimal. */
export interface NewGuest {
  id: string;
  name: string;
  email: string | null;
  codes: string[] | null;
  token: string;
  session: string;
  address: string;
  user_agent: string | null;
}

// The invite is read once as a value: each use of a row of the view would evaluate the access of its creator again.
const view = workspace.statement<GuestView>(
  'guests.view',
  `WITH found AS MATERIALIZED (SELECT invite FROM guest_invite($1, $2) AS invite)
   SELECT (invite).id, (invite).kind, (invite).target_kind, (invite).role, (invite).state, (invite).title, (invite).starts_at,
          (invite).require_otp, (invite).require_approval, (invite).chat_allowed, (invite).call_kind, (invite).call_state,
          (invite).locked, (invite).room_id,
          guest.id AS guest_id, guest.display_name AS guest_name, guest.admitted_seq::float8 AS admitted_seq,
          CASE WHEN guest.id IS NULL OR guest_is_allowed(invite, guest) THEN guest.state ELSE 'removed' END AS guest_state,
          guest.active_at < now() - interval '30 seconds' AS is_stale, guest_chat_rejection(invite, guest) AS chat_rejection
     FROM found
     LEFT JOIN guests guest ON guest.tenant_id = $1 AND guest.session_hash = $3 AND guest.invite_id = (invite).id
          AND (guest.session_expires_at > now() OR guest.state = 'removed')`,
  { pipelined: true },
);

const touch = workspace.statement<never>(
  'guests.touch',
  `UPDATE guests SET active_at = now() WHERE tenant_id = $1 AND id = $2 AND state IN ('waiting', 'admitted', 'in_session')`,
);

interface Result<Of> {
  result: Of;
}

interface LeaveResult extends GuestResult {
  before: GuestState | null;
  role: 'guest' | 'viewer' | null;
}

const requestCode = workspace.statement<Result<CodeRequest>>(
  'guests.request_code',
  `SELECT guest_code_request($1, $2, $3, $4, $5, $6, $7, $8) AS result`,
);
const claim = workspace.statement<Result<GuestResult>>(
  'guests.claim',
  `SELECT guest_claim($1, $2, $3, $4, $5) AS result`,
);
const rotate = workspace.statement<Result<GuestResult>>(
  'guests.rotate',
  `SELECT guest_rotate($1, $2, $3, $4, $5, $6) AS result`,
);
const enter = workspace.statement<Result<GuestResult>>(
  'guests.enter',
  `SELECT guest_enter($1, $2, $3) AS result`,
);
const leave = workspace.statement<Result<LeaveResult>>(
  'guests.leave',
  `SELECT guest_leave($1, $2, $3) AS result`,
);
const chat = workspace.statement<Result<ChatAccess>>(
  'guests.chat',
  `SELECT guest_chat($1, $2, $3, $4, $5) AS result`,
);
const verifyViewer = workspace.statement<Result<GuestResult>>(
  'guests.verify_viewer',
  `SELECT guest_viewer_verify($1, $2, $3, $4, $5) AS result`,
);
const joinViewer = workspace.statement<Result<GuestResult>>(
  'guests.join_viewer',
  `SELECT guest_viewer_join($1, $2, $3, $4, $5) AS result`,
);

/** SQL of the requests of guests. Each function returns an outcome and no error, so that failed attempts stay counted. */
@Injectable()
export class GuestsRepository {
  constructor(private readonly db: Db) {}

  /** The invite of a token; undefined for an unknown one. */
  async view({ tenantId, token, session }: Visitor): Promise<GuestView | undefined> {
    return (await this.db.query(view, [tenantId, token, session]))[0];
  }

  /** Records that a guest is present. */
  async touch(tenantId: string, guestId: string): Promise<void> {
    await this.db.single((tx) => tx.query(touch, [tenantId, guestId]));
  }

  /** @param hash of the code; `mails`: that the workspace sends in a day */
  async requestCode(
    tx: Tx,
    { tenantId, token }: Visitor,
    request: {
      purpose: 'join' | 'livestream';
      email: string;
      hash: Buffer;
      address: Buffer;
      isOpen: boolean;
      mails: number;
    },
  ): Promise<CodeRequest> {
    const { purpose, email, hash, address, isOpen, mails } = request;
    return one(tx, requestCode, [tenantId, token, purpose, email, hash, address, isOpen, mails]);
  }

  /** @param seconds of the session */
  async claim(
    tx: Tx,
    { tenantId, token }: Visitor,
    guest: NewGuest,
    seconds: number,
    isOpen: boolean,
  ): Promise<GuestResult> {
    return one(tx, claim, [tenantId, token, guest, seconds, isOpen]);
  }

  async rotate(
    { tenantId, token }: Visitor,
    guestToken: Buffer,
    next: { token: Buffer; session: Buffer },
    seconds: number,
  ): Promise<GuestResult> {
    const values = [tenantId, token, guestToken, next.token, next.session, seconds];
    return this.db.single((tx) => one(tx, rotate, values));
  }

  async enter(tx: Tx, { tenantId, token, session }: Visitor): Promise<GuestResult> {
    return one(tx, enter, [tenantId, token, session]);
  }

  async leave({ tenantId, token, session }: Visitor): Promise<LeaveResult> {
    return this.db.single((tx) => one(tx, leave, [tenantId, token, session]));
  }

  /** The place of a guest in the chat, locked. @param bytes that the guest uploads, of `maxBytes` in total */
  async chat(
    tx: Tx,
    { tenantId, token, session }: Visitor,
    bytes: number,
    maxBytes: number,
  ): Promise<ChatAccess> {
    return one(tx, chat, [tenantId, token, session, bytes, maxBytes]);
  }

  async verifyViewer(
    { tenantId, token }: Visitor,
    viewer: NewGuest,
    seconds: number,
    isOpen: boolean,
  ): Promise<GuestResult> {
    return this.db.single((tx) => one(tx, verifyViewer, [tenantId, token, viewer, seconds, isOpen]));
  }

  /** @param session hash of the token of a viewer, or null */
  async joinViewer(
    { tenantId, token }: Visitor,
    session: Buffer | null,
    viewer: NewGuest,
    seconds: number,
  ): Promise<GuestResult> {
    return this.db.single((tx) => one(tx, joinViewer, [tenantId, token, session, viewer, seconds]));
  }
}

async function one<Of>(reader: Reader, statement: Statement<Result<Of>>, values: unknown[]): Promise<Of> {
  return (await reader.query(statement, values))[0]?.result as Of;
}
