/** The state of a process at one time. */
export interface Sample {
  rssMb: number;
  handles: number;
  connections: number;
}

const MEGABYTE = 1024 * 1024;

/** Reads the metrics of a process. @returns undefined while it does not serve them */
export async function sample(metricsPort: number): Promise<Sample | undefined> {
  const text = await fetch(`http://127.0.0.1:${metricsPort}/metrics`, { signal: AbortSignal.timeout(5_000) })
    .then((response) => response.text())
    .catch(() => undefined);
  if (text === undefined) return undefined;
  const sum = (name: string, labels = ''): number =>
    [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*${labels}[^}]*\\})? (\\S+)$`, 'gm'))].reduce(
      (total, [, value]) => total + Number(value),
      0,
    );
  return {
    rssMb: Math.round(sum('process_resident_memory_bytes') / MEGABYTE),
    handles: sum('process_open_fds'),
    connections: sum('database_pool_connections', 'state="(?:idle|busy)"'),
  };
}

/** Medians of each quarter of the run. */
export function quarters(samples: readonly Sample[]): Sample[] {
  const size = Math.ceil(samples.length / 4);
  return [0, 1, 2, 3].map((n) => {
    const part = samples.slice(n * size, (n + 1) * size);
    const median = (key: keyof Sample): number =>
      part.map((each) => each[key]).toSorted((a, b) => a - b)[Math.floor(part.length / 2)] ?? 0;
    return { rssMb: median('rssMb'), handles: median('handles'), connections: median('connections') };
  });
}
