/** Time of the clock, and processor time of this thread, milliseconds. */
export interface ThreadSample {
  at: number;
  computed: number;
}

export function sampleThread(): ThreadSample {
  const { user, system } = process.threadCpuUsage();
  return { at: performance.now(), computed: (user + system) / 1_000 };
}
