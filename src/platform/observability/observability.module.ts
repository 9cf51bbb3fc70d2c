import { Global, Module } from '@nestjs/common';
import { DatabaseStorage } from './database-storage.js';
import { Dependencies } from './dependencies.js';
import { HealthController } from './health.controller.js';
import { Lifecycle } from './lifecycle.js';
import { MetricsModule } from './metrics.module.js';

@Global()
@Module({
  imports: [MetricsModule],
  controllers: [HealthController],
  providers: [Lifecycle, Dependencies, DatabaseStorage],
  exports: [Lifecycle, Dependencies],
})
export class ObservabilityModule {}
