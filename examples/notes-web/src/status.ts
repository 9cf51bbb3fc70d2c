import type { PendingChange, SyncState } from '@workspace-backend/client/sync';
import { button, byId, setText } from './dom.js';
import { startSignIn } from './session.js';

const PHASES: Record<SyncState['phase'], string> = {
  starting: 'Starting',
  syncing: 'Synchronising',
  idle: 'Up to date',
  waiting: 'Waiting for the service',
  offline: 'Offline',
  'signed-out': 'Signed out',
  'storage-full': 'Storage full',
  failed: 'Not synchronised',
};

const changes = (count: number): string => (count === 1 ? '1 change' : `${count} changes`);

/** Shows the state of the synchronisation, and how many changes the service does not have. */
export function showStatus({ phase, message }: SyncState, count: number): void {
  // A synchronisation takes a moment: it is not worth an announcement.
  if (phase !== 'syncing') setText(byId('phase'), PHASES[phase]);
  const banner = byId('banner');
  const text = bannerText(phase, message, count);
  if (text === undefined) {
    if (phase !== 'syncing') banner.hidden = true;
    return;
  }
  banner.hidden = false;
  const isShown = banner.dataset['text'] === text;
  if (isShown) return;
  banner.dataset['text'] = text;
  banner.replaceChildren(text);
  if (phase === 'signed-out') banner.append(button('Sign in again', 'second', startSignIn));
}

function bannerText(
  phase: SyncState['phase'],
  message: string | undefined,
  count: number,
): string | undefined {
  const waiting = `${changes(count)} ${count === 1 ? 'waits' : 'wait'}`;
  switch (phase) {
    case 'offline':
      return count === 0
        ? 'There is no connection. You can read and write; changes are sent later.'
        : `There is no connection. ${waiting} until there is one.`;
    case 'signed-out':
      return `Your session has ended. ${count === 0 ? 'What you write stays on this device.' : `${waiting} until you sign in again.`}`;
    case 'storage-full':
      return 'The storage of this device is full. Notes of the service are missing here, and new changes cannot be saved.';
    case 'waiting':
    case 'failed':
      return `${message ?? 'The service cannot be used at the moment.'}${count === 0 ? '' : ` ${waiting}.`}`;
    default:
      return undefined;
  }
}

/** What the user can do about a change that the service has rejected. */
export interface Remedies {
  retry: () => Promise<void>;
  discard: () => Promise<void>;
  /** Saves the text as a new note, and discards the change. */
  copy: () => Promise<void>;
}

export function showProblem(change: PendingChange | undefined, { retry, discard, copy }: Remedies): void {
  const box = byId('problem');
  const problem = change?.problem;
  const key = JSON.stringify(problem ?? null);
  if (box.dataset['key'] === key) return;
  box.dataset['key'] = key;
  box.hidden = problem === undefined;
  box.replaceChildren();
  if (!problem) return;
  const repeat =
    problem.code === 'removed'
      ? button('Save as a new note', 'second', copy)
      : button('Try again', 'second', retry);
  box.append(
    `The service rejects your changes: ${problem.message}`,
    repeat,
    button('Discard my changes', 'second', discard),
  );
}
