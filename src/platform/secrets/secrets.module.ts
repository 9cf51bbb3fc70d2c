import { Global, Module } from '@nestjs/common';
import { Keyring } from './keyring.js';
import { Sealer } from './sealer.js';

@Global()
@Module({ providers: [Keyring, Sealer], exports: [Keyring, Sealer] })
export class SecretsModule {}
