/** The part of the Web Locks API that is used. */
interface Locks {
  request(name: string, options: { signal: AbortSignal }, work: () => Promise<void>): Promise<void>;
}

const locksOf = (): Locks | undefined => ((globalThis.navigator ?? {}) as { locks?: Locks }).locks;

/**
 * Two leaders would take the copies of each other for changes of others.
 * @throws Error if the tabs of a store cannot elect one
 */
export function checkLeadership(name: string | undefined): void {
  if (name === undefined || locksOf()) return;
  throw new Error(
    'Tabs cannot share the store without Web Locks, which browsers have on pages with HTTPS only.',
  );
}

/**
 * Runs work while no other user of the store runs it. Without a name there is no other one. The browser gives the lock to the next tab when
 * this one ends, also by a crash.
 * @param signal ends the wait for the lock; the work ends by it itself
 */
export async function lead(
  name: string | undefined,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  const locks = locksOf();
  if (name === undefined || !locks) return work();
  try {
    await locks.request(`workspace-sync ${name}`, { signal }, work);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
