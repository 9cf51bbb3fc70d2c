import { Global, Module } from '@nestjs/common';
import { MetricsModule } from '../observability/metrics.module.js';
import { JobMetrics } from './job-metrics.js';
import { PeriodicJobs } from './periodic-jobs.js';

@Global()
@Module({ imports: [MetricsModule], providers: [JobMetrics, PeriodicJobs], exports: [PeriodicJobs] })
export class JobsModule {}
