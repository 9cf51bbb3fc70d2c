/**
 * The queues of work without a request: periodic jobs and events of the outbox. A process does the work of a queue one after the
 * other. Work that waits for another server has the queue of that server, so that a slow server delays no other work.
 *
 * `local`: the database only. `relay`: mails of the workspace itself. `mail`: the mail service of the users. `calls`: the media server.
 * `files`: the blob store.
 */
export const WORK_QUEUES = ['local', 'relay', 'mail', 'calls', 'files'] as const;

export type WorkQueue = (typeof WORK_QUEUES)[number];
