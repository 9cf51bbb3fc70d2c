// The page: signs in, opens the notes of the user, and connects the parts.
import type { PendingChange, SyncState } from '@workspace-backend/client/sync';
import { type Device, type Note, openDevice } from './device.js';
import { button, byId, run, setText, showError } from './dom.js';
import { Editor } from './editor.js';
import { NoteList } from './note-list.js';
import * as session from './session.js';
import { showProblem, showStatus } from './status.js';

/** Milliseconds for the last changes before a sign-out. */
const LAST_SYNC_MS = 5_000;

/** Newest first. A note that the service does not have yet has no time. */
const byTime = (one: Note, other: Note): number => timeOf(other).localeCompare(timeOf(one));
const timeOf = ({ updated_at: time = '9', id }: Note): string => `${time} ${id}`;

function show(part: 'loading' | 'welcome' | 'notes'): void {
  for (const id of ['loading', 'welcome', 'notes']) byId(id).hidden = id !== part;
}

async function begin(): Promise<void> {
  byId('sign-in').addEventListener('click', () => run(session.startSignIn));
  await session.completeSignIn().catch(showError);
  const stored = session.storedAccount();
  if (!(await session.isSignedIn())) {
    if (stored)
      setText(
        byId('welcome-text'),
        `Your session has ended. What you have saved on this device is kept: sign in as ${stored.name} again.`,
      );
    show('welcome');
    session.onSignInChange((state) => state === 'signed-in' && location.reload());
    return;
  }
  const account = await session.readAccount();
  setText(byId('name'), account.name);
  byId('account').hidden = false;
  useDevice(await openDevice(account));
  show('notes');
}

function useDevice(device: Device): void {
  const { workspace, notes, conflicts } = device;
  let pending = new Map<string, PendingChange>();
  let state: SyncState = workspace.state;
  const view = byId('notes');
  const list = new NoteList((id) => run(() => editor.open(id)));
  const editor = new Editor(device, (id, isOpen) => {
    view.dataset['view'] = isOpen ? 'note' : 'list';
    byId('opened').hidden = !isOpen;
    byId('nothing').hidden = isOpen;
    list.select(id);
    showRest();
  });

  const showRest = (): void => {
    list.show({ marks: { pending, hasConflict: (id) => conflicts.get(id) !== undefined } });
    showStatus(state, pending.size);
    const change = editor.id === undefined ? undefined : pending.get(editor.id);
    showProblem(change, remediesOf(change?.id ?? ''));
  };
  const remediesOf = (id: string) => ({
    retry: () => notes.retry(id),
    discard: async () => {
      await notes.discard(id);
      await editor.reload();
    },
    copy: async () => {
      const { title = '', content } = (await notes.get(id)) ?? {};
      const copy = await notes.create({ title, ...(content !== undefined && { content }) });
      await notes.discard(id);
      await editor.open(copy);
    },
  });
  const readPending = async (): Promise<void> => {
    pending = new Map((await workspace.pending()).map((change) => [change.id, change]));
    showRest();
  };

  view.dataset['view'] = 'list';
  notes.live(
    { sort: byTime },
    (items) => {
      list.show({ notes: items });
      editor.follow(items);
    },
    showError,
  );
  workspace.onChange(() => void readPending().catch(showError));
  workspace.onState((next) => {
    state = next;
    showRest();
  });
  conflicts.onChange(showRest);
  void readPending().catch(showError);

  byId('new').addEventListener('click', () => run(() => editor.open(undefined)));
  byId('back').addEventListener('click', () =>
    run(async () => {
      const { id } = editor;
      await editor.leave();
      list.focus(id);
    }),
  );
  byId('delete').addEventListener('click', () =>
    run(async () => {
      const id = await editor.remove();
      list.focus(undefined);
      if (id !== undefined) offerRestore(() => notes.restore(id));
    }),
  );
  endSession(device);
}

/** Tells that a note is in the trash. */
function offerRestore(restore: () => Promise<void>): void {
  const notice = byId('notice');
  const hide = () => void (notice.hidden = true);
  const undo = button('Restore it', 'second', () => restore().then(hide));
  notice.replaceChildren(
    'The note is in the trash.',
    undo,
    button('Close', 'second', async () => hide()),
  );
  notice.hidden = false;
}

/** Signs out on request, and when another tab does so. */
function endSession(device: Device): void {
  let isLeaving = false;
  byId('sign-out').addEventListener('click', () =>
    run(async () => {
      await device.workspace.sync(AbortSignal.timeout(LAST_SYNC_MS)).catch(() => undefined);
      const left = (await device.workspace.pending()).length;
      if (left > 0 && !(await confirmLeave(left))) return;
      isLeaving = true;
      session.forgetAccount();
      await device.erase();
      await session.signOut();
    }),
  );
  session.onSignInChange((state) => {
    // A stored account means that the session has ended by itself: the banner says so, and the form keeps its fields.
    if (state === 'signed-out' && !isLeaving && !session.storedAccount()) location.reload();
  });
}

function confirmLeave(count: number): Promise<boolean> {
  const dialog = byId('leave') as HTMLDialogElement;
  const number = count === 1 ? '1 change is' : `${count} changes are`;
  setText(byId('leave-text'), `${number} on this device only. Without a connection they cannot be sent.`);
  dialog.returnValue = 'stay';
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'leave'), { once: true });
  });
}

// Without it, the page could not be opened without a connection.
void navigator.serviceWorker
  ?.register('/apis/v1/docs/example/notes-web-worker.js', { scope: session.page })
  .catch(showError);
await begin().catch((error: unknown) => {
  show('welcome');
  showError(error);
});
