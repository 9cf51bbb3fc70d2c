import { canonical, Violation } from './model.ts';
import type { Rng } from './rng.ts';
import type { User, World } from './world.ts';

const AT_ONCE = 8;

/** All items of a list, in pages of random size. */
export async function pages(world: World, rng: Rng, user: User, path: string, list: string): Promise<any[]> {
  const items: any[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const limit = rng.pick([7, 50, 200]);
    const { body } = await world.call(rng, user, 'GET', `${path}limit=${limit}${query}`, undefined, ['200']);
    items.push(...body[list]);
    cursor = body.next as string | null;
  }
  return items;
}

/**
 * @param part of an item that must be the same
 * @param long a part that the device does not have if its last page was a summary
 */
export function compare(
  what: string,
  device: Map<string, any>,
  expected: Map<string, any>,
  part: (item: any) => any,
  long?: string,
): void {
  for (const [id, item] of expected) {
    const kept = device.get(id);
    if (!kept) throw new Violation(`${what}: lacks ${canonical(item)}`, id);
    const isSummary = long !== undefined && !(long in kept);
    const should = canonical(part(isSummary ? { ...item, [long]: undefined } : item));
    const is = canonical(part(kept));
    if (is !== should) throw new Violation(`${what}: has\n  ${is}\ninstead of\n  ${should}`, id);
  }
  for (const [id, item] of device)
    if (!expected.has(id)) throw new Violation(`${what}: still has ${canonical(item)}`, id);
}

export async function inParallel<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item);
    }),
  );
}
