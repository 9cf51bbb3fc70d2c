import type { CollectionName } from '@workspace-backend/client/sync';
import type { Actor } from '../actor.ts';
import { isWritable } from '../protocol/contact-exchange.ts';
import type { Device, SaveResult } from './device.ts';

/** Fields that hold the text of a save. */
interface Kind {
  /** Plain texts; the first one is that of a new object. */
  texts: string[];
  html?: string;
  hasLabels?: true;
  /** Further fields of a new object. */
  more?: object;
  most: number;
}

const KINDS: Partial<Record<CollectionName, Kind>> = {
  notes: { texts: ['title'], html: 'content', hasLabels: true, most: 40 },
  tasks: { texts: ['title'], html: 'description', hasLabels: true, most: 40 },
  note_folders: { texts: ['name'], most: 10 },
  task_folders: { texts: ['name'], most: 8 },
  calendars: { texts: ['name', 'description'], most: 5 },
  events: { texts: ['title', 'location', 'description'], more: { start: '2027-02-03' }, most: 30 },
  contacts: { texts: ['full_name', 'job_title', 'notes'], most: 60 },
};
const OF_KINDS = {
  notes: 6,
  tasks: 6,
  note_folders: 2,
  task_folders: 2,
  calendars: 1,
  events: 4,
  contacts: 4,
};
/** Collections with objects that only the devices of their owner write: in the default calendar and address book, which nobody deletes. */
const PRIVATE = new Set<CollectionName>(['notes', 'tasks', 'events', 'contacts']);
const LABELS = 5;

interface Place {
  name: keyof typeof OF_KINDS;
  scope: string | undefined;
}

/** Objects of a device that it may write, as far as it knows. */
function somePlace({ rng, device }: Actor): Place | undefined {
  const name = rng.weighted(OF_KINDS);
  const scopes =
    name === 'events'
      ? [...device.items('calendars').values()].filter(
          ({ role }) => role !== 'reader' && role !== 'free_busy',
        )
      : name === 'contacts'
        ? [...device.items('addressbooks').values()].filter(isWritable)
        : undefined;
  if (!scopes) return { name, scope: undefined };
  return scopes.length === 0 ? undefined : { name, scope: rng.pick(scopes).id };
}

/** A user saves something on a device, which may be offline. */
export async function saveOnDevice(actor: Actor): Promise<void> {
  const place = somePlace(actor);
  if (!place) return;
  const { rng, device } = actor;
  const items = [...device.items(place.name, place.scope)].filter(
    ([id]) => (actor.world.saves.privates.get(id)?.user ?? actor.user.name) === actor.user.name,
  );
  const isFull = items.length >= KINDS[place.name]!.most;
  const what = rng.weighted({ create: isFull ? 0 : 4, edit: 8, remove: isFull ? 4 : 1, restore: 1 });
  if (what === 'create' || items.length === 0) return create(actor, place);
  const [id, item] = rng.pick(items.slice(-8));
  if (what === 'edit') return item.deleted ? undefined : edit(actor, place, id);
  if (what === 'remove') return item.deleted ? undefined : remove(actor, place, id, item);
  if (item.deleted) await device.save(place.name, place.scope, (collection) => collection.restore(id));
}

async function create(actor: Actor, { name, scope }: Place): Promise<void> {
  const { world, rng, device, user } = actor;
  const { texts, html, hasLabels, more } = KINDS[name]!;
  const { saves } = world;
  const id = rng.uuid();
  const isPrivate = PRIVATE.has(name) && isOwnDefault(actor, name, scope) && rng.chance(0.4);
  const texted: Record<string, string> = {
    [texts[0]!]: saves.unique(),
    ...(html && { [html]: `<p>${saves.unique()}</p>` }),
    ...(isPrivate && !html && { [texts[1]!]: saves.unique() }),
  };
  const folder = isPrivate || !html || rng.chance(0.5) ? undefined : someFolder(actor, name);
  const body = { ...texted, ...more, ...(hasLabels && { labels: [] }), ...(folder && { folder_id: folder }) };
  if (name === 'notes') saves.creating(user.id, id);
  if (isPrivate)
    saves.privates.set(id, {
      name,
      user: user.name,
      fields: new Map(
        Object.entries(texted).map(([field, value]) => [field, { device: device.name, values: [value] }]),
      ),
      labels: [],
      revisions: new Map(),
    });
  const result = await device.save(name, scope, (collection) => collection.create(body as never, id));
  if (result !== 'saved') saves.privates.delete(id);
  record(actor, name, id, texted, result);
}

