import { Global, Module } from '@nestjs/common';
import { PeriodicJobs } from './periodic-jobs.js';

@Global()
@Module({ providers: [PeriodicJobs], exports: [PeriodicJobs] })
export class JobsModule {}
