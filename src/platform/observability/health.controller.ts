import { Controller, Logger } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Public } from '../context/access.decorators.js';
import { Db } from '../database/db.js';
import { either } from '../database/statement.js';
import { defineError, Errors } from '../http/errors.js';
import { Endpoint } from '../http/endpoint.js';
import { Dependencies } from './dependencies.js';
import { HealthResponse, ReadinessResponse } from './health.response.js';
import { Lifecycle } from './lifecycle.js';

const NOT_READY = defineError(
  503,
  'not_ready',
  'The process is starting, draining, or without a database that accepts writes.',
);

const writable = either.statement<{ writable: boolean }>(
  'health.writable',
  `SELECT NOT current_setting('transaction_read_only')::bool AS writable`,
);
const TIMEOUT_MS = 2_000;

@ApiTags('health')
@Controller('health')
export class HealthController {
  private readonly logger = new Logger('Health');

  constructor(
    private readonly lifecycle: Lifecycle,
    private readonly db: Db,
    private readonly dependencies: Dependencies,
  ) {}

  @Endpoint('GET live', {
    id: 'healthLive',
    summary: 'Liveness',
    description: 'Restart the process when this does not respond.',
    response: [HealthResponse, 'The process is alive.'],
    errors: [Errors.badRequest],
  })
  @Public()
  checkLive(): HealthResponse {
    return { status: 'ok' };
  }

  @Endpoint('GET ready', {
    id: 'healthReady',
    summary: 'Readiness',
    description: 'Send traffic only when this returns 200. Also reports the state of the other services.',
    response: [ReadinessResponse, 'The process accepts traffic.'],
    errors: [Errors.badRequest, NOT_READY],
  })
  @Public()
  async checkReady(): Promise<ReadinessResponse> {
    if (this.lifecycle.current !== 'serving' || !(await this.databaseAcceptsWrites()))
      throw NOT_READY.with({ headers: { 'Retry-After': '1' } });
    const { blob_store = 'unavailable', database_storage = 'unavailable' } = await this.dependencies.states();
    return { status: 'ok', blob_store, database_storage };
  }

  private async databaseAcceptsWrites(): Promise<boolean> {
    const timeout = new Promise<never>((_resolve, reject) => {
      setTimeout(() => reject(new Error(`no response within ${TIMEOUT_MS} ms`)), TIMEOUT_MS).unref();
    });
    try {
      const [state] = await Promise.race([this.db.queryAlways(writable, []), timeout]);
      if (state?.writable) return true;
      this.logger.error('the database accepts no writes: its server is a replica or read-only');
      return false;
    } catch (error) {
      this.logger.error({ err: error }, 'the readiness probe got no response from the database');
      return false;
    }
  }
}