/** Whether objects stay where they are: scopes other than the default ones are deleted. */
function isOwnDefault({ device }: Actor, name: Place['name'], scope: string | undefined): boolean {
  if (scope === undefined) return true;
  const { is_default: isDefault, role } =
    device.items(name === 'events' ? 'calendars' : 'addressbooks').get(scope) ?? {};
  return isDefault === true && role === 'owner';
}

/** A folder of the user, also one that only the device has. */
function someFolder({ rng, device, user }: Actor, name: CollectionName): string | undefined {
  const folders = [...device.items(name === 'notes' ? 'note_folders' : 'task_folders').values()];
  const own = folders.filter(
    ({ role, owner }) => role === undefined || role === 'owner' || owner?.id === user.id,
  );
  return own.length === 0 ? undefined : rng.pick(own).id;
}

async function edit(actor: Actor, { name, scope }: Place, id: string): Promise<void> {
  const { world, rng, device } = actor;
  const { texts, html, hasLabels } = KINDS[name]!;
  const { saves } = world;
  const known = saves.privates.get(id);
  const isFirst = device.name.endsWith('1');
  // Of a private object, one device writes the first text, the other one the HTML or the second text, and both add labels.
  const field = known
    ? isFirst
      ? texts[0]!
      : (html ?? texts[1]!)
    : rng.pick(html ? [...texts, html] : texts);
  const token = saves.unique();
  const label = hasLabels && rng.chance(0.4) ? saves.unique() : undefined;
  let value = token;
  const result = await device.save(name, scope, async (collection) => {
    const seen: any = await collection.get(id);
    if (!seen) return collection.update(id, {});
    value = field === html ? withParagraph(actor, seen[field], token) : token;
    const labels = label && { labels: [...(known ? seen.labels : seen.labels.slice(-LABELS)), label] };
    // A form that is open for some time: others may change the object meanwhile.
    return collection.update(id, { [field]: value, ...labels } as never, seen);
  });
  if (known && result === 'saved') {
    known.fields.set(field, { device: device.name, values: [value] });
    if (label) known.labels.push({ device: device.name, label });
  } else if (known && result === 'unsure')
    known.fields.set(field, { device: device.name, values: [...known.fields.get(field)!.values, value] });
  record(actor, name, id, { [field]: token, ...(label && { [`label ${label}`]: label }) }, result);
}

/** Half of the changes of a text add a paragraph, the others replace it. */
function withParagraph({ rng }: Actor, before: unknown, token: string): string {
  const kept = typeof before === 'string' && before.length < 300 && rng.chance(0.5) ? before : '';
  return `${kept}<p>${token}</p>`;
}

async function remove(actor: Actor, { name, scope }: Place, id: string, item: any): Promise<void> {
  const { world, device } = actor;
  if (world.saves.privates.has(id) || item.is_default) return;
  if (name === 'contacts') world.contactLedger.mayBeDeleted(scope!, id);
  // A device sends neither an object that was removed before it was sent, nor the last changes of one without a trash.
  let isKept = false;
  const result = await device.save(name, scope, async (collection) => {
    await collection.remove(id);
    isKept = (await collection.get(id)) !== undefined;
  });
  world.log(`${device.name}: removal of ${name} ${id} ${result}`);
  if (result !== 'rejected' && !isKept) world.saves.removed(device.name, name, id);
}

function record(
  { world, device }: Actor,
  name: CollectionName,
  id: string,
  fields: Record<string, string>,
  result: SaveResult,
): void {
  world.log(`${device.name}: ${result} ${name} ${id} ${JSON.stringify(fields)}`);
  const tokens = Object.entries(fields).map(([field, value]) => [field, /w\d+x/.exec(value)![0]]);
  if (result !== 'rejected')
    world.saves.saved(device.name, name, id, Object.fromEntries(tokens), result === 'saved');
}

/** Whether unsent changes of an object are on a device. */
export async function queuedOn(devices: Device[]): Promise<(device: string, id: string) => boolean> {
  const queued = new Set<string>();
  for (const device of devices)
    for (const { id } of await device.pending()) queued.add(`${device.name} ${id}`);
  return (device, id) => queued.has(`${device} ${id}`);
}
