import { Module } from '@nestjs/common';
import { PasswordSignIn } from './password-sign-in.js';
import { SecondFactors } from './second-factors.js';
import { SecondFactorsRepository } from './second-factors.repository.js';

@Module({
  providers: [SecondFactorsRepository, SecondFactors, PasswordSignIn],
  exports: [SecondFactors, PasswordSignIn],
})
export class AccountSecurityModule {}
