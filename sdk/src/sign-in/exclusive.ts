/** The part of the Web Locks API that is used. React Native and Node before 24 lack it. */
interface Locks {
  request<T>(
    name: string,
    options: { ifAvailable?: boolean },
    work: (lock: object | null) => Promise<T>,
  ): Promise<T>;
}

/** @param hasWaited true: other work with the same name ran before it */
type Work<T> = (hasWaited: boolean) => Promise<T>;

/** The last work of each name in this process. */
const queues = new Map<string, Promise<unknown>>();

/** Runs work while no other tab of the origin, or other caller of this process, runs work with the name. */
export async function exclusively<T>(name: string, work: Work<T>): Promise<T> {
  const { locks } = (globalThis.navigator ?? {}) as { locks?: Locks };
  if (!locks) return inThisProcess(name, work);
  const done = await locks.request(name, { ifAvailable: true }, async (lock) =>
    lock ? { result: await work(false) } : undefined,
  );
  return done ? done.result : locks.request(name, {}, () => work(true));
}

function inThisProcess<T>(name: string, work: Work<T>): Promise<T> {
  const previous = queues.get(name);
  const result = previous ? previous.then(() => work(true)) : work(false);
  const end = result.then(
    () => undefined,
    () => undefined,
  );
  queues.set(name, end);
  void end.then(() => queues.get(name) === end && queues.delete(name));
  return result;
}
