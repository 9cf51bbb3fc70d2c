import { type Actor, known, someNote, send } from './actor.ts';
import { acknowledged, knownTask, made, somePeople, someTask, TASK_REJECTIONS } from './task-actions.ts';

/** A task made from a note: both change in one transaction, together with the feeds of their users. */
async function fromNote(actor: Actor): Promise<void> {
  const { world, rng, user } = actor;
  const note = someNote(actor);
  const base = note && (await known(actor, note, 0.5));
  if (!base) return;
  const title = world.unique();
  const body = { title, ...(rng.chance(0.5) ? { assignees: somePeople(actor) } : {}) };
  const rejections = ['404 not_found', '403 forbidden', '409 deleted'];
  const response = await send(actor, 'POST', `/notes/${base.id}/task`, body, '201', ...rejections);
  if (response.status !== 201) return;
  acknowledged(actor, response, title);
  made(actor, response.body.task.id, user);
  world.count('tasks made from notes');
}

/** Parts of a task change without a new revision; the feed delivers the task again. */
async function subtask(actor: Actor): Promise<void> {
  const { rng, world } = actor;
  const task = someTask(actor);
  const base = task && (await knownTask(actor, task, 0.5));
  if (!base) return;
  const one = base.subtasks.length > 0 && rng.chance(0.7) ? rng.pick<any>(base.subtasks) : undefined;
  const path = `/tasks/${base.id}/subtasks${one ? `/${one.id}` : ''}`;
  const rejections = TASK_REJECTIONS.filter((rejection) => rejection !== '409 conflict');
  if (!one) await send(actor, 'POST', path, { title: world.unique() }, '201', ...rejections);
  else if (rng.chance(0.5)) await send(actor, 'DELETE', path, undefined, '200', ...rejections);
  else await send(actor, 'PUT', path, { done: !one.done }, '200', ...rejections);
}

/** Comments are added, and those that the device has from the feed are edited and deleted. */
async function comment(actor: Actor): Promise<void> {
  const { rng, world, user, device } = actor;
  const task = someTask(actor);
  if (!task) return;
  const path = `/tasks/${task.id}/comments`;
  const comments: any[] = device.items('tasks').get(task.id)?.comments ?? [];
  const one = comments.length > 0 && rng.chance(0.6) ? rng.pick(comments) : undefined;
  const body = { body: world.unique() };
  const rejections = ['404 not_found', '409 deleted', ...(one ? ['403 forbidden'] : [])];
  if (!one) await send(actor, 'POST', path, body, '201', ...rejections);
  else if (one.author.id === user.id && rng.chance(0.6))
    await send(actor, 'PATCH', `${path}/${one.id}`, body, '200', ...rejections);
  else await send(actor, 'DELETE', `${path}/${one.id}`, undefined, '200', ...rejections);
}

export const TASK_PART_ACTIONS: Record<string, (actor: Actor) => Promise<void>> = {
  taskFromNote: fromNote,
  taskSubtask: subtask,
  taskComment: comment,
};
