import { setTimeout as delay } from 'node:timers/promises';
import { Performer } from './actors.ts';
import { DavDevice } from './dav/dav-device.ts';
import { Device } from './library/device.ts';
import { Violation } from './model.ts';
import { Reader } from './protocol/reader.ts';
import { checkDevices } from './verdict.ts';
import { type Site, World } from './world.ts';

export interface Plan {
  seed: string;
  /** The number of concurrent actions. */
  performers: number;
  /** The maximum; rounds have different lengths. */
  actionsPerRound: number;
  /** Called after each round. @param rounds number of completed rounds */
  goOn(rounds: number): boolean;
  /** Kill servers at random, if the site supports it. */
  crashes?: boolean;
  /** Move the workspace to another database in each round, if the site supports it. */
  moves?: boolean;
  progress?: (line: string) => void;
}

export interface Outcome {
  rounds: number;
  counts: Record<string, number>;
  /** The violation, with the seed and the end of the trace. */
  failure?: string;
}

const QUIET_SECONDS = 60;
/** A run without a response to any client for so long has stopped. How long a run takes depends on the machine. */
const STALLED_MINUTES = 5;
/** Limit of a test that runs the fuzzer, milliseconds: a run that stops ends before. */
export const LIMIT_MS = 3_600_000;

/**
 * A model-based test of synchronisation: users write, share and file notes at the same time, their devices follow by
 * change feeds and index walks, and after each round devices and database must agree. The seed decides every choice of
 * every actor, but not the order in which the server processes concurrent requests.
 */
export async function fuzz(site: Site, plan: Plan): Promise<Outcome> {
  const world = new World(site, plan.seed);
  const rng = world.rng('rounds');
  const devices: Device[] = [];
  const readers = site.users.map((user) => new Reader(world, user));
  const programs = site.users.slice(0, 1).map((user) => new DavDevice(world, user));
  const performers = Array.from(
    { length: plan.performers },
    (_, n) => new Performer(world, devices, readers, n, plan.performers),
  );
  let rounds = 0;
  try {
    for (const user of site.users)
      for (const number of [1, 2]) devices.push(await Device.open(world, user, number));
    for (let last = false; !last && !world.failed;) {
      last = !plan.goOn(rounds + 1);
      const crash = plan.crashes && site.crash && rng.chance(0.4) ? rng.int(0, site.bases.length - 1) : null;
      const actions = Math.ceil(plan.actionsPerRound * rng.pick([0.1, 0.4, 1]));
      const choices = { last, crash, move: plan.moves === true };
      await whileAnswered(world, round(world, { devices, readers, programs, performers }, actions, choices));
      rounds += 1;
      plan.progress?.(progress(world, rounds));
    }
  } catch (error) {
    world.fail(error);
  } finally {
    await Promise.all(devices.map((device) => device.close()));
    await world.close();
  }
  const counts = Object.fromEntries(world.counts);
  return world.failed ? { rounds, counts, failure: report(world, rounds) } : { rounds, counts };
}

interface Actors {
  devices: Device[];
  readers: Reader[];
  programs: DavDevice[];
  performers: Performer[];
}

async function round(
  world: World,
  { devices, readers, programs, performers }: Actors,
  actions: number,
  { last, crash, move }: { last: boolean; crash: number | null; move: boolean },
): Promise<void> {
  world.log('--- round');
  for (const device of devices) device.beginRound(last);
  const online = devices.filter((device) => device.offline === 0);
  let left = actions;
  let acting = true;
  let moved = !move;
  const takeOne = (): boolean => !world.failed && (left-- > 0 || !moved);
  const guarded = (work: Promise<void>): Promise<void> => work.catch((error: unknown) => world.fail(error));
  const living = [...online, ...readers, ...programs].map((client) =>
    guarded(client.live(() => !acting || world.failed)),
  );
  const crashing = crash === null ? undefined : guarded(crashMidway(world, crash, () => left < actions / 2));
  const moving = move
    ? guarded(moveMidway(world, () => left < (actions * 3) / 4)).finally(() => (moved = true))
    : undefined;
  await Promise.all(performers.map((performer) => guarded(performer.perform(takeOne))));
  await Promise.all([crashing, moving]);
  for (const reader of readers) reader.pollContinuously();
  await Promise.all(performers.map((performer) => guarded(performer.finish())));
  acting = false;
  await Promise.all(living);
  if (world.failed) return;
  await quiet(world);
  await checkEvents(world);
  await world.site.purgeTrash();
  await Promise.all(online.map((device) => device.push()));
  await Promise.all(devices.map((device) => device.drain()));
  await Promise.all([...online, ...readers, ...programs].map((client) => client.settle()));
  await checkDevices(world, devices, readers, world.rng(`verdict ${world.counts.get('actions')}`));
  await Promise.all(programs.map((program) => program.check()));
  await recallNotes(world);
  await recallTasks(world);
}

/** @throws Violation when clients get no responses any more before the work ends */
async function whileAnswered(world: World, work: Promise<void>): Promise<void> {
  let [before, minutes] = [-1, 0];
  let timer: NodeJS.Timeout | undefined;
  const stalled = new Promise<never>((_resolve, reject) => {
    timer = setInterval(() => {
      minutes = world.answered === before ? minutes + 1 : 0;
      before = world.answered;
      if (minutes >= STALLED_MINUTES) reject(new Violation(`no response for ${minutes} minutes`));
    }, 60_000);
  });
  try {
    await Promise.race([work, stalled]);
  } finally {
    clearInterval(timer);
  }
}

async function crashMidway(world: World, index: number, now: () => boolean): Promise<void> {
  while (!now() && !world.failed) await delay(20);
  world.log(`crash of server ${index}`);
  world.count('crashes');
  await world.crash(index);
}

