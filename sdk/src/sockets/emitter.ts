type Listener<Payload> = (payload: Payload) => void;

/** Typed events. @typeParam Events payloads by name */
export class Emitter<Events extends object> {
  private readonly listeners = new Map<keyof Events, Set<Listener<never>>>();

  /** @returns a function that removes the listener */
  on<Name extends keyof Events>(name: Name, listener: Listener<Events[Name]>): () => void {
    const listeners = this.listeners.get(name) ?? new Set<Listener<never>>();
    this.listeners.set(name, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  emit<Name extends keyof Events>(name: Name, payload: Events[Name]): void {
    const listeners = [...(this.listeners.get(name) ?? [])] as Listener<Events[Name]>[];
    for (const listener of listeners) {
      try {
        listener(payload);
      } catch (error) {
        // Reported as an uncaught error. The other listeners, and the delivery of further events, go on.
        setTimeout(() => {
          throw error;
        });
      }
    }
  }
}
