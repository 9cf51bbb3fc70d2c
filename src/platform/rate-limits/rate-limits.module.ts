import { Global, Module } from '@nestjs/common';
import { GuessLocks } from './guess-locks.js';
import { RateLimits } from './rate-limits.js';
import { RequestLimiter } from './request-limiter.js';

@Global()
@Module({
  providers: [RateLimits, RequestLimiter, GuessLocks],
  exports: [RateLimits, RequestLimiter, GuessLocks],
})
export class RateLimitsModule {}
