import { Global, Module } from '@nestjs/common';
import { Keyring } from './keyring.js';

@Global()
@Module({ providers: [Keyring], exports: [Keyring] })
export class SecretsModule {}