async function moveMidway(world: World, now: () => boolean): Promise<void> {
  while (!now() && !world.failed) await delay(5);
  world.log('the workspace moves');
  await world.move();
  world.log('the workspace has moved');
  world.count('moves');
}

/** Waits until no statement of a killed server is running. */
async function quiet(world: World): Promise<void> {
  for (const deadline = Date.now() + QUIET_SECONDS * 1000; ;) {
    const busy = await world.sql<{ query: string }>(
      `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
          AND state IN ('active', 'idle in transaction') AND backend_type = 'client backend' AND query ~* 'note|task|sync|calendar|event|contact|addressbook'`,
    );
    if (busy.length === 0 && !world.disturbed) return;
    if (Date.now() > deadline)
      throw new Violation(`a statement still runs after the round: ${busy[0]?.query}`);
    await delay(50);
  }
}

/** A crash or a move may fail an event once or twice. */
async function checkEvents(world: World): Promise<void> {
  const [failed] = await world.sql<{ type: string; last_error: string }>(
    'SELECT type, last_error FROM outbox WHERE attempts > 3 AND last_error IS NOT NULL LIMIT 1',
  );
  if (failed) throw new Violation(`the event ${failed.type} fails again and again: ${failed.last_error}`);
}

/** Updates the ids that the actors know: notes are also deleted with folders and by jobs. */
async function recallNotes(world: World): Promise<void> {
  const tenant = [world.site.users[0]?.tenantId];
  const rows = await world.sql<{ id: string; owner_id: string; share_token: string | null }>(
    'SELECT id, owner_id, share_token FROM notes WHERE tenant_id = $1 ORDER BY created_at, id',
    tenant,
  );
  const stored = new Set(rows.map((row) => row.id));
  for (const { id } of world.notes) if (!stored.has(id)) world.purged.push(id);
  const users = new Map(world.site.users.map((user) => [user.id, user]));
  world.notes.length = 0;
  // Some notes are unknown, because the response to their creation was lost in a crash.
  for (const { id, owner_id: owner } of rows)
    if (!world.access.mayHaveHadAccess(id, owner)) world.access.grant(id, [owner])(false);
  for (const { id, owner_id: owner, share_token: token } of rows)
    if (!world.saves.privates.has(id)) world.notes.push({ id, owner: users.get(owner)!, token });
  const folders = await world.sql<{ id: string; owner_id: string }>(
    'SELECT id, owner_id FROM note_folders WHERE tenant_id = $1 AND gone_at IS NULL ORDER BY seq',
    tenant,
  );
  for (const user of world.site.users)
    world.folders.set(
      user.id,
      folders.filter((folder) => folder.owner_id === user.id).map((folder) => folder.id),
    );
}

async function recallTasks(world: World): Promise<void> {
  const tenant = [world.site.users[0]?.tenantId];
  const users = new Map(world.site.users.map((user) => [user.id, user]));
  const tasks = await world.sql<{ id: string; creator_id: string }>(
    'SELECT id, creator_id FROM tasks WHERE tenant_id = $1 ORDER BY created_at, id',
    tenant,
  );
  const stored = new Set(tasks.map((task) => task.id));
  for (const { id } of world.tasks) if (!stored.has(id)) world.purgedTasks.push(id);
  world.tasks.length = 0;
  for (const { id, creator_id: creator } of tasks)
    if (!world.saves.privates.has(id)) world.tasks.push({ id, creator: users.get(creator)! });
  const folders = await world.sql<{ id: string; owner_id: string }>(
    'SELECT id, owner_id FROM task_folders WHERE tenant_id = $1 AND gone_at IS NULL ORDER BY id',
    tenant,
  );
  for (const { id: user } of world.site.users)
    world.taskFolders.set(
      user,
      folders.filter((folder) => folder.owner_id === user).map((folder) => folder.id),
    );
}

function progress(world: World, rounds: number): string {
  const { counts } = world;
  const of = (name: string): number => counts.get(name) ?? 0;
  const statuses = [...counts].filter(([name]) => name.startsWith('status ')).sort();
  return [
    `round ${rounds}: ${of('actions')} actions`,
    statuses.map(([name, count]) => `${name.slice(7)}×${count}`).join(' '),
    `${of('changes pages')} pages of changes, ${of('index pages')} of indexes in ${of('walks')} walks`,
    `${of('410s')} times 410, ${of('removals')} removals, ${of('crashes')} crashes`,
    `${of('saves')} saves on devices, ${of('saves sent again')} writes sent again, ${of('library crashes')} crashes of devices, ${faults(counts)} faults`,
    `${of('records compared')} records and ${of('revisions compared')} revisions compared, ${world.notes.length} notes and ${world.tasks.length} tasks now`,
  ].join('; ');
}

const faults = (counts: ReadonlyMap<string, number>): number =>
  [...counts].reduce((sum, [name, count]) => sum + (name.startsWith('fault ') ? count : 0), 0);

function report(world: World, rounds: number): string {
  const { failure, trace, seed } = world;
  const about = failure instanceof Violation ? failure.about : [];
  const concerned = trace.filter((line) => about.some((id) => line.includes(id)));
  return [
    `seed ${seed}, round ${rounds + 1}, after ${world.counts.get('actions')} actions:`,
    failure instanceof Violation ? failure.message : String((failure as Error)?.stack ?? failure),
    ...(concerned.length > 0 ? ['', 'What concerned it, last:', ...concerned.slice(-60)] : []),
    '',
    'Last of all:',
    ...trace.slice(-25),
  ].join('\n');
}
