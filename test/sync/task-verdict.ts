import { compare, inParallel, pages } from './compare.ts';
import type { Device } from './library/device.ts';
import type { Reader } from './protocol/reader.ts';
import { canonical, Violation } from './model.ts';
import type { Rng } from './rng.ts';
import type { User, World } from './world.ts';

/** Comments of a task in the change feed. */
const FEED_COMMENTS = 50;

/**
 * Compares the tasks and task folders of the clients of a user with the responses of the API.
 * @returns the tasks of the user
 */
export async function checkTasks(
  world: World,
  devices: Device[],
  reader: Reader,
  rng: Rng,
  user: User,
): Promise<Map<string, any>> {
  const tasks = await tasksOf(world, rng, user);
  const folders = await foldersOf(world, rng, user, tasks);
  const comments = await commentsOf(world, rng, user, tasks);
  compare(`${reader.name}: tasks`, reader.tasks.items, tasks, withoutTitles, 'description');
  compareComments(world, reader.name, reader.tasks.items, comments);
  compare(`${reader.name}: task folders`, reader.taskFolders.items, folders, withoutCount);
  for (const device of devices) {
    const held = await device.read('tasks');
    compare(`${device.name}: tasks`, held, tasks, withoutTitles);
    compareComments(world, device.name, held, comments);
    compare(`${device.name}: task folders`, await device.read('task_folders'), folders, withoutCount);
    world.count('tasks compared', tasks.size);
    world.count('task folders compared', folders.size);
  }
  return tasks;
}

async function tasksOf(world: World, rng: Rng, user: User): Promise<Map<string, any>> {
  const listed = await pages(world, rng, user, '/tasks?state=all&', 'tasks');
  const tasks = new Map<string, any>();
  await inParallel(listed, async (item) => {
    if (tasks.has(item.id)) throw new Violation(`${user.name}: the list has ${item.id} twice`, item.id);
    const { body } = await world.call(rng, user, 'GET', `/tasks/${item.id}`, undefined, ['200']);
    if (canonical(body.task) !== canonical(item))
      throw new Violation(
        `${user.name}: list and task differ: ${canonical(item)} ${canonical(body)}`,
        item.id,
      );
    tasks.set(item.id, item);
  });
  return tasks;
}

/** The newest comments of each task, as the change feed includes them. */
async function commentsOf(
  world: World,
  rng: Rng,
  user: User,
  tasks: Map<string, any>,
): Promise<Map<string, any[]>> {
  const comments = new Map<string, any[]>();
  await inParallel([...tasks.values()], async ({ id, comments_count: count }) => {
    const listed = count > 0 ? await pages(world, rng, user, `/tasks/${id}/comments?`, 'comments') : [];
    if (listed.length !== count)
      throw new Violation(`${user.name}: ${id} counts ${count} comments and lists ${listed.length}`, id);
    comments.set(id, listed.slice(0, FEED_COMMENTS));
  });
  return comments;
}

/** Compares the comments of the tasks whose last record was not a summary. */
function compareComments(
  world: World,
  name: string,
  items: Map<string, any>,
  comments: Map<string, any[]>,
): void {
  for (const task of items.values()) {
    if (!('comments' in task)) continue;
    const [held, listed] = [canonical(task.comments), canonical(comments.get(task.id))];
    if (held !== listed)
      throw new Violation(`${name}: holds the comments\n  ${held}\nof\n  ${listed}`, task.id);
    world.count('comments compared', task.comments.length);
  }
}

async function foldersOf(
  world: World,
  rng: Rng,
  user: User,
  tasks: Map<string, any>,
): Promise<Map<string, any>> {
  const folders = new Map<string, any>();
  for (const folder of await pages(world, rng, user, '/task_folders?', 'task_folders'))
    folders.set(folder.id, folder);
  const filed = Map.groupBy(
    [...tasks.values()].filter((task) => !task.deleted),
    (task) => task.folder_id as string | null,
  );
  for (const { id, parent_id: parent, task_count: count } of folders.values()) {
    if (parent !== null && !folders.has(parent))
      throw new Violation(`task folder ${id} is in one that ${user.name} does not see`, id);
    if (count !== (filed.get(id)?.length ?? 0))
      throw new Violation(`task folder ${id} counts ${count} for ${user.name}`, id);
  }
  for (const { id, folder_id: folder } of tasks.values())
    if (folder !== null && !folders.has(folder))
      throw new Violation(`${user.name}: ${id} is in a folder that the user does not see`, id, folder);
  return folders;
}

/**
 * The part of a task that a device must hold. Titles of references are looked up at each read, without a feed row when they
 * change. Comments are compared by themselves.
 */
const withoutTitles = ({ comments: _comments, ...task }: any): any => ({
  ...task,
  references: task.references?.map((one: any) => ({ ...one, title: null })),
});
/** Filing a task changes the count of its folder without a record of the folder. */
const withoutCount = (folder: any): any => ({ ...folder, task_count: null });
