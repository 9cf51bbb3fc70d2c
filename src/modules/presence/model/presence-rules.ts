import type { PresenceStatus, PresenceUser } from '../presence.schema.js';

/** The rules of presence: functions of the row of a user, their open devices and the time of the database, which return the next row. */

/** The columns of a user that the rules read and write. */
export type PresenceRow = Omit<PresenceUser, 'tenant_id' | 'user_id'>;

/** The devices of a user that have not expired. */
export interface OpenDevices {
  isConnected: boolean;
  isActive: boolean;
  /** When a user was last active on one of them; null without devices. */
  activeAt: Date | null;
}

/** What a user chooses for all devices. */
export type Choice = Pick<PresenceRow, 'choice' | 'text' | 'choice_until'>;

const isOver = (time: Date | null, now: Date): boolean => time !== null && time <= now;

const pending = (time: Date | null, now: Date): Date | null => (isOver(time, now) ? null : time);

/** The latest of these times; null without any. */
const latest = (...times: (Date | null)[]): Date | null =>
  times.reduce((found, time) => (found && time && time <= found ? found : (time ?? found)), null);

const earliest = (...times: (Date | null)[]): Date | null =>
  times.reduce((found, time) => (found && time && time >= found ? found : (time ?? found)), null);

/** Whether the user has chosen to be invisible. During the grace period, other users still see the earlier status. */
const isHidden = ({ choice, choice_until }: PresenceRow, now: Date): boolean =>
  choice === 'invisible' && !isOver(choice_until, now);

/** The status that other users see: the choice of the user, else the status of the most active device. */
function statusOf(row: PresenceRow, { isConnected, isActive }: OpenDevices, now: Date): PresenceStatus {
  const choice = isOver(row.choice_until, now) ? null : row.choice;
  if (choice === 'invisible') return row.hidden_at !== null && row.hidden_at > now ? row.status : 'offline';
  if (!isConnected) return 'offline';
  return choice ?? (isActive ? 'online' : 'away');
}

/** The end of the text that other users see. An invisible user keeps the text of before, as one who disconnects. */
const textEnd = (row: PresenceRow, now: Date): Date | null =>
  isHidden(row, now) ? row.shown_until : row.choice_until;

/** The text that other users see, also while the user is offline. */
function textOf(row: PresenceRow, now: Date): string {
  if (isOver(textEnd(row, now), now)) return '';
  return isHidden(row, now) ? row.shown_text : row.text;
}

/** Records activity. Others do not see that of an invisible user. */
const withActivity = (row: PresenceRow, activeAt: Date | null, now: Date): PresenceRow =>
  isHidden(row, now) ? row : { ...row, last_active_at: latest(row.last_active_at, activeAt) };

/** What other users see, after a change of devices. */
export function refresh(row: PresenceRow, devices: OpenDevices, now: Date): PresenceRow {
  const [status, text] = [statusOf(row, devices, now), textOf(row, now)];
  if (status === row.status && text === row.shown_text) return row;
  return { ...withActivity(row, devices.activeAt, now), status, shown_text: text };
}

/** Removes a choice that has ended. */
const settled = (row: PresenceRow): PresenceRow => ({
  ...row,
  choice: null,
  text: '',
  choice_until: null,
  due_at: null,
});

/** Stores the choice of a user. @param graceMs after which an invisible user is shown as offline */
export function choose(
  stored: PresenceRow,
  devices: OpenDevices,
  choice: Choice,
  { now, graceMs }: { now: Date; graceMs: number },
): PresenceRow {
  // An expired status that no sweep has ended yet must not become the state that others see of an invisible user.
  const row = isOver(stored.choice_until, now) ? settled(refresh(stored, devices, now)) : stored;
  const isInvisible = choice.choice === 'invisible';
  const hiddenAt = isHidden(row, now) ? row.hidden_at : new Date(now.getTime() + graceMs);
  const chosen = {
    ...withActivity(row, devices.isActive ? now : devices.activeAt, now),
    ...choice,
    shown_until: isInvisible ? textEnd(row, now) : null,
    hidden_at: isInvisible ? hiddenAt : null,
  };
  const due_at = earliest(
    pending(chosen.hidden_at, now),
    choice.choice_until,
    pending(chosen.shown_until, now),
  );
  return refresh({ ...chosen, due_at }, devices, now);
}

/** Applies the end of devices, of a choice or of a text. @param expiredAt last activity on the devices that have expired */
export function sweep(
  row: PresenceRow,
  devices: OpenDevices,
  expiredAt: Date | null,
  now: Date,
): PresenceRow {
  const seen = refresh(withActivity(row, expiredAt, now), devices, now);
  if (!isOver(row.due_at, now)) return seen;
  return isOver(row.choice_until, now)
    ? settled(seen)
    : { ...seen, due_at: earliest(row.choice_until, pending(row.shown_until, now)) };
}
