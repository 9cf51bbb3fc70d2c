/** Receivers that respond quickly, and those that fail or take long, so that these do not delay the others. */
export const LANES = ['fast', 'slow'] as const;
export type Lane = (typeof LANES)[number];

/** Queues of a process at the same time: in all, of one workspace, and of one workspace in one claim. */
export const LIMITS = {
  fast: { all: 512, ofTenant: 128, ofClaim: 64 },
  slow: { all: 512, ofTenant: 32, ofClaim: 8 },
} as const;

/** What the runs of both lanes take, because those of the fast one move: a process and a workspace with more get no further ones. */
const BOTH = {
  /** Runs that hang have a socket each. */
  runsOfTenant: 384,
  /** Characters of contents in memory. */
  length: 64 * 1024 * 1024,
  lengthOfTenant: 16 * 1024 * 1024,
} as const;

interface Placed {
  lane: Lane;
  run: { readonly queue: { readonly tenant_id: string }; readonly length: number };
}

/** The places that a lane has left, and the workspaces that have their share. */
export function placesOf(running: ReadonlySet<Placed>, lane: Lane): { left: number; busy: Set<string> } {
  const { all, ofTenant } = LIMITS[lane];
  const busy = new Set<string>();
  let left: number = all;
  let total = 0;
  for (const [tenant, runs] of Map.groupBy(running, ({ run }) => run.queue.tenant_id)) {
    const own = runs.filter((each) => each.lane === lane).length;
    const length = runs.reduce((sum, { run }) => sum + run.length, 0);
    if (own >= ofTenant || runs.length >= BOTH.runsOfTenant || length >= BOTH.lengthOfTenant)
      busy.add(tenant);
    left -= own;
    total += length;
  }
  return { left: total >= BOTH.length ? 0 : left, busy };
}
