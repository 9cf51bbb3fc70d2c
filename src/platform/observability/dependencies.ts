import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { isStorageFull } from '../database/database-errors.js';
import { Db } from '../database/db.js';
import { either } from '../database/statement.js';

type DependencyState = 'ok' | 'full' | 'unavailable';

/** Rejects when the service cannot be used. `state` is the result of the last check or report. */
type Check = (state: DependencyState) => Promise<void>;

interface Dependency {
  check: Check;
  state: DependencyState;
  checkedAt: number;
  pending?: Promise<void>;
}

/** Age up to which a state is reused, so that frequent probes do not cause a request to each service every time. */
const FRESH_MS = 5_000;
const TIMEOUT_MS = 2_000;

/** Services that only some requests need. The readiness probe names their states and succeeds without them. */
@Injectable()
export class Dependencies {
  private readonly logger = new Logger(Dependencies.name);
  private readonly known = new Map<string, Dependency>();

  /** @param name the field of the readiness response */
  register(name: string, check: Check): void {
    this.known.set(name, { check, state: 'ok', checkedAt: -Infinity });
  }

  /** Sets the state after a failed request. The next check comes `FRESH_MS` later. */
  reportFull(name: string): void {
    const dependency = this.known.get(name);
    if (!dependency) return;
    dependency.state = 'full';
    dependency.checkedAt = performance.now();
  }

  /** The state of each dependency, at most `FRESH_MS` old. Resolves within `TIMEOUT_MS`. */
  async states(): Promise<Record<string, DependencyState>> {
    const entries = [...this.known].map(
      async ([name, dependency]) => [name, await this.stateOf(name, dependency)] as const,
    );
    return Object.fromEntries(await Promise.all(entries));
  }

  private async stateOf(name: string, dependency: Dependency): Promise<DependencyState> {
    if (performance.now() - dependency.checkedAt < FRESH_MS) return dependency.state;
    dependency.pending ??= this.examine(name, dependency).finally(() => delete dependency.pending);
    const late = delay(TIMEOUT_MS, 'unavailable' as const, { ref: false });
    return Promise.race([dependency.pending.then(() => dependency.state), late]);
  }

  private async examine(name: string, dependency: Dependency): Promise<void> {
    const before = dependency.state;
    try {
      await dependency.check(before);
      dependency.state = 'ok';
    } catch (error) {
      dependency.state = isStorageFull(error) ? 'full' : 'unavailable';
      if (before === 'ok')
        this.logger.error({ err: (error as Error).cause ?? error }, `${name} is ${dependency.state}`);
    }
    dependency.checkedAt = performance.now();
  }
}

/** The name of the dependency. */
export const DATABASE_STORAGE = 'database_storage';

/** Allocates about 2 MiB on the disk of the database. The table lives only as long as the statement. */
const allocate = either.statement<never>(
  'health.allocate',
  `CREATE TEMPORARY TABLE storage_probe ON COMMIT DROP AS
     SELECT repeat(md5(n::text), 200) AS filler FROM generate_series(1, 1000) AS n`,
);

/** Reports a full disk of the database as a dependency. While it is full, each check tries to allocate space. */
@Injectable()
export class DatabaseStorage implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly dependencies: Dependencies,
  ) {}

  onModuleInit(): void {
    this.dependencies.register(DATABASE_STORAGE, async (state) => {
      if (state === 'full') await this.db.query(allocate, []);
    });
  }
}
