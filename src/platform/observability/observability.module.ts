import { Global, Module } from '@nestjs/common';
import { HealthController } from './health.controller.js';
import { Lifecycle } from './lifecycle.js';
import { Metrics } from './metrics.js';

@Global()
@Module({ controllers: [HealthController], providers: [Lifecycle, Metrics], exports: [Lifecycle, Metrics] })
export class ObservabilityModule {}
