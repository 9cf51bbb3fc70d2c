import { Injectable, Logger } from '@nestjs/common';

export type DependencyState = 'ok' | 'unavailable';

interface Dependency {
  check: () => Promise<void>;
  state: DependencyState;
  checkedAt: number;
  pending?: Promise<void>;
}

/** A probe every second must not become a request to each service every second. */
const FRESH_MS = 5_000;
const PATIENCE_MS = 2_000;

/** Services without which some requests fail and others do not: named by the readiness probe, which stays green. */
@Injectable()
export class Dependencies {
  private readonly logger = new Logger(Dependencies.name);
  private readonly known = new Map<string, Dependency>();

  /**
   * @param name as the probe shows it
   * @param check rejects when the service cannot be used
   */
  register(name: string, check: () => Promise<void>): void {
    this.known.set(name, { check, state: 'ok', checkedAt: -Infinity });
  }

  /** The state of each, at most a few seconds old; takes two seconds at most. */
  async states(): Promise<Record<string, DependencyState>> {
    const entries = [...this.known].map(
      async ([name, dependency]) => [name, await this.stateOf(name, dependency)] as const,
    );
    return Object.fromEntries(await Promise.all(entries));
  }

  private async stateOf(name: string, dependency: Dependency): Promise<DependencyState> {
    if (performance.now() - dependency.checkedAt < FRESH_MS) return dependency.state;
    dependency.pending ??= this.examine(name, dependency).finally(() => delete dependency.pending);
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<DependencyState>((resolve) => {
      timer = setTimeout(() => resolve('unavailable'), PATIENCE_MS);
    });
    const state = await Promise.race([dependency.pending.then(() => dependency.state), patience]);
    clearTimeout(timer);
    return state;
  }

  private async examine(name: string, dependency: Dependency): Promise<void> {
    const before = dependency.state;
    try {
      await dependency.check();
      dependency.state = 'ok';
    } catch (error) {
      dependency.state = 'unavailable';
      if (before === 'ok')
        this.logger.error({ err: (error as Error).cause ?? error }, `${name} is unavailable`);
    }
    dependency.checkedAt = performance.now();
  }
}
