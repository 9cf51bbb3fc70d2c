import { Global, Module } from '@nestjs/common';
import { GuessLocks } from './guess-locks.js';
import { RateLimits } from './rate-limits.js';

@Global()
@Module({ providers: [RateLimits, GuessLocks], exports: [RateLimits, GuessLocks] })
export class RateLimitsModule {}
