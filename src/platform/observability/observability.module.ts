import { Global, Module } from '@nestjs/common';
import { DatabaseStorage } from './database-storage.js';
import { Dependencies } from './dependencies.js';
import { HealthController } from './health.controller.js';
import { Lifecycle } from './lifecycle.js';
import { Metrics } from './metrics.js';

@Global()
@Module({
  controllers: [HealthController],
  providers: [Lifecycle, Metrics, Dependencies, DatabaseStorage],
  exports: [Lifecycle, Metrics, Dependencies],
})
export class ObservabilityModule {}
