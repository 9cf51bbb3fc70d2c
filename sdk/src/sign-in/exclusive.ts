/** The part of the Web Locks API that is used. React Native and Node before 24 lack it. */
interface Locks {
  request<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/** The last work of each name in this process. */
const queues = new Map<string, Promise<unknown>>();

/** Runs work while no other tab of the origin, or other caller of this process, runs work with the name. */
export function exclusively<T>(name: string, work: () => Promise<T>): Promise<T> {
  const { locks } = (globalThis.navigator ?? {}) as { locks?: Locks };
  return locks ? locks.request(name, work) : inThisProcess(name, work);
}

function inThisProcess<T>(name: string, work: () => Promise<T>): Promise<T> {
  const previous = queues.get(name) ?? Promise.resolve();
  const result = previous.then(work);
  const end = result.then(
    () => undefined,
    () => undefined,
  );
  queues.set(name, end);
  void end.then(() => queues.get(name) === end && queues.delete(name));
  return result;
}
